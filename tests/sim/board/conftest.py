"""A simulated board behind a terminal: the emitted Verilog of its top, compiled once per design."""

import contextlib
import os
import signal
import subprocess
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from ropewalk_sim.engines.cache import cached
from ropewalk_sim.engines.library import RUNTIME
from ropewalk_sim.engines.toolchain import compiler, compiler_version, run_tool, verilator_root, verilator_version

DIVISOR = 8
LINE = Path(__file__).with_name("line.cpp")

Start = Callable[..., AbstractContextManager[str]]


class Terminal(str):
    """The path of a terminal, and a button on the board behind it."""

    def __new__(cls, path: str, process: subprocess.Popen[bytes]) -> "Terminal":
        made = super().__new__(cls, path)
        made.process = process
        return made

    process: subprocess.Popen[bytes]

    def press(self) -> None:
        """Press the button, and let it go."""
        self.process.send_signal(signal.SIGUSR1)


def compile_board(files: Mapping[str, str]) -> Path:
    """The program that simulates the top in ``files``, in a folder with its memory files; compiled once and kept."""
    root = verilator_root()
    include = root / "include"

    def build(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
        run_tool("verilator", [root / "bin" / "verilator_bin", "--cc", "-O3", "-Wno-fatal", "--top-module", "ropewalk",
                               "--prefix", "Vropewalk", "--Mdir", "cpp", "ropewalk.v"], folder=folder)  # fmt: skip
        sources = [*sorted((folder / "cpp").glob("*.cpp")), *(include / name for name in RUNTIME), LINE]
        (folder / "unit.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        run_tool("g++", [compiler(), "-O1", "-std=gnu++17", "-DVL_TIME_CONTEXT", "-DVERILATOR=1", f"-I{include}",
                         f"-I{include / 'vltstd'}", f"-I{folder / 'cpp'}", "unit.cpp", "-pthread", "-o", "board"],
                 folder=folder)  # fmt: skip

    parts = (
        verilator_version(),
        compiler_version(),
        LINE.read_bytes(),
        *(text for item in files.items() for text in item),
    )
    return cached("board", parts, build) / "board"


@contextlib.contextmanager
def started(
    program: Path, *, lost: float = 0, flipped: float = 0, repeated: float = 0, seed: int = 1
) -> Iterator[Terminal]:
    """Runs a board; gives a terminal behind which it is. The shares are of bytes, each way."""
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        shares = [str(round(share * 1e6)) for share in (lost, flipped, repeated)]
        command = [str(program), str(master), str(DIVISOR), str(seed), *shares]
        process = subprocess.Popen(command, cwd=program.parent, pass_fds=[master])
        try:
            yield Terminal(os.ttyname(slave), process)
        finally:
            process.kill()
            process.wait()
    finally:
        os.close(master)
        os.close(slave)


@pytest.fixture(scope="session")
def board_program() -> Callable[[Mapping[str, str]], Path]:
    """Compiles a board."""
    return compile_board


@pytest.fixture
def start() -> Start:
    """Runs a compiled board behind a terminal."""
    return started
