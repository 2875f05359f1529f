"""The compiled simulator as a Python API: a generated folder, arrays of words in, arrays of words out.

The emitted Verilog, compiled by Verilator, under a clock loop in C++ (``docs/simulator.md``). Nothing is done per
clock in Python, and the interpreter is not held while the loop runs: threads really run beside each other.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .engines import Progress
from .engines.verilator import VerilatorEngine
from .engines.waveform import Waveform
from .token_engine import SimulatorResult, TokenEngine
from .token_words import TokenWords


class Simulator(TokenEngine):
    """The rotary engine in a generated folder, compiled.

    Parameters
    ----------
    folder
        A folder that ``ropewalk generate`` wrote. Compiling it takes some tens of seconds the first time; later, in
        other processes too, the result is found in the cache.
    threads
        How many instances run beside each other.

    Raises
    ------
    InputError
        If the folder holds no rotary engine, or ``threads`` is not from 1 to 256.
    EngineError
        If a compiler is missing, or the Verilog cannot be compiled.
    """

    def __init__(self, folder: str | Path, *, threads: int = 1) -> None:
        self._engine = VerilatorEngine(Path(folder))
        super().__init__(self._engine.design, threads)
        self._folder = Path(folder)
        self._engine.compile()

    def capture(self, waveform: Waveform, **arrays: Any) -> SimulatorResult:
        """Run tokens as :meth:`run` does, in one piece and one thread, and write a window of the clocks into a file.

        The Verilog is compiled a second time for it, with the writer of such files.

        Parameters
        ----------
        waveform
            The file and the window.
        arrays
            The arguments of :meth:`run`.

        Raises
        ------
        InputError
            As :meth:`run` does; if the file cannot be written; or if the run ended before the window began.
        """
        return _Capture(self._folder, waveform).run(**arrays)

    def _turn(self, job: TokenWords, tokens: slice, into: Mapping[str, NDArray[Any]], progress: Progress | None) -> int:
        sent = job.pack(tokens)
        came = self._engine.run_beats(sent, registers=job.registers, progress=progress)
        job.unpack(tokens, sent, came, into)
        return came.clocks


class _Capture(Simulator):
    """A simulator whose runs are not cut, and leave a waveform."""

    def __init__(self, folder: Path, waveform: Waveform) -> None:
        self._engine = VerilatorEngine(folder, waveform=waveform)
        TokenEngine.__init__(self, self._engine.design)

    def _pieces(self, job: TokenWords) -> list[slice]:
        return [slice(0, job.tokens)]
