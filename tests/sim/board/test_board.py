"""A host against the emitted Verilog of a whole board, over a terminal whose line is sound or not."""

import contextlib
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ropewalk_sim.board.host
import serial
from ropewalk.board_top.bridge import data_words
from ropewalk.board_top.files import board_files
from ropewalk.board_top.protocol import Address
from ropewalk.boards.registry import Board
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.geometry.shape import Pairing
from ropewalk.tables.slot_words import slot_crcs
from ropewalk_cli.main import call
from ropewalk_sim.beats import StreamInput
from ropewalk_sim.board.engine import check_design, differing_slots, run_stream
from ropewalk_sim.board.host import BoardHost
from ropewalk_sim.board.signature import expected_signature, self_test_stream
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import address_of, load_slot
from ropewalk_sim.stream_model import run_model

BAUD = 1_000_000


def design_of(
    *, lanes: int = 2, base: float = 1e4, pairing: Pairing = "interleaved", axes: int = 1, registers: bool = True
) -> Design:
    variants = tuple(
        Variant(
            name=f"base{round(base)}", inverse_frequency=tuple(base ** (-pair / 8) for pair in range(8)),
            amplitude=amplitude, max_position=1 << 20, pairing=pairing, output_pairing=pairing,
            axis=tuple(pair % axes for pair in range(8)) if axes > 1 else None,
        )
        for base, amplitude in ((base, 1.0), (1e6, 1.25))
    )  # fmt: skip
    geometry = RotaryGeometry(
        model_type="test", head_dim=16, rotary_dim=16, rotary_start=0, query_heads=2, key_heads=1,
        pairing=pairing, output_pairing=pairing, layers=None, variants=variants,
    )  # fmt: skip
    return Design(geometry=geometry, lanes=lanes, registers=registers)


DESIGN = design_of()
BOARD = Board(name="bench", title="a simulated board", part="LFE5U-25F-6", pins="", clock_mhz=8, target_mhz=8)


@pytest.fixture(scope="module")
def program(board_program: Any) -> Path:
    """The simulated board of :data:`DESIGN`, compiled once."""
    files = board_files(DESIGN, BOARD, expected=expected_signature(DESIGN), baud=BAUD)
    return board_program(files)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent again because a busy machine simulates slowly: for lines that lose nothing."""
    monkeypatch.setattr(ropewalk_sim.board.host, "SLACK", 60.0)


def opened(path: str) -> serial.Serial:
    return serial.Serial(path, BAUD, write_timeout=5)


def random_stream(tokens: int, design: Design = DESIGN) -> StreamInput:
    """The first tokens of the self-test's stream, with other data."""
    whole = self_test_stream(design)
    beats = tokens * design.beats_per_token
    data = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, whole.data.shape)
    return StreamInput(
        descriptors=whole.descriptors[:tokens], data=data[:beats], tid=whole.tid[:beats], last=whole.last[:beats]
    )


def assert_right(host: BoardHost, stream: StreamInput, design: Design = DESIGN) -> None:
    found, wanted = run_stream(host, design, stream), run_model(design, stream)
    for name in ("data", "tid", "last", "user"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.usefixtures("patient")
def test_a_sound_line(program: Path, start: Any) -> None:
    """Self-test, registers, CRCs and a run, all as the model says."""
    with start(program) as path, opened(path) as line:
        host = BoardHost(line)
        check_design(host, DESIGN)
        assert host.self_test() == (True, expected_signature(DESIGN))
        assert host.read(address_of("identity")) == int.from_bytes(b"ROPE", "little")
        crcs = [host.read(address_of(f"geometry_crc[{slot}]")) for slot in range(2)]
        assert crcs == list(slot_crcs(DESIGN))
        assert_right(host, random_stream(16))
        assert host.resent == 0


OTHERS = {
    "without-registers-half-pairing": design_of(lanes=1, pairing="half", registers=False),
    "three-axes-half-pairing": design_of(lanes=2, pairing="half", axes=3),
}


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("design", OTHERS.values(), ids=OTHERS)
def test_other_designs_on_a_sound_line(board_program: Any, start: Any, design: Design) -> None:
    """Half pairing on whole heads, three positions per descriptor, and an engine in which nothing can be set."""
    files = board_files(design, BOARD, expected=expected_signature(design), baud=BAUD)
    with start(board_program(files)) as path, opened(path) as line:
        host = BoardHost(line)
        check_design(host, design)
        assert host.self_test() == (True, expected_signature(design))
        stream = random_stream(12, design)
        # Positions that differ from axis to axis, on which the result depends.
        assert design.axes == 1 or (stream.descriptors[:, 1] != stream.descriptors[:, 3]).any()
        assert_right(host, stream, design)
        if design.registers:
            assert differing_slots(host, design) == {}
        else:
            for address in (0, address_of("query_heads")):
                assert host.read_up_to(address, 1) == []
                assert host.write(address, [1]) == 0
            with pytest.raises(EngineError, match="no registers, so no CRCs"):
                differing_slots(host, design)
        assert host.resent == 0


@pytest.mark.usefixtures("patient")
def test_a_word_that_no_stream_takes_is_refused_in_time(program: Path, start: Any) -> None:
    """Data waits for its descriptor: the words of a beat are taken, and the one behind them is refused."""
    with start(program) as path, opened(path) as line:
        host = BoardHost(line)
        words = data_words(DESIGN)
        assert words == 3  # four elements of 16 bits, and the sides
        assert host.write(Address.DATA, [7] * 3 * words) == words
        assert host.write(Address.DATA, [7]) == 0
        assert host.read_up_to(Address.RESULT, 1) == []
        assert host.read(Address.IDENTITY) == 0x52570001
        assert_right(host, random_stream(4))
        assert host.resent == 0


def test_the_button_runs_the_self_test_and_leaves_loaded_slots(program: Path, start: Any) -> None:
    with start(program) as terminal, opened(terminal) as line:
        host = BoardHost(line)
        assert host.self_test()[0]
        for access in load_slot(1, design_of(base=5e5)):
            if access.write is not None:
                assert host.write(access.address, [access.write]) == 1
        assert host.read(Address.SELF_TEST) == 2  # that of before
        terminal.press()
        until = time.monotonic() + 120
        state = 2
        while state in (1, 2):
            assert time.monotonic() < until, "the button did nothing"
            # What was under way when the button was pressed has no answer.
            with contextlib.suppress(EngineError):
                state = (host := BoardHost(line)).read(Address.SELF_TEST)
        # It ran by itself, and failed because the slot still is the one that was loaded.
        assert state == 4
        assert list(differing_slots(host, DESIGN)) == [1]


def test_another_design_is_told_from_this_one(program: Path, start: Any) -> None:
    with start(program) as path, opened(path) as line, pytest.raises(EngineError, match="built from another design"):
        check_design(BoardHost(line), design_of(base=5e5))


@pytest.mark.parametrize(
    ("lost", "flipped", "repeated"), [(1e-3, 0, 0), (0, 1e-3, 0), (0, 0, 1e-3), (5e-4, 5e-4, 5e-4)]
)
def test_a_noisy_line_gives_no_wrong_bit(
    program: Path, start: Any, lost: float, flipped: float, repeated: float
) -> None:
    with start(program, lost=lost, flipped=flipped, repeated=repeated, seed=7) as path, opened(path) as line:
        host = BoardHost(line)
        assert_right(host, random_stream(8))
        assert host.self_test()[0]
        assert host.resent > 0


@pytest.mark.parametrize("seed", range(3))
def test_a_line_of_noise_gives_the_right_bits_or_none(program: Path, start: Any, seed: int) -> None:
    """One byte in 50 is damaged, each way: long requests hardly ever get through."""
    with start(program, lost=0.01, flipped=0.005, repeated=0.005, seed=seed) as path, opened(path) as line:
        try:
            assert_right(BoardHost(line), random_stream(1))
        except EngineError as error:
            assert "does not answer" in str(error)


@pytest.mark.parametrize(("memory", "word", "bit"), [("sine", 0, 20), ("slots", 1, 0), ("steps", 1, 30)])
def test_red_where_one_bit_of_a_rom_is_wrong(
    program: Path, start: Any, tmp_path: Path, memory: str, word: int, bit: int
) -> None:
    for path in (program, *program.parent.glob("*.hex")):
        shutil.copy(path, tmp_path)
    rom = tmp_path / f"{memory}.hex"
    words = rom.read_text().splitlines()
    words[word] = f"{int(words[word], 16) ^ 1 << bit:0{len(words[word])}x}"
    rom.write_text("\n".join(words) + "\n")
    with start(tmp_path / "board") as terminal, opened(terminal) as line:
        passed, signature = BoardHost(line).self_test()
        assert not passed
        assert signature != expected_signature(DESIGN)


def test_a_dead_line_ends_in_a_clear_error(program: Path, start: Any) -> None:
    with start(program, lost=1) as path, opened(path) as line:
        begun = time.monotonic()
        with pytest.raises(EngineError, match="the board does not answer: 16 requests were sent"):
            BoardHost(line)
        assert time.monotonic() - begun < 60


def test_the_command_does_all_three(
    program: Path, start: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Self-test, geometry and a run, against the model's run of the same arrays."""
    draw = np.random.default_rng(6)
    arrays = {
        "q": draw.integers(-20_000, 20_000, (5, 2, 16)),
        "k": draw.integers(-20_000, 20_000, (5, 1, 16)),
        "v": draw.integers(-20_000, 20_000, (5, 1, 16)),
        "position": np.array([0, 1, 77, 1 << 20, 5]),
        "variant": np.array([0, 1, 0, 0, 7]),
    }
    np.savez(tmp_path / "x.npz", **arrays)
    write_design_folder(DESIGN, tmp_path / "same")
    source = ["--input", str(tmp_path / "x.npz")]
    assert call(["run", str(tmp_path / "same"), *source, "--output", str(tmp_path / "m.npz"), "--engine", "model"]) == 0
    with start(program, lost=2e-4, flipped=2e-4, repeated=2e-4, seed=3) as terminal:
        base = ["board", "--port", terminal, "--baud", str(BAUD)]
        capsys.readouterr()
        code = call([*base, "--design", str(tmp_path / "same"), *source, "--output", str(tmp_path / "y.npz"), "--json"])
        printed, error = capsys.readouterr()
        assert (code, error) == (0, "")
        found = json.loads(printed)
        assert (found["self_test"], found["geometry"], found["tokens"]) == ("pass", "same", 5)
        with np.load(tmp_path / "y.npz") as board, np.load(tmp_path / "m.npz") as model:
            assert sorted(board) == sorted(model)
            for name in model:
                np.testing.assert_array_equal(board[name], model[name])


def test_a_slot_that_was_loaded_since_is_named(program: Path, start: Any) -> None:
    with start(program) as path, opened(path) as line:
        host = BoardHost(line)
        for access in load_slot(1, design_of(base=5e5)):
            if access.write is not None:
                assert host.write(access.address, [access.write]) == 1
        wrong = {1: (slot_crcs(design_of(base=5e5))[0], slot_crcs(DESIGN)[1])}
        assert differing_slots(host, DESIGN) == wrong
        assert not host.self_test()[0]
