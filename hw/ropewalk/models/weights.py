"""Learned position tables from weight files: safetensors, GGUF and npy.

Nothing is unpickled, and nothing is read before its size is known to be within bounds. (PyTorch's ``.bin`` files are
pickles: they are refused by name.)
"""

import math
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

from ..errors import InputError
from ..geometry.learned import MAX_DIMENSION, MAX_ROWS, LearnedGeometry
from ..strict_json import Keys, cut, load_json_object, parse_json_object, show, show_path
from .gguf_header import read_header
from .gguf_tensors import gguf_in, read_table

Table: TypeAlias = npt.NDArray[np.floating[Any]]

MAX_VALUES = 1 << 26
"""Elements of a table. The largest published one (OPT 66B) has below 2**25."""

MAX_HEADER = 16 << 20
"""Bytes of a safetensors header. A model of 100,000 tensors has about 12 MB."""

USUAL_NAMES = (
    "wpe.weight",
    "position_embeddings.weight",
    "position_embedding.weight",
    "embed_positions.weight",
    "positions_embed.weight",
    "position_embd.weight",
    "position_embeddings",
    "pos_embed",
)
"""The last parts of the names that learned tables have: GPT-2; BERT; CLIP; OPT and BART; GPT-1; GGUF; ViT; timm."""

PICKLES = frozenset([".bin", ".ckpt", ".pickle", ".pkl", ".pt", ".pth"])


def load_table(source: str | Path, *, tensor: str | None = None, geometry: LearnedGeometry | None = None) -> Table:
    """The learned position table in ``source``, ``[rows, dimension]``, with the values that the file has.

    Parameters
    ----------
    source
        A ``.safetensors``, ``.gguf`` or ``.npy`` file, or a folder with ``model.safetensors``, with a
        ``model.safetensors.index.json`` and the files that it names, or with one GGUF model.
    tensor
        The tensor's whole name; without it, the one whose name ends in one of :data:`USUAL_NAMES`.
    geometry
        Where given, the table must have its rows and dimension, and of several tables those that do not are passed
        over.

    Returns
    -------
    numpy.ndarray
        float64 where the file has doubles, else float32, which holds float16 and bfloat16 exactly. All finite.

    Raises
    ------
    InputError
        If the file cannot be read or is of another kind, has no such table or several, or the table is too large, is
        not of two dimensions, does not hold floats, holds a value that is not finite, or does not fit ``geometry``.
    """
    path = Path(source)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):
        is_folder, exists = False, False
    if is_folder:
        path, tensor = _in_folder(path, tensor)
    elif not exists:
        raise InputError(f"there is no file {show_path(path)}")
    kind = path.suffix.lower()
    if kind == ".npy":
        if tensor is not None:
            raise InputError(f"{show_path(path)} holds one array without a name, so no tensor can be chosen")
        table = _from_npy(path)
    elif kind == ".safetensors":
        table = _from_safetensors(path, tensor, geometry)
    elif kind == ".gguf":
        table = _from_gguf(path, tensor, geometry)
    elif kind in PICKLES:
        raise InputError(f"{show_path(path)} is a pickle, which is never opened; give safetensors, GGUF or npy")
    else:
        raise InputError(f"{show_path(path)} must be a .safetensors, .gguf or .npy file, or a folder with a model")
    if not np.isfinite(table).all():
        raise InputError(f"{show_path(path)}: the table holds a value that is not finite")
    if geometry is not None and table.shape != (geometry.rows, geometry.dimension):
        raise InputError(
            f"{show_path(path)}: the table has {_shape(table.shape)} elements, but a {geometry.model_type} of this "
            f"configuration has {_shape((geometry.rows, geometry.dimension))}"
        )
    return table


def _from_npy(path: Path) -> Table:
    """The array of a ``.npy`` file, whose header is looked at before its data."""
    where = show_path(path)
    if not path.is_file():
        raise InputError(f"{where} is not a file")
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                shape, _, kind = np.lib.format.read_array_header_1_0(file)
            elif version == (2, 0):
                shape, _, kind = np.lib.format.read_array_header_2_0(file)
            else:
                raise InputError(f"{where} has version {version[0]}.{version[1]} of npy; 1.0 and 2.0 are read")
            _check(where, shape, kind.kind == "f" and kind.itemsize in (2, 4, 8), cut(str(kind), 60))
            wanted, held = math.prod(shape) * kind.itemsize, path.stat().st_size - file.tell()
            if wanted > held:  # before numpy takes the memory for it
                raise InputError(f"{where} is cut off: its table takes {wanted} bytes, and {held} are there")
            file.seek(0)
            values = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from None
    except InputError:
        raise
    except Exception as error:  # numpy's parser of the header raises what Python's own raises
        raise InputError(f"{where} is not a whole npy file: {_first_line(error)}") from None
    if not values.dtype.isnative:
        values = values.byteswap(inplace=True).view(values.dtype.newbyteorder())
    return _floats(values, values.dtype.itemsize == 8).reshape(_table_shape(shape))


def _from_safetensors(path: Path, name: str | None, geometry: LearnedGeometry | None) -> Table:
    where = show_path(path)
    _check_header(path)
    try:
        with safe_open(path, "numpy") as file:
            shapes = {key: tuple(file.get_slice(key).get_shape()) for key in _candidates(file.keys(), name)}
            chosen = _choose(where, shapes, name, geometry)
            kind = file.get_slice(chosen).get_dtype()
            shape = shapes[chosen]
            _check(f"{where}: the tensor {show(chosen)}", shape, kind in ("F64", "F32", "F16", "BF16"), kind)
            values = _bfloat16(path, chosen, shape) if kind == "BF16" else file.get_tensor(chosen)
    except SafetensorError as error:
        raise InputError(f"{where} is not a whole safetensors file: {_first_line(error)}") from None
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or _first_line(error)}") from None
    return _floats(values, kind == "F64").reshape(_table_shape(shape))


def _floats(values: npt.NDArray[Any], doubles: bool) -> Table:
    """``values`` as float64 or float32; where they are that already, without a copy, since a table may take 512 MB."""
    return values.astype(np.float64 if doubles else np.float32, copy=False)


def _check_header(path: Path) -> int:
    """The size of the header, which is bounded before the package reads it."""
    where = show_path(path)
    try:
        if not path.is_file():
            raise InputError(f"{where} is not a file")
        with path.open("rb") as file:
            size = file.read(8)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from None
    if len(size) < 8:
        raise InputError(f"{where} is not a whole safetensors file: it has {len(size)} bytes")
    (length,) = struct.unpack("<Q", size)
    if length > MAX_HEADER:
        raise InputError(f"{where} has a header of {length} bytes; at most {MAX_HEADER} are read")
    return length


def _bfloat16(path: Path, name: str, shape: Sequence[int]) -> npt.NDArray[np.float32]:
    """A bfloat16 tensor, which numpy has no type for: the upper half of each float32."""
    length = _check_header(path)
    with path.open("rb") as file:
        file.seek(8)
        header = Keys(parse_json_object(file.read(length), show_path(path)), show_path(path))
        entry = Keys(header.values[name], header.where)
        begin = entry.values["data_offsets"][0]
        count = int(np.prod(shape))
        file.seek(8 + length + begin)
        halves = np.frombuffer(file.read(2 * count), dtype="<u2")
    return (halves.astype(np.uint32) << 16).view(np.float32).reshape(tuple(shape))


def _from_gguf(path: Path, name: str | None, geometry: LearnedGeometry | None) -> Table:
    header = read_header(path)
    shapes = {key: header.tensors[key].shape[::-1] for key in _candidates(header.tensors, name)}
    chosen = _choose(header.where, shapes, name, geometry)
    _check(f"{header.where}: the tensor {show(chosen)}", shapes[chosen], True, "")
    return read_table(path, chosen)


def _candidates(names: Any, wanted: str | None) -> list[str]:
    """The tensors that may be the table, sorted by name."""
    if wanted is not None:
        return [wanted] if wanted in names else []
    return sorted(name for name in names if any(name == end or name.endswith("." + end) for end in USUAL_NAMES))


def _choose(
    where: str, shapes: dict[str, tuple[int, ...]], wanted: str | None, geometry: LearnedGeometry | None
) -> str:
    """The one name among those of ``shapes``; ``geometry`` decides between several."""
    if not shapes:
        if wanted is not None:
            raise InputError(f"{where} has no tensor {show(wanted)}")
        raise InputError(f"{where} has no tensor whose name is that of a position table; name the one that is meant")
    if len(shapes) == 1:
        return next(iter(shapes))
    fitting = list(shapes)
    if geometry is not None:
        wanted_shape = (geometry.rows, geometry.dimension)
        fitting = [name for name, shape in shapes.items() if len(shape) in (2, 3) and shape[-2:] == wanted_shape]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(show(name) for name in list(shapes)[:4]) + (", ..." if len(shapes) > 4 else "")
    raise InputError(f"{where} has {len(shapes)} tensors that may be the position table ({names}); name one of them")


def _in_folder(folder: Path, tensor: str | None) -> tuple[Path, str | None]:
    """The file of the folder's model that has the table, and the tensor's name where the folder's index gives it."""
    if (folder / "model.safetensors").exists():
        return folder / "model.safetensors", tensor
    index = folder / "model.safetensors.index.json"
    if index.exists():
        files = Keys(load_json_object(index), show_path(index)).object("weight_map")
        if files is None:
            raise InputError(f"{show_path(index)} has no weight_map")
        names = _candidates(files.values, tensor)
        chosen = _choose(files.where, dict.fromkeys(names, ()), tensor, None)
        return folder / (files.text(chosen) or ""), chosen  # a plain file name: text() takes no separators
    found = gguf_in(folder)
    if found is None:
        raise InputError(f"the folder {show_path(folder)} has no model.safetensors and no GGUF file")
    return found, tensor


def _check(where: str, shape: Sequence[int], floats: bool, kind: str) -> None:
    if not floats:
        raise InputError(f"{where} must hold floating-point numbers, not {kind}")
    if len(_table_shape(shape)) != 2 or 0 in shape:
        raise InputError(f"{where} must be a table of rows and columns, not of the shape {_shape(shape)}")
    rows, dimension = _table_shape(shape)
    if rows > MAX_ROWS or dimension > MAX_DIMENSION or rows * dimension > MAX_VALUES:
        raise InputError(f"{where} has {_shape(shape)} elements, more than the {MAX_VALUES} of the largest table read")


def _table_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """``shape`` without a leading 1, which vision models' tables have."""
    return tuple(shape[1:]) if len(shape) == 3 and shape[0] == 1 else tuple(shape)


def _shape(shape: Sequence[int]) -> str:
    return " x ".join(map(show, shape[:8])) + (" x ..." if len(shape) > 8 else "") or "()"


def _first_line(error: Exception) -> str:
    # numpy's header goes through Python's parser, which answers deep nesting with a MemoryError that says nothing
    text = " ".join(str(error).split()) or "its header makes no sense"
    return show_path(cut(text, 200))
