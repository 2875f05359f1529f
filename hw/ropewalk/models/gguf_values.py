"""What the header of a GGUF file is read into, and how such a file is opened."""

import math
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gguf.constants import GGMLQuantizationType

from ..errors import InputError
from ..strict_json import show_path


class Skipped:
    """Stands for a value that was not kept. Its text is a piece of a sentence."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Tensor:
    """Where a tensor stands: ``shape`` with the fastest dimension first, ``start`` in bytes from the file's begin.

    ``kind`` is None for a type that the ``gguf`` package does not know, whose ``size`` is not known either.
    """

    name: str
    shape: tuple[int, ...]
    kind: GGMLQuantizationType | None
    start: int
    size: int
    path: Path
    order: str


@dataclass(frozen=True)
class Header:
    """What a GGUF file says before its data. ``order`` is ``<`` or ``>``; ``where`` is what errors call the file."""

    where: str
    path: Path
    version: int
    order: str
    metadata: dict[str, Any]
    tensors: dict[str, Tensor]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The regular file ``path``, open for reading; what the system refuses becomes an :class:`InputError`."""
    where = show_path(path)
    try:
        if not path.is_file():
            raise InputError(f"{where} is not a file" if path.exists() else f"there is no file {where}")
        with path.open("rb", buffering=1 << 18) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InputError(f"{where} is not a file")
            yield file
    except InputError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{where} cannot be read: {reason}") from None


def shortest(value: float) -> float:
    """The double of the shortest decimal number that rounds to ``value``, a 32-bit float: 0.1 for 0.100000001490116."""
    if not math.isfinite(value):
        return value
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        try:
            if struct.unpack("<f", struct.pack("<f", float(text)))[0] == value:
                return float(text)
        except OverflowError:  # rounded up past the largest float
            continue
    return value
