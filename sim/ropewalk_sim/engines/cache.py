"""Where compiled simulators are kept, so that a design is compiled once and not once per run.

An entry is a folder named after the SHA-256 of everything that it was built from. It is built under another name
and renamed when it is whole: two processes may build the same entry at once, and neither ever sees half of one.
Entries are not removed; the folder can be deleted at any time. What a build that was killed has left is removed by a
build of the same kind, a day later.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import platformdirs
from ropewalk_sim.errors import EngineError

VARIABLE = "ROPEWALK_CACHE"
"""The environment variable that names another folder for the cache."""


LEFT_SECONDS = 24 * 3600
"""The age from which on a folder that is being built is not: no build takes that long."""


def cache_folder() -> Path:
    """The folder of the cache: ``$ROPEWALK_CACHE``, else the platform's folder for caches of this user."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).absolute() if chosen else platformdirs.user_cache_path("ropewalk")


def cached(kind: str, parts: Iterable[str | bytes], build: Callable[[Path], None]) -> Path:
    """The entry that ``build`` makes from ``parts``, built now if it is not there yet.

    ``kind`` stands in the entry's name. ``build`` is given an empty folder to fill; what it raises is passed on, and
    leaves nothing behind.
    """
    digest = hashlib.sha256()
    for part in (kind, *parts):
        content = part.encode() if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little") + content)
    entry = cache_folder() / f"{kind}-{digest.hexdigest()[:32]}"
    if entry.is_dir():
        return entry
    try:
        entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep(kind, entry.parent)
        temporary = Path(tempfile.mkdtemp(prefix=f"{kind}-", suffix=".tmp", dir=entry.parent))
    except OSError as error:
        raise EngineError(
            f"the cache folder {entry.parent} cannot be written ({error.strerror}); {VARIABLE} names another one"
        ) from None
    try:
        build(temporary)
        try:
            temporary.rename(entry)
        except OSError:
            if not entry.is_dir():  # otherwise another process was first, with the same content
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return entry


def _sweep(kind: str, folder: Path) -> None:
    """Remove what builds of ``kind`` that were killed have left."""
    for left in folder.glob(f"{kind}-*.tmp"):
        with contextlib.suppress(OSError):  # another process may be at it
            if left.stat().st_mtime < time.time() - LEFT_SECONDS:
                shutil.rmtree(left)
