"""Reading npz files that a stranger made, and writing them so that no half-written one is ever seen.

numpy's own reader trusts the header of an array: a file of a kilobyte can ask for a terabyte. This one compares
the header with the bytes that are there before it allocates anything, and never unpickles.
"""

import contextlib
import math
import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from ropewalk.errors import InputError
from ropewalk.strict_json import cut, show, show_path

MAX_BYTES = 1 << 30
"""Bytes that the arrays of one file may take in memory."""

MAX_ARRAYS = 64
"""Arrays that one file may hold."""


def load_npz(path: Path, max_bytes: int = MAX_BYTES) -> dict[str, np.ndarray]:
    """The arrays of an npz file by name.

    Raises
    ------
    InputError
        If the file is missing, is not an npz, is corrupt, holds Python objects, or would take more than
        ``max_bytes``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _load(path, archive, max_bytes)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        # RuntimeError: zipfile's answer to an encrypted member; NotImplementedError: to an unknown compression.
        raise InputError(f"{path}: is not a sound npz file: {show_path(cut(str(error), 200))}") from None


def check_target(path: Path) -> Path:
    """The file that writing to ``path`` would make or replace: ``path`` itself, or what it is a link to.

    Raises
    ------
    InputError
        If something else than a regular file is there (a device, a pipe, a folder), or the folder is missing.
    """
    path = Path(path)
    try:
        target = path.resolve()
        if not target.parent.is_dir():
            raise InputError(f"{path}: cannot be written: there is no folder {target.parent}")
        if not stat.S_ISREG(target.stat().st_mode):
            raise InputError(f"{path}: cannot be written: it is no file but a folder, a device or a pipe")
    except FileNotFoundError:
        return target
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise InputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    return target


def save_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write ``arrays`` to ``path``: the whole file or, with an InputError, nothing. See :func:`check_target`."""
    target = check_target(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _load(path: Path, archive: zipfile.ZipFile, max_bytes: int) -> dict[str, np.ndarray]:
    members = archive.infolist()
    if len(members) > MAX_ARRAYS:
        raise InputError(f"{path}: holds {len(members)} arrays, and at most {MAX_ARRAYS} are read")
    total = sum(member.file_size for member in members)
    if total > max_bytes:
        raise InputError(f"{path}: would take {total} bytes in memory, and at most {max_bytes} are read")
    arrays: dict[str, np.ndarray] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name in arrays:
            raise InputError(f"{path}: holds the array {show(name)} twice")
        arrays[name] = _load_array(f"{path}: {cut(show_path(name), 60)}", archive, member)
    return arrays


def _load_array(where: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        try:
            version = np.lib.format.read_magic(file)
            read_header = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = read_header(file)
        except Exception as error:  # numpy hands the header to Python's parser, which fails in many ways
            reason = show_path(cut(" ".join(str(error).split()), 100)) or "its header makes no sense"
            raise InputError(f"{where} is not a plain numpy array ({reason})") from None
        if dtype.hasobject:
            raise InputError(f"{where} holds Python objects, which are never read; save numbers or strings")
        if dtype.names is not None or dtype.subdtype is not None or dtype.itemsize == 0:
            raise InputError(f"{where} has the type {cut(str(dtype), 60)}, and numbers or strings are wanted")
        if len(shape) > 8:
            raise InputError(f"{where} says it has {len(shape)} dimensions, and at most 8 are read")
        expected = math.prod(shape) * dtype.itemsize
        left = member.file_size - file.tell()
        if any(length < 0 for length in shape) or expected != left:
            said = ", ".join(map(show, shape))
            raise InputError(f"{where} says it has the shape [{said}] of {dtype}, and {left} bytes of data follow")
        content = file.read(expected)
        if len(content) != expected or file.read(1):
            raise InputError(f"{where} is cut off")
    flat = np.frombuffer(bytearray(content), dtype)
    return flat.reshape(shape, order="F" if fortran else "C")
