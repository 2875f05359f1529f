"""The emitted Verilog in Verilator and Icarus: a real encoder's table, random streams, a memory outside."""

from functools import partial

import numpy as np
import pytest
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk_sim import registers
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.errors import EngineError
from ropewalk_sim.learned.engines import run_engine
from ropewalk_sim.learned.memory import Memory
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.scenarios import random_stream
from ropewalk_sim.units.row_arrays import pack_rows, unpack_rows
from ropewalk_sim.units.rows import descriptors_of, whole_tokens

from .conftest import BERT

write = partial(registers.write, unit="learned")

RESTS = Stalls(seed=7, data=0.3, token=0.3, output=0.4, registers=0.2)
SMALL = LearnedGeometry(model_type="test", rows=30, row_offset=2, dimension=22, mask="counted", masked_row=1)
WHOLE = LearnedGeometry(model_type="test", rows=30, row_offset=2, dimension=24, mask="counted", masked_row=1)


def small_table(dimension: int) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(30, dimension))


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_the_question_through_the_real_table(storage, minilm, emit) -> None:
    """The seeds' question plus its positions: bit for bit the model's, and within half an LSB of the float sum."""
    design, words, folder = emit(BERT, minilm["position_table"], storage=storage, lanes=8)
    packed = pack_rows(design, {"x": minilm["token_rows"], "position": np.arange(9)})
    assert packed.saturated == 0
    output = run_engine("verilator", folder, design, words, packed.stream, RESTS, memory=Memory(latency=(1, 64)))
    assert output.same(run_model(design, words, packed.stream))
    x = unpack_rows(design, packed, output)["x"]
    quantised = packed.stream.data.reshape(9, 384) * 2.0**-8
    assert np.abs(x - (quantised + minilm["position_table"][:9])).max() <= 2.0**-9


@pytest.mark.parametrize(
    ("geometry", "storage"), [(SMALL, "block-ram"), (WHOLE, "external")], ids=["inside", "outside"]
)
def test_every_simulator_gives_what_the_model_gives(geometry, storage, emit) -> None:
    """Framing faults, positions past the table, TKEEP or an AxiRam of random latency with beats that fail; rests."""
    design, words, folder = emit(geometry, small_table(geometry.dimension), storage=storage)
    stream = random_stream(design, 250, seed=3, faults=0.2)
    memory = Memory(latency=(1, 64), base=4096 - 8 * design.bus_bytes, stall=0.1, unreadable=((4, 0), (9, 3)))
    outside = storage == "external"
    script = Script(registers=(write("base_low", memory.base),) if outside else ())
    expected = run_model(design, words, stream, unreadable=memory.errors(design) if outside else None)
    compiled, interpreted = (
        run_engine(name, folder, design, words, stream, RESTS, script, memory=memory)
        for name in ("verilator", "icarus")
    )
    assert compiled.same(expected)
    assert interpreted.same(expected)
    for output in (compiled, interpreted):
        assert all(address % 4096 + beats * 8 <= 4096 for address, beats, _ in output.bursts)
        assert bool(output.bursts) == outside
    crossing = [beats for address, beats, _ in compiled.bursts if (address + 8 * beats) % 4096 == 0]
    assert not outside or min(crossing) < design.beats_per_token


def test_many_beats_with_rests(emit) -> None:
    for storage, geometry in (("block-ram", SMALL), ("external", WHOLE)):
        design, words, folder = emit(geometry, small_table(geometry.dimension), storage=storage)
        stream = random_stream(design, 8000, seed=5, faults=0.1)
        memory = Memory(latency=(1, 64), stall=0.05)
        output = run_engine("verilator", folder, design, words, stream, RESTS, memory=memory)
        assert output.same(run_model(design, words, stream))


def test_the_full_rate_at_64_clocks_of_latency(emit) -> None:
    design, words, folder = emit(WHOLE, small_table(24), storage="external")
    position = np.random.default_rng(1).integers(0, 28, 3000)
    stream = whole_tokens(design, descriptors_of(position), np.zeros((3000, 24), int))
    for latency in ((64, 64), (1, 64)):
        memory, script = Memory(latency=latency), Script(data_start=200)
        output = run_engine("verilator", folder, design, words, stream, script=script, memory=memory)
        assert output.same(run_model(design, words, stream))
        assert output.beats_per_clock == 1.0
        assert output.data_waits == 0
        assert max(under_way for _, _, under_way in output.bursts) >= 4


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_position_4096_of_4096_rows_fails_at_the_same_token_everywhere(storage, emit) -> None:
    geometry = LearnedGeometry(model_type="test", rows=4096, row_offset=0, dimension=4)
    design, words, folder = emit(geometry, np.random.default_rng(1).normal(size=(4096, 4)), storage=storage)
    position = np.array([0, 4095, 4096, 4097, (1 << 24) - 1, (1 << 32) - 1, 4095])
    stream = whole_tokens(design, descriptors_of(position, tag=np.arange(7)), np.arange(28).reshape(7, 4))
    expected = run_model(design, words, stream)
    assert expected.error.tolist() == [False, False, True, True, True, True, False]
    assert np.array_equal(expected.data[2:6], np.arange(8, 24).reshape(4, 4))
    assert run_engine("verilator", folder, design, words, stream).same(expected)
    if storage == "block-ram":
        assert run_engine("icarus", folder, design, words, stream).same(expected)


def test_a_changed_word_on_disk_is_seen(emit, tmp_path) -> None:
    design, words, folder = emit(SMALL, small_table(22))
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    lines = (tmp_path / "rows.hex").read_text().split()
    lines[20] = f"{int(lines[20], 16) ^ 1 << 15:016x}"
    (tmp_path / "rows.hex").write_text("\n".join(lines))
    stream = random_stream(design, 200, seed=1)
    expected = run_model(design, words, stream)
    assert run_engine("verilator", folder, design, words, stream).same(expected)
    assert not run_engine("verilator", tmp_path, design, words, stream).same(expected)


def test_a_stream_that_the_simulator_cannot_send_is_a_fault_of_the_caller(emit) -> None:
    design, words, folder = emit(SMALL, small_table(22))
    stream = random_stream(design, 2, seed=1)
    stream.last[-1] = False
    with pytest.raises(ValueError, match="must have TLAST"):
        run_engine("icarus", folder, design, words, stream)


def test_data_without_a_descriptor_is_said_to_hang(emit) -> None:
    design, words, folder = emit(SMALL, small_table(22))
    stream = random_stream(design, 2, seed=1)
    alone = type(stream)(
        descriptors=stream.descriptors[:1], data=stream.data, tid=stream.tid, last=stream.last, keep=stream.keep
    )
    with pytest.raises(
        EngineError, match="nothing moved for 20000 clocks: .*s_axis waits for ready with 6 of 12 beats taken"
    ):
        run_engine("verilator", folder, design, words, alone)
    with pytest.raises(EngineError, match="6 beats follow the last token"):
        run_model(design, words, alone)
