"""A host against the emitted Verilog of a whole board, over a terminal whose line is sound or not."""

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import serial
from ropewalk.board_top.files import board_files
from ropewalk.boards.registry import Board
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.tables.slot_words import slot_crcs
from ropewalk_sim.beats import StreamInput
from ropewalk_sim.board.engine import check_design, run_stream
from ropewalk_sim.board.host import BoardHost
from ropewalk_sim.board.signature import expected_signature, self_test_stream
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import address_of
from ropewalk_sim.stream_model import run_model

BAUD = 1_000_000


def design_of(*, lanes: int = 2, base: float = 1e4) -> Design:
    variants = tuple(
        Variant(
            name=f"base{base:g}", inverse_frequency=tuple(base ** (-pair / 8) for pair in range(8)),
            amplitude=amplitude, max_position=1 << 20, pairing="interleaved", output_pairing="interleaved",
        )
        for base, amplitude in ((base, 1.0), (1e6, 1.25))
    )  # fmt: skip
    geometry = RotaryGeometry(
        model_type="test", head_dim=16, rotary_dim=16, rotary_start=0, query_heads=2, key_heads=1,
        pairing="interleaved", output_pairing="interleaved", layers=None, variants=variants,
    )  # fmt: skip
    return Design(geometry=geometry, lanes=lanes)


DESIGN = design_of()
BOARD = Board(name="bench", title="a simulated board", part="LFE5U-25F-6", pins="", clock_mhz=8, target_mhz=8)


@pytest.fixture(scope="module")
def program(board_program: Any) -> Path:
    """The simulated board of :data:`DESIGN`, compiled once."""
    files = board_files(DESIGN, BOARD, expected=expected_signature(DESIGN), baud=BAUD)
    return board_program(files)


def opened(path: str) -> serial.Serial:
    return serial.Serial(path, BAUD, write_timeout=5)


def random_stream(tokens: int) -> StreamInput:
    """The first tokens of the self-test's stream, with other data."""
    whole = self_test_stream(DESIGN)
    beats = tokens * DESIGN.beats_per_token
    data = np.random.default_rng(5).integers(-(1 << 15), 1 << 15, whole.data.shape)
    return StreamInput(
        descriptors=whole.descriptors[:tokens], data=data[:beats], tid=whole.tid[:beats], last=whole.last[:beats]
    )


def assert_right(host: BoardHost, stream: StreamInput) -> None:
    found, wanted = run_stream(host, DESIGN, stream), run_model(DESIGN, stream)
    for name in ("data", "tid", "last", "user"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


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
