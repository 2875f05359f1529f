"""Tensors of a GGUF file that belong to its positions: divisors of frequencies, and learned tables.

A model that is split over several files (``NAME-00001-of-00003.gguf``, as llama.cpp's tools write) has its metadata in
the first and its tensors anywhere.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf.constants import GGMLQuantizationType
from gguf.quants import dequantize

from ..errors import InputError
from ..strict_json import Keys, show, show_path
from .gguf_header import read_header
from .gguf_values import Header, Tensor, opened
from .source import GGUF_PART, gguf_in

__all__ = ["gguf_in", "read_divisors", "read_gguf", "read_table", "table_shape"]

MAX_PARTS = 1 << 10
MAX_TABLE = 1 << 28
"""Bytes of the largest table that is read, as 32-bit floats."""

LEAST_DIVISOR, LARGEST_DIVISOR = 2.0**-20, 1e30
"""What divides a frequency. Converters write the largest one for a pair that is not rotated."""


def read_gguf(path: Path) -> Header:
    """The header of the model in ``path``, with the tensors of all files that it is split over.

    Raises
    ------
    InputError
        If a file cannot be read (see :func:`~ropewalk.models.gguf_header.read_header`), a part is missing, or ``path``
        is a part other than the first.
    """
    header = read_header(path)
    keys = Keys(header.metadata, header.where)
    count = keys.integer("split.count", 0, MAX_PARTS) or 1
    if keys.integer("split.no", 0, MAX_PARTS):
        raise keys.refuse("it is not the first part of a split model; give the first part, which has the metadata")
    if count == 1:
        return header
    name = GGUF_PART.fullmatch(path.name)
    if name is None or int(name["count"]) != count:
        raise keys.refuse(f"it is the first of {count} parts, but is not named ...-00001-of-{count:05}.gguf")
    tensors = dict(header.tensors)
    for number in range(2, count + 1):
        part = path.with_name(f"{name['stem']}-{number:05}-of-{count:05}{path.suffix}")
        for tensor in read_header(part).tensors.values():
            if tensor.name in tensors:
                raise keys.refuse(f"the tensor {show(tensor.name)} stands in it and again in {show_path(part)}")
            tensors[tensor.name] = tensor
    return replace(header, tensors=tensors)


def read_divisors(header: Header, name: str, count: int) -> tuple[float, ...] | None:
    """The ``count`` 32-bit floats of the tensor ``name``, as they are; None where there is no such tensor.

    Raises
    ------
    InputError
        If it has another type or shape, or a value that no frequency can be divided by.
    """
    tensor = header.tensors.get(name)
    if tensor is None:
        return None
    where = f"{header.where}: the tensor {name}"
    if tensor.kind != GGMLQuantizationType.F32:
        raise InputError(f"{where} must hold 32-bit floats, not {_kind(tensor)}")
    if tensor.shape != (count,):
        raise InputError(f"{where} must have {count} elements (rotary_dim / 2), not {_shape(tensor)}")
    values = tuple(float(value) for value in np.frombuffer(_data(tensor), dtype=f"{tensor.order}f4"))
    for index, value in enumerate(values):
        # the largest divisor as a 32-bit float is a little above the decimal number
        if not LEAST_DIVISOR <= value <= LARGEST_DIVISOR * (1 + 2.0**-23):
            raise InputError(
                f"{where} must hold divisors from {LEAST_DIVISOR:g} to {LARGEST_DIVISOR:g}, not {value!r} for pair "
                f"{index}"
            )
    return values


def table_shape(header: Header, name: str) -> tuple[int, int] | None:
    """Rows and columns of the table in the tensor ``name``; None where there is no such tensor."""
    tensor = header.tensors.get(name)
    if tensor is None:
        return None
    if len(tensor.shape) != 2 or 0 in tensor.shape:
        raise InputError(f"{header.where}: the tensor {name} must be a table, not {_shape(tensor)}")
    return tensor.shape[1], tensor.shape[0]


def read_table(path: Path, name: str = "position_embd.weight") -> npt.NDArray[np.float32]:
    """The table in the tensor ``name`` of the model in ``path``, ``[rows, columns]``, decoded where it is quantised.

    Raises
    ------
    InputError
        If there is no such table, it has a type that the ``gguf`` package cannot decode, or it is too large.
    """
    header = read_gguf(path)
    shape = table_shape(header, name)
    if shape is None:
        raise InputError(f"{header.where} has no tensor {name}")
    tensor = header.tensors[name]
    if shape[0] * shape[1] * 4 > MAX_TABLE:
        raise InputError(f"{header.where}: the tensor {name} is larger than {MAX_TABLE >> 20} MB")
    with np.errstate(all="ignore"):  # what a stranger's bytes decode to is looked at below
        table = _decoded(tensor, header.where).reshape(shape)
    if not np.isfinite(table).all():
        raise InputError(f"{header.where}: the tensor {name} holds a value that is not finite")
    return table


def _decoded(tensor: Tensor, where: str) -> npt.NDArray[np.float32]:
    """The values of ``tensor`` in the file's order."""
    kind = tensor.kind
    plain = {GGMLQuantizationType.F32: "f4", GGMLQuantizationType.F16: "f2", GGMLQuantizationType.F64: "f8"}
    if kind is not None and kind in plain:
        return np.frombuffer(_data(tensor), dtype=tensor.order + plain[kind]).astype(np.float32)
    refusal = InputError(f"{where}: the tensor {tensor.name} cannot be decoded from {_kind(tensor)}")
    if kind is None or tensor.order == ">":
        raise refusal
    decoded: Any
    try:
        decoded = dequantize(np.frombuffer(_data(tensor), dtype=np.uint8).reshape(tensor.shape[1], -1), kind)
    except NotImplementedError:
        raise refusal from None
    return np.asarray(decoded, dtype=np.float32)


def _data(tensor: Tensor) -> bytes:
    with opened(tensor.path) as file:
        file.seek(tensor.start)
        data = file.read(tensor.size)
    if len(data) < tensor.size:
        raise InputError(f"{show_path(tensor.path)} became shorter while it was read")
    return data


def _kind(tensor: Tensor) -> str:
    return "an unknown type" if tensor.kind is None else tensor.kind.name


def _shape(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "a single number"
