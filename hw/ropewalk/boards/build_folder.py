"""The folder ``build`` in a design's folder: the last build that succeeded, whole or not at all."""

import json
import shutil
import tempfile
from pathlib import Path

from ..emit.writer import BUILD, FAILED_LOG, REPORT
from ..errors import InputError
from .build import Build

LOG = "build.log"


def write_build(design: Path, build: Build) -> Path:
    """Put ``build`` in place of the last one in the folder ``design``; gives the folder that was written.

    It is written beside the last one and then takes its place, so that no reader finds a part of it.

    Raises
    ------
    InputError
        If the folder cannot be written; the last build is still there.
    """
    files = {
        **build.files,
        LOG: build.log.encode(),
        REPORT: (json.dumps(build.report.to_json(), indent=1) + "\n").encode(),
    }
    target = design / BUILD
    try:
        staging = Path(tempfile.mkdtemp(prefix=f".{BUILD}-", dir=design))
        try:
            new, last = staging / "new", staging / "last"
            new.mkdir()
            for name, data in files.items():
                (new / name).write_bytes(data)
            if target.exists():
                target.rename(last)
            try:
                new.rename(target)
            except OSError:
                if last.exists():
                    last.rename(target)
                raise
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        (design / FAILED_LOG).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot write the folder {target}: {error.strerror or error}") from error
    return target


def write_failure(design: Path, log: str) -> Path | None:
    """Keep what the tools printed in a build that failed; gives the file, or None where there is nothing to keep."""
    if not log:
        return None
    path = design / FAILED_LOG
    try:
        path.write_text(log, encoding="utf-8")
    except OSError:
        return None
    return path
