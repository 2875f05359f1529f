"""The rows of the area benchmark: part x configuration. The first to be measured are those of the README's table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from ropewalk.design import POSITION_BITS, Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.any_design import AnyDesign
from ropewalk.designs.learned import learned_design
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.family import Family, default_coefficient_width
from ropewalk.geometry import only_rotary
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk.geometry.sinusoidal import SinusoidalGeometry
from ropewalk.models import read_model
from ropewalk.tables.learned import Words

ECP5, SMALLER_ECP5, ICE40 = "LFE5U-85F-6", "LFE5U-25F-6", "ICE40UP5K-SG48"
GOWIN_9, GOWIN_18 = "GW1NR-LV9QN88PC6/I5", "GW2A-LV18PG256C8/I7"
XILINX = "XC7A100T"

FAMILY: dict[str, Family] = {
    ECP5: "ecp5", SMALLER_ECP5: "ecp5", ICE40: "ice40", GOWIN_9: "gowin", GOWIN_18: "gowin", XILINX: "xilinx",
}  # fmt: skip

LANES, ENGINES, UNITS = "rotator lanes", "rotary engines", "other units"
GROUPS = (LANES, ENGINES, UNITS)

ALL_POSITIONS = 1 << POSITION_BITS
TABLE_POSITIONS = 256


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: a design, or a component of it alone, on a part.

    Parameters
    ----------
    part, name, group
        Where it is built, what it is, and the table that it stands in.
    make
        Gives its design, and the words of its table where it has one; raises ``InputError`` where there is no such.
    component
        What is measured of the design; ``None``: all of it.
    opening
        Whether it stands in the README's table.
    """

    part: str
    name: str
    group: str
    make: Callable[[], tuple[AnyDesign, Words | None]]
    component: str | None = None
    opening: bool = False

    @property
    def key(self) -> str:
        """What tells it from every other row, and what words choose it by."""
        return f"{self.part}: {self.name}"


def heads_of(head_dim: int) -> RotaryGeometry:
    """A published model's heads, all of each rotated: of 128 elements Llama 3.1 8B's, 256 Gemma 3's, 512 Gemma 4's."""
    if head_dim == 512:
        return only_rotary(read_model("gemma-4")).only("full_attention")
    return only_rotary(read_model({128: "llama-3.1-8b", 256: "gemma-3-270m"}[head_dim]))


def rotary(
    part: str,
    *,
    lanes: int = 4,
    bits: int = 16,
    heads: int = 256,
    pairing: str = "interleaved",
    source: str = "synth",
    positions: int = ALL_POSITIONS,
    opening: bool = False,
    words: str = "",
    **options: Any,
) -> Row:
    """A whole rotary engine with its ports and registers; ``words`` stand at the end of its name."""
    if source == "table":
        heads, positions = 128, TABLE_POSITIONS
    family = FAMILY[part]
    options.setdefault("coefficient_width", default_coefficient_width(family))

    def make() -> tuple[Design, None]:
        design = Design(
            geometry=heads_of(heads),
            lanes=lanes,
            data_width=bits,
            source=source,  # type: ignore[arg-type]
            positions=positions,
            input_pairing=pairing,  # type: ignore[arg-type]
            output_pairing=pairing,  # type: ignore[arg-type]
            family=family,
            **options,
        )
        return design, None

    orders = "both pairings" if pairing == "both" else pairing
    name = (
        f"engine, {lanes} lane{'s' * (lanes > 1)}, {bits}-bit, {source}, {orders}, heads of {heads}, "
        f"{positions:,} positions{words}"
    )
    return Row(part=part, name=name, group=ENGINES, make=make, opening=opening)


def lane(
    part: str,
    *,
    bits: int = 16,
    coefficient: int | None = None,
    luts: bool = False,
    streams: bool = True,
    opening: bool = False,
) -> Row:
    """One lane of the rotator, between two streams or without their valid, ready and queue."""
    family = FAMILY[part]
    width = default_coefficient_width(family) if coefficient is None else coefficient

    def make() -> tuple[Design, None]:
        design = Design(
            geometry=heads_of(256),
            lanes=1,
            data_width=bits,
            coefficient_width=width,
            positions=ALL_POSITIONS,
            input_pairing="interleaved",
            output_pairing="interleaved",
            lane_multipliers="luts" if luts else "dsp",
            family=family,
        )
        return design, None

    alone = "" if streams else ", no valid and ready"
    name = f"lane, {bits}-bit data, {width}-bit coefficients{', without multipliers' if luts else ''}{alone}"
    component = "rotator" if streams else "lane"
    return Row(part=part, name=name, group=LANES, make=make, component=component, opening=opening)


def alibi(*, registers: bool) -> Row:
    """4 lanes, 16-bit scores, 32 heads in a table of 256, all modes; without registers the mode is an input."""

    def make() -> tuple[AlibiDesign, None]:
        geometry = AlibiGeometry(model_type="bench", heads=32, slopes=alibi_slopes(32), mode="relative")
        return AlibiDesign(geometry=geometry, registers=registers, family="ecp5"), None

    name = f"ALiBi, 4 lanes, 16-bit, 32 heads{'' if registers else ', no registers'}"
    return Row(
        part=ECP5, name=name, group=UNITS, make=make, component=None if registers else "engine", opening=not registers
    )


def learned(storage: str, *, opening: bool = False) -> Row:
    """A table of the size of all-MiniLM-L6-v2's; what it holds changes no area."""

    def make() -> tuple[AnyDesign, Words]:
        geometry = LearnedGeometry(
            model_type="bench", rows=512, row_offset=0, dimension=384, mask="ignored", masked_row=None
        )
        entries = np.random.default_rng(1).normal(size=(512, 384))
        return learned_design(geometry, entries, storage=storage, family="ecp5")

    where = "in block RAM" if storage == "block-ram" else "outside"
    name = f"learned, 4 lanes, 16-bit, 512 x 384, {where}"
    return Row(part=ECP5, name=name, group=UNITS, make=make, opening=opening)


def sinusoidal(layout: str, generators: int, *, opening: bool = False) -> Row:
    """A row of 512 elements."""

    def make() -> tuple[SinusoidalDesign, None]:
        geometry = read_model("transformer-base" if layout == "interleaved" else "tensor2tensor-base")
        if not isinstance(geometry, SinusoidalGeometry) or geometry.layout != layout:
            raise RuntimeError(f"there is no preset of layout {layout}")
        return SinusoidalDesign(geometry=geometry, generators=generators, family="ecp5"), None

    name = f"sinusoidal, 4 lanes, 16-bit, 512 elements, {layout}, {generators} generator{'s' * (generators > 1)}"
    return Row(part=ECP5, name=name, group=UNITS, make=make, opening=opening)


ROWS: tuple[Row, ...] = (
    lane(ECP5, opening=True),
    lane(ECP5, bits=8, opening=True),
    lane(ECP5, bits=8, luts=True, opening=True),
    lane(ECP5, bits=16, luts=True, opening=True),
    rotary(ECP5, opening=True),
    rotary(ECP5, pairing="both", opening=True),
    rotary(ECP5, lanes=1, opening=True),
    rotary(ECP5, lanes=8, opening=True),
    rotary(ECP5, bits=8, opening=True),
    rotary(ECP5, source="table", opening=True),
    alibi(registers=False),
    learned("block-ram", opening=True),
    sinusoidal("interleaved", 1, opening=True),
    lane(ICE40, opening=True),
    lane(GOWIN_18, opening=True),
    # Here the README's table ends.
    rotary(ECP5, heads=512),
    rotary(ECP5, heads=512, pairing="both"),
    rotary(ECP5, positions=4096),
    rotary(SMALLER_ECP5),
    rotary(ECP5, lanes=1, bits=8),
    rotary(ECP5, lanes=8, bits=8),
    rotary(ECP5, lanes=1, source="table"),
    rotary(ECP5, lanes=8, source="table"),
    rotary(ECP5, lanes=1, bits=8, source="table"),
    rotary(ECP5, lanes=4, bits=8, source="table"),
    rotary(ECP5, lanes=8, bits=8, source="table"),
    rotary(ECP5, bits=8, lane_multipliers="luts", words=", lanes without multipliers"),
    rotary(
        ICE40, lanes=1, heads=128, registers=False, slots=1, clocks_per_pair=8,
        words=", 1 slot, no registers, 8 clocks per pair",
    ),
    rotary(GOWIN_18, lanes=1),
    rotary(XILINX),
    lane(ECP5, bits=8, coefficient=12),
    lane(ECP5, bits=8, coefficient=12, luts=True),
    lane(ECP5, streams=False),
    lane(ECP5, bits=8, streams=False),
    lane(ECP5, bits=8, luts=True, streams=False),
    lane(ICE40, bits=8),
    lane(GOWIN_9),
    lane(XILINX),
    alibi(registers=True),
    learned("external"),
    sinusoidal("interleaved", 2),
    sinusoidal("half", 1),
    sinusoidal("half", 2),
)  # fmt: skip
"""Every row, in the order of measuring."""


def chosen(words: tuple[str, ...], *, opening: bool = False) -> list[Row]:
    """The rows in whose keys all ``words`` stand, of the README's table only where ``opening``."""
    return [row for row in ROWS if row.opening >= opening and all(word.lower() in row.key.lower() for word in words)]
