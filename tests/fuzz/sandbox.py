"""What an example may do: a bounded time, 1 GB of memory, files of its own folder, and no code.

Python's audit events show every file that Python opens, every process, socket, import and piece of code. What a native
library does by itself raises none (the safetensors package opens its file in Rust).
"""

import os
import resource
import signal
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = 1 << 30
"""Bytes of address space of a worker, the interpreter and its libraries included."""

SECONDS = 10
"""Of processor time that one example may take."""

FORBIDDEN = (
    "code.__new__", "ctypes.", "exec", "ftplib.", "http.", "marshal.", "mmap.", "os.chmod", "os.chown", "os.exec",
    "os.fork", "os.forkpty", "os.kill", "os.link", "os.mkdir", "os.posix_spawn", "os.putenv", "os.remove", "os.rename",
    "os.rmdir", "os.spawn", "os.startfile", "os.symlink", "os.system", "os.truncate", "os.unsetenv", "pickle.",
    "pty.", "shutil.", "smtplib.", "socket.", "subprocess.", "tempfile.", "urllib.", "webbrowser.",
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


LOADING = ("code.__new__", "exec", "marshal.loads")
"""What an import does (zipfile imports a codec where a name needs it). Which modules may be imported is checked too."""


class Forbidden(BaseException):
    """An example did what no input may make us do. (Not an Exception, so that nobody catches it by accident.)"""


class TooSlow(BaseException):
    """An example took longer than :data:`SECONDS`."""


class Watch:
    """Watches this process while :meth:`example` is in force. There can be one only, and it cannot be removed."""

    def __init__(self, folder: Path) -> None:
        self.folder = os.path.realpath(folder)
        self.active = False
        self.broken: list[str] = []
        here = Path(__file__).resolve().parents[2]
        self.readable = tuple(
            os.path.realpath(place) + os.sep
            for place in (self.folder, here / "hw", here / "sim", sys.prefix, sysconfig.get_path("stdlib"))
        )
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGPROF, self._late)

    @contextmanager
    def example(self) -> Iterator[None]:
        """Within it the rules hold; afterwards what broke them is raised, whether or not somebody caught it."""
        self.broken.clear()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        self.active = True
        try:
            yield
        finally:
            self.active = False
            signal.setitimer(signal.ITIMER_PROF, 0)
        if self.broken:
            raise Forbidden(self.broken[0])

    def _late(self, *_: Any) -> None:
        if self.active:
            raise TooSlow(f"more than {SECONDS} s of processor time")

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int):
                return
            real = os.path.realpath(os.fsdecode(path))
            writes = isinstance(flags, int) and flags & WRITING or isinstance(mode, str) and set(mode) & set("wax+")
            allowed = not writes and (real + os.sep).startswith(self.readable)
        elif event == "import":
            name = str(arguments[0])
            allowed = name.split(".")[0] in sys.stdlib_module_names or name.startswith("numpy.")
        else:
            allowed = not event.startswith(FORBIDDEN) or event in LOADING and _importing()
        if not allowed:
            self.active = False
            self.broken.append(f"{event} {str(arguments)[:200]}")
            raise Forbidden(self.broken[-1])


def limit_memory() -> None:
    """Take :data:`MEMORY` as the most that this process may ask for: beyond it there is a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def peak_memory() -> int:
    """Bytes that this process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _importing() -> bool:
    """Whether the import system is among the callers."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
