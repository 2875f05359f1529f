"""Has the tools that are WebAssembly compiled and cached, so that the first build does not wait: for set-up.

Run as a module: ``python -m ropewalk.boards.warm``.
"""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import tools

TIMEOUT = 600


def main() -> None:
    """Call each tool once, as many at a time as there are cores; raises :class:`BuildError` where one does not run."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        called = {
            tool: pool.submit(tools.run, tool, ["--help"], Path(folder), timeout=TIMEOUT) for tool in tools.YOWASP
        }
        for tool, done in called.items():
            code, log = done.result()
            if code not in (0, 1):  # 1 is how some of them end after their help
                raise tools.failure(tool, code, log)


if __name__ == "__main__":
    main()
