"""The emitted Verilog in every element order, at the head sizes of real models: every bit, every fault, every clock."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.compare import compare
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.stream_model import run_model

# head_dim, rotary_dim, rotary_start, lanes, query, key and value heads, order in and out
CASES = {
    "80 of which the first 20": (80, 20, 0, 2, (2, 2, 2), "half", "half"),
    "80 of which the last 20": (80, 20, 60, 2, (2, 1, 1), "half", "interleaved"),
    "80 of which 20 in mid-beat": (80, 20, 30, 2, (2, 1, 1), "interleaved", "half"),
    "96": (96, 96, 0, 4, (2, 2, 0), "half", "half"),
    "96 of which 40 in mid-beat": (96, 40, 20, 4, (3, 1, 1), "half", "half"),
    "100": (100, 100, 0, 2, (2, 1, 0), "paired", "half"),
    "192 of which the last 64": (192, 64, 128, 4, (2, 1, 0), "interleaved", "half"),
    "192": (192, 192, 0, 8, (3, 1, 1), "paired", "interleaved"),
    "256": (256, 256, 0, 4, (4, 1, 1), "half", "half"),
    "256 of which the first 64": (256, 64, 0, 4, (1, 1, 0), "half", "interleaved"),
    "512 of which the last 64": (512, 64, 448, 4, (1, 1, 0), "half", "half"),
    "64, one shared key head": (64, 64, 0, 4, (8, 1, 0), "interleaved", "half"),
    "one beat a head": (8, 8, 0, 4, (4, 1, 0), "half", "half"),
    "rows are the limit": (64, 64, 0, 8, (1, 1, 0), "half", "half"),
}
STALLS = [None, Stalls(seed=3, data=0.3, token=0.2, output=0.3), Stalls(seed=4, output=0.7), Stalls(seed=5, data=0.7)]


def design_of(name: str) -> Design:
    head_dim, rotary_dim, rotary_start, lanes, heads, order_in, order_out = CASES[name]

    def variant(base: float, amplitude: float) -> Variant:
        frequencies = tuple(base ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2))
        return Variant(name=f"base{base:.0f}", inverse_frequency=frequencies, amplitude=amplitude, max_position=1 << 20)

    geometry = RotaryGeometry(
        model_type="test", head_dim=head_dim, rotary_dim=rotary_dim, rotary_start=rotary_start, query_heads=heads[0],
        key_heads=heads[1], pairing="half", output_pairing="half", layers=None,
        variants=(variant(1e4, 1.0), variant(1e6, 1.3466)),
    )  # fmt: skip
    return Design(
        geometry=geometry, lanes=lanes, value_heads=heads[2], input_pairing=order_in, output_pairing=order_out
    )


@pytest.fixture(scope="module")
def engine_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], VerilatorEngine]:
    made: dict[str, Path] = {}

    def engine(name: str) -> VerilatorEngine:
        if name not in made:
            made[name] = tmp_path_factory.mktemp("orders") / "design"
            write_design_folder(design_of(name), made[name])
        return VerilatorEngine(made[name])

    return engine


@pytest.mark.parametrize("name", CASES)
def test_every_bit_under_every_kind_of_stall(name, engine_of) -> None:
    engine = engine_of(name)
    design = engine.design
    for make in (scenarios.everything, scenarios.broken_packets):
        stream = make(design, seed=6, tokens=60)
        expected = run_model(design, stream)
        for stalls in STALLS:
            comparison = compare(design, expected, engine.run(stream, stalls=stalls), stream)
            assert not comparison.differing_bits, str(comparison)
    assert expected.error.any()


@pytest.mark.parametrize("name", CASES)
def test_the_steady_rate_has_no_gap_between_heads_and_tokens(name, engine_of) -> None:
    """The variant and the position change with every token. Sixty tokens more take just as many clocks more."""
    engine = engine_of(name)
    design = engine.design
    # A scan of the slots for their CRC takes clocks from the making of rows: it is over by then.
    script = Script(data_start=6000)
    ends = [
        engine.run(scenarios.plain(design, seed=7, tokens=tokens), script=script).last_output_clock
        for tokens in (60, 120)
    ]
    assert ends[1] is not None
    assert ends[0] is not None
    assert ends[1] - ends[0] == 60 * max(design.beats_per_token, design.shapes[0].pairs)


@pytest.mark.parametrize("name", ["96 of which 40 in mid-beat", "192 of which the last 64", "one beat a head"])
def test_reset_and_a_stream_that_ends_within_a_head(name, engine_of) -> None:
    engine = engine_of(name)
    design = engine.design
    lost = scenarios.broken_packets(design, seed=8, tokens=20)
    stream = scenarios.everything(design, seed=9, tokens=10)
    for clocks in range(60, 300, 7):
        output = engine.run(stream, script=Script(interrupted=lost, interrupted_clocks=clocks))
        comparison = compare(design, run_model(design, stream), output, stream)
        assert not comparison.differing_bits, str(comparison)
    for cut in range(1, 2 * design.beats_per_head + 2):
        part = type(stream)(
            descriptors=stream.descriptors[:4],
            data=stream.data[: 3 * design.beats_per_token + cut],
            tid=stream.tid[: 3 * design.beats_per_token + cut],
            last=stream.last[: 3 * design.beats_per_token + cut],
        )
        comparison = compare(design, run_model(design, part), engine.run(part), part)
        assert not comparison.differing_bits, (cut, str(comparison))
