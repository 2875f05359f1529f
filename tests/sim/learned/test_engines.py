"""The emitted Verilog in Verilator and Icarus: a real encoder's table, random streams, a memory outside."""

import numpy as np
import pytest
from ropewalk.designs.learned import learned_design
from ropewalk.emit.learned import learned_files
from ropewalk.gateware.families.form import Form
from ropewalk.gateware.learned.table_rows import Banks
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk_sim.beats import Stalls
from ropewalk_sim.errors import EngineError
from ropewalk_sim.learned.cosim import run_cocotb
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.scenarios import random_stream
from ropewalk_sim.learned.stream import Memory, Session, descriptors_of, pack_learned, unpack_learned, whole_tokens
from ropewalk_sim.learned.unit import LearnedUnit
from ropewalk_sim.learned.verilator import run_verilator
from ropewalk_sim.registers import Access, address_of

from .conftest import BERT

RESTS = Stalls(seed=7, data=0.3, token=0.3, output=0.4, registers=0.2)
SMALL = LearnedGeometry(model_type="test", rows=30, row_offset=2, dimension=22, mask="counted", masked_row=1)
WHOLE = LearnedGeometry(model_type="test", rows=30, row_offset=2, dimension=24, mask="counted", masked_row=1)


def small_table(dimension: int) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(30, dimension))


def write(register: str, value: int) -> Access:
    return Access(address=address_of(register, "learned"), write=value)


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_the_question_through_the_real_table(storage, minilm, emit) -> None:
    """The seeds' question plus its positions: bit for bit the model's, and within half an LSB of the float sum."""
    design, words, folder = emit(BERT, minilm["position_table"], storage=storage, lanes=8)
    packed = pack_learned(design, {"x": minilm["token_rows"], "position": np.arange(9)})
    assert packed.saturated == 0
    output = run_verilator(folder, packed.stream, RESTS, Session(memory=Memory(latency=(1, 64))))
    assert output.same(run_model(design, words, packed.stream))
    x = unpack_learned(design, packed, output)["x"]
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
    session = Session(memory=memory, registers=(write("base_low", memory.base),) if outside else ())
    expected = run_model(design, words, stream, unreadable=memory.errors(design) if outside else None)
    compiled = run_verilator(folder, stream, RESTS, session)
    interpreted = run_cocotb("icarus", folder, stream, RESTS, session)
    assert compiled.same(expected)
    assert interpreted.same(expected)
    for output in (compiled, interpreted):
        assert all(address % 4096 + beats * 8 <= 4096 for address, beats, _ in output.bursts)
        assert bool(output.bursts) == outside
    crossing = [beats for address, beats, _ in compiled.bursts if (address + 8 * beats) % 4096 == 0]
    assert not outside or min(crossing) < design.beats_per_token


def test_a_table_in_banks_gives_what_the_model_gives(monkeypatch, tmp_path) -> None:
    """A small table in banks of 32 words: loads and beats with rests, as the emitted Verilog does them."""
    monkeypatch.setattr(Form, "bank_words", lambda self, width, depth: 32)
    design, words = learned_design(SMALL, small_table(SMALL.dimension))
    assert Banks(design).count == 6
    for name, text in learned_files(design, words).items():
        (tmp_path / name).write_text(text)
    new = words.copy()
    new[5:9] = np.random.default_rng(6).integers(-1000, 1000, (4, design.dimension))
    load = [write("load_begin", 5), *(write("load_data", int(word) & 0xFFFFFFFF) for word in new[5:9].reshape(-1))]
    session = Session(registers=(*load, write("load_commit", 0)))
    stream = random_stream(design, 250, seed=3, faults=0.2)
    expected = run_model(design, new, stream)
    assert run_verilator(tmp_path, stream, RESTS, session).same(expected)
    assert run_cocotb("icarus", tmp_path, stream, RESTS, session).same(expected)


def test_many_beats_with_rests(emit) -> None:
    for storage, geometry in (("block-ram", SMALL), ("external", WHOLE)):
        design, words, folder = emit(geometry, small_table(geometry.dimension), storage=storage)
        stream = random_stream(design, 8000, seed=5, faults=0.1)
        session = Session(memory=Memory(latency=(1, 64), stall=0.05))
        assert run_verilator(folder, stream, RESTS, session).same(run_model(design, words, stream))


def test_the_full_rate_at_64_clocks_of_latency(emit) -> None:
    design, words, folder = emit(WHOLE, small_table(24), storage="external")
    position = np.random.default_rng(1).integers(0, 28, 3000)
    stream = whole_tokens(design, descriptors_of(position), np.zeros((3000, 24), int))
    for latency in ((64, 64), (1, 64)):
        output = run_verilator(folder, stream, session=Session(memory=Memory(latency=latency), data_start=200))
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
    unit = LearnedUnit(design, folder)
    for engine in ("amaranth", "verilator", "icarus"):
        assert unit.run(engine, stream).same(expected), engine


def test_a_changed_word_on_disk_is_seen(emit, tmp_path) -> None:
    design, words, folder = emit(SMALL, small_table(22))
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    lines = (tmp_path / "rows.hex").read_text().split()
    lines[20] = f"{int(lines[20], 16) ^ 1 << 15:016x}"
    (tmp_path / "rows.hex").write_text("\n".join(lines))
    stream = random_stream(design, 200, seed=1)
    expected = run_model(design, words, stream)
    assert run_verilator(folder, stream).same(expected)
    assert not run_verilator(tmp_path, stream).same(expected)


def test_a_stream_that_the_simulator_cannot_send_is_a_fault_of_the_caller(emit) -> None:
    design, _, folder = emit(SMALL, small_table(22))
    stream = random_stream(design, 2, seed=1)
    stream.last[-1] = False
    with pytest.raises(ValueError, match="must have TLAST"):
        run_cocotb("icarus", folder, stream)


def test_data_without_a_descriptor_is_said_to_hang(emit) -> None:
    design, words, folder = emit(SMALL, small_table(22))
    stream = random_stream(design, 2, seed=1)
    alone = type(stream)(
        descriptors=stream.descriptors[:1], data=stream.data, tid=stream.tid, last=stream.last, keep=stream.keep
    )
    with pytest.raises(EngineError, match="nothing moved for 20000 clocks; 6 of 12 beats were taken"):
        run_verilator(folder, alone)
    with pytest.raises(EngineError, match="6 beats follow the last token"):
        run_model(design, words, alone)
