"""Small designs for the engines' tests, generated once per session, and which engine is tried on which."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.geometry.shape import Pairing

HEAD_DIM = 16


def make_geometry(
    rotary_dim: int, rotary_start: int, limits: tuple[int, int], *, head_dim: int = HEAD_DIM,
    heads: tuple[int, int] = (2, 1), pairing: Pairing = "interleaved", output_pairing: Pairing | None = None,
) -> RotaryGeometry:  # fmt: skip
    def variant(name: str, base: float, amplitude: float, limit: int) -> Variant:
        frequencies = tuple(base ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2))
        return Variant(name=name, inverse_frequency=frequencies, amplitude=amplitude, max_position=limit)

    return RotaryGeometry(
        model_type="test", head_dim=head_dim, rotary_dim=rotary_dim, rotary_start=rotary_start, query_heads=heads[0],
        key_heads=heads[1], pairing=pairing, output_pairing=output_pairing or pairing, layers=None,
        variants=(variant("plain", 1e4, 1.0, limits[0]), variant("loud", 1e6, 1.3466, limits[1])),
    )  # fmt: skip


WHOLE, LONG, SHORT = (HEAD_DIM, 0), (60, 2**24), (60, 50)
DESIGNS = {
    "one-lane": Design(geometry=make_geometry(*WHOLE, LONG), lanes=1, slots=2),
    "two-lanes-partial": Design(geometry=make_geometry(8, 4, LONG), lanes=2, data_width=12, value_heads=1),
    "four-lanes": Design(geometry=make_geometry(*WHOLE, LONG), lanes=4),
    "no-registers": Design(geometry=make_geometry(8, 4, LONG), lanes=2, value_heads=1, registers=False),
    "table": Design(geometry=make_geometry(*WHOLE, SHORT), lanes=2, source="table"),
    "table-four-lanes": Design(
        geometry=make_geometry(6, 2, SHORT), lanes=4, data_width=8, coefficient_width=12, source="table", value_heads=1
    ),
    "half": Design(geometry=make_geometry(*WHOLE, LONG, pairing="half"), lanes=2),
    # The slice starts and ends in mid-beat: both buffers, and the chunks left over at its ends.
    "half-odd-values": Design(geometry=make_geometry(8, 6, LONG, pairing="half"), lanes=2, value_heads=1),
    "interleaved-to-half": Design(
        geometry=make_geometry(8, 0, LONG, output_pairing="half"), lanes=4, value_heads=1, data_width=12
    ),
    "half-to-interleaved": Design(
        geometry=make_geometry(8, 8, LONG, pairing="half"), lanes=2, output_pairing="interleaved"
    ),
    "two-clocks-half": Design(
        geometry=make_geometry(8, 6, LONG, pairing="half"), lanes=1, clocks_per_pair=2, value_heads=1
    ),
    "eight-clocks": Design(
        geometry=make_geometry(*WHOLE, LONG, heads=(3, 1)), lanes=1, coefficient_width=16, clocks_per_pair=8, slots=3
    ),
    "paired": Design(geometry=make_geometry(8, 8, LONG), lanes=2, input_pairing="paired", value_heads=1),
}

# Each run under cocotb takes two seconds to begin, and a build with Verilator for it ten: they get what differs most.
RUNS = [
    *(("amaranth", design) for design in DESIGNS),
    *(("verilator", design) for design in DESIGNS),
    *(
        ("icarus", design)
        for design in (
            "one-lane",
            "no-registers",
            "table-four-lanes",
            "half-odd-values",
            "interleaved-to-half",
            "eight-clocks",
            "paired",
        )
    ),
    ("cocotb-verilator", "four-lanes"),
]


@pytest.fixture(scope="session")
def design_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a design by its name in ``DESIGNS``."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "design"
            write_design_folder(DESIGNS[name], made[name])
        return made[name]

    return folder


@pytest.fixture(params=RUNS, ids=["-on-".join(run) for run in RUNS])
def run(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The names of an engine and of a design it is tried on."""
    return request.param
