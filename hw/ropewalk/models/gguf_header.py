"""The header of a GGUF file that a stranger wrote: typed metadata and the list of tensors, bounded and checked.

Why the ``gguf`` package's own reader is not used: it maps the file and makes a numpy view of every array element and of
every byte of a string, whatever their number. A 253 MB file with a usual vocabulary of 262,144 tokens takes it 20 s and
687 MB (measured with 0.19.0), a hostile one any amount; what it reads past the end of a file is silently short, nested
arrays recurse, and it does not know version 1. From the package come the tables of the format (value types, block sizes
of tensor types) and the decoding of quantised tables; the tests hold this reader to the package's on files that its
writer made.

Here the file is read forward in small pieces, values that no geometry needs (vocabularies) are skipped without being
kept, every count is checked against a bound before anything is made, and every offset against the size of the file.
The format: github.com/ggml-org/ggml, ``docs/gguf.md``; versions 1 (32-bit lengths), 2 and 3, either byte order.
"""

import math
import os
import struct
from pathlib import Path
from typing import Any, BinaryIO

from gguf.constants import GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, GGMLQuantizationType, GGUFValueType

from ..errors import InputError
from ..strict_json import show, show_path
from .gguf_values import Header, Skipped, Tensor, opened, shortest

MAGIC = b"GGUF"

MAX_KEYS = 1 << 14
"""Metadata keys. Published files have below 100."""
MAX_TENSORS = 1 << 17
"""Tensors. The largest published models, one tensor per expert, have below 2**16."""
MAX_NAME = 1 << 16
"""Bytes of a key: the format's own bound."""
MAX_TENSOR_NAME = 1 << 10
"""Bytes of a tensor's name. (llama.cpp takes 63.)"""
MAX_TEXT = 1 << 10
"""Bytes of a text value that is kept. Longer ones (chat templates) are skipped."""
MAX_ITEMS = 1 << 12
"""Elements of an array that is kept: one per layer of the largest model that is taken. Longer ones are skipped."""
MAX_STRINGS = 1 << 22
"""Strings in all arrays together, which have to be stepped over one by one. Vocabularies have below 2**20."""
MAX_KEPT = 1 << 24
"""Bytes of everything that is kept."""
MAX_DIMENSIONS = 4
MAX_ALIGNMENT = 1 << 20

_SCALARS = {
    GGUFValueType.UINT8: "B",
    GGUFValueType.INT8: "b",
    GGUFValueType.UINT16: "H",
    GGUFValueType.INT16: "h",
    GGUFValueType.UINT32: "I",
    GGUFValueType.INT32: "i",
    GGUFValueType.UINT64: "Q",
    GGUFValueType.INT64: "q",
    GGUFValueType.FLOAT32: "f",
    GGUFValueType.FLOAT64: "d",
}


def read_header(path: Path) -> Header:
    """The header of the GGUF file ``path``.

    Scalars become int, float, bool and str, short arrays lists of them; a 32-bit float becomes the shortest decimal
    number that rounds to it, which is what its author wrote. Longer values become :class:`Skipped`.

    Raises
    ------
    InputError
        If the file cannot be read, is not a regular file, is not GGUF of version 1 to 3, is cut off, repeats a key or a
        tensor's name, nests arrays, or exceeds a bound of this module.
    """
    where = show_path(path)
    with opened(path) as file:
        return _Reader(file, path, where).header()


class _Reader:
    """One pass over a header. Offsets only grow, and nothing is taken that the file does not hold."""

    def __init__(self, file: BinaryIO, path: Path, where: str) -> None:
        self.file = file
        self.path = path
        self.where = where
        self.size = os.fstat(file.fileno()).st_size
        self.order = "<"
        self.length = "Q"
        self.place = "its first bytes"
        self.strings = 0
        self.kept = 0

    def header(self) -> Header:
        if self.take(4) != MAGIC:
            raise self.refuse('it does not begin with "GGUF"')
        version = self.version()
        self.place = "its counts"
        tensor_count = self.count("tensors", MAX_TENSORS)
        key_count = self.count("metadata keys", MAX_KEYS)
        metadata: dict[str, Any] = {}
        for index in range(key_count):
            self.place = f"metadata key {index}"
            name = self.name(MAX_NAME)
            if name in metadata:
                raise self.refuse(f"the key {show(name)} stands twice")
            self.place = f"the value of {show(name)}"
            metadata[name] = self.value()
        alignment = metadata.get("general.alignment", GGUF_DEFAULT_ALIGNMENT)
        if type(alignment) is not int or not 1 <= alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
            raise self.refuse(
                f"general.alignment must be a power of two of at most {MAX_ALIGNMENT}, not {show(alignment)}"
            )
        infos = self.tensor_infos(tensor_count)
        begin = -(-self.file.tell() // alignment) * alignment
        tensors = {name: self.tensor(name, begin, alignment, *info) for name, info in infos.items()}
        return Header(self.where, self.path, version, self.order, metadata, tensors)

    def version(self) -> int:
        self.place = "its version"
        data = self.take(4)
        version = struct.unpack("<I", data)[0]
        if version & 0xFFFF == 0:  # written on a machine of the other byte order
            self.order = ">"
            version = struct.unpack(">I", data)[0]
        if not 1 <= version <= 3:
            raise self.refuse(f"it has GGUF version {version}; versions 1 to 3 are known")
        if version == 1:
            self.length = "I"
        return version

    def value(self) -> Any:
        kind = self.kind()
        if kind == GGUFValueType.ARRAY:
            return self.array()
        if kind == GGUFValueType.STRING:
            size = self.number(self.length)
            if size > MAX_TEXT:
                self.skip(size)
                return Skipped(f"a text of {size} bytes")
            return self.decode(self.keep(size))
        return self.scalars(kind, 1)[0]

    def array(self) -> Any:
        kind = self.kind()
        count = self.number(self.length)
        if kind == GGUFValueType.ARRAY:
            raise self.refuse(f"{self.place} is an array of arrays, which no key that is known has")
        if kind == GGUFValueType.STRING:
            self.strings += count
            if self.strings > MAX_STRINGS:
                raise self.refuse(f"{self.place} and the arrays before it hold more than {MAX_STRINGS} strings")
            self.skip_strings(count)
            return Skipped(f"a list of {count} texts")
        if count > MAX_ITEMS:
            self.skip(count * _size(kind))
            return Skipped(f"a list of {count}")
        return self.scalars(kind, count)

    def scalars(self, kind: GGUFValueType, count: int) -> list[Any]:
        data = self.keep(count * _size(kind))
        self.kept += 40 * count  # what they take as objects
        if kind == GGUFValueType.BOOL:
            if any(byte > 1 for byte in data):
                raise self.refuse(f"{self.place} must be true or false (bytes 1 and 0), not {max(data)}")
            return [byte == 1 for byte in data]
        values = list(struct.unpack(f"{self.order}{count}{_SCALARS[kind]}", data))
        if kind == GGUFValueType.FLOAT32:
            return [shortest(value) for value in values]
        return values

    def tensor_infos(self, count: int) -> dict[str, tuple[tuple[int, ...], int, int]]:
        infos: dict[str, tuple[tuple[int, ...], int, int]] = {}
        for index in range(count):
            self.place = f"tensor {index}"
            name = self.name(MAX_TENSOR_NAME)
            if name in infos:
                raise self.refuse(f"the tensor {show(name)} stands twice")
            self.place = f"the tensor {show(name)}"
            dimensions = self.number("I")
            if dimensions > MAX_DIMENSIONS:
                raise self.refuse(f"{self.place} has {dimensions} dimensions; at most {MAX_DIMENSIONS} are known")
            shape = tuple(self.number(self.length) for _ in range(dimensions))
            kind = self.number("I")
            infos[name] = shape, kind, self.number("Q")
        return infos

    def tensor(self, name: str, begin: int, alignment: int, shape: tuple[int, ...], number: int, offset: int) -> Tensor:
        """The tensor, whole and in the file."""
        self.place = f"the tensor {show(name)}"
        if offset % alignment:
            raise self.refuse(f"{self.place} begins at {offset}, which is no multiple of the alignment {alignment}")
        try:
            kind = GGMLQuantizationType(number)
        except ValueError:  # a newer type, which matters only to who reads this tensor
            return Tensor(name, shape, None, begin + offset, 0, self.path, self.order)
        block, block_size = GGML_QUANT_SIZES[kind]
        elements = math.prod(shape)
        if shape and shape[0] % block:
            raise self.refuse(f"{self.place} has rows of {shape[0]} elements, which are no whole blocks of {block}")
        size = elements // block * block_size
        if begin + offset + size > self.size:
            raise self.refuse(f"it is cut off: {self.place} ends at byte {begin + offset + size} of {self.size}")
        return Tensor(name, shape, kind, begin + offset, size, self.path, self.order)

    def kind(self) -> GGUFValueType:
        number = self.number("I")
        try:
            return GGUFValueType(number)
        except ValueError:
            raise self.refuse(f"{self.place} has the unknown type {number}") from None

    def count(self, what: str, most: int) -> int:
        count = self.number(self.length)
        if count > most:
            raise self.refuse(f"it claims {count} {what}; at most {most} are read")
        return count

    def name(self, most: int) -> str:
        size = self.number(self.length)
        if not 0 < size <= most:
            raise self.refuse(f"the name of {self.place} has {size} bytes; it must have 1 to {most}")
        return self.decode(self.keep(size))

    def decode(self, data: bytes) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise self.refuse(f"{self.place} is not UTF-8 text") from None

    def number(self, code: str) -> int:
        return struct.unpack(self.order + code, self.take(struct.calcsize("=" + code)))[0]

    def keep(self, size: int) -> bytes:
        self.kept += size
        if self.kept > MAX_KEPT:
            raise self.refuse(f"its header holds more than {MAX_KEPT >> 20} MB beside the vocabulary")
        return self.take(size)

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes, a small number."""
        data = self.file.read(size)
        if len(data) < size:
            raise self.cut_off()
        return data

    def skip(self, size: int) -> None:
        if size > self.size - self.file.tell():
            raise self.cut_off()
        if size < 1 << 12:
            self.file.read(size)  # quicker than seeking, which empties the buffer
        else:
            self.file.seek(size, os.SEEK_CUR)

    def skip_strings(self, count: int) -> None:
        """Step over ``count`` strings: the one loop whose length a vocabulary decides."""
        read, unpack = self.file.read, struct.Struct(self.order + self.length).unpack
        width = struct.calcsize("=" + self.length)
        for _ in range(count):
            data = read(width)
            if len(data) < width:
                raise self.cut_off()
            size = unpack(data)[0]
            if size > 1 << 12:
                self.skip(size)
            elif len(read(size)) < size:
                raise self.cut_off()

    def cut_off(self) -> InputError:
        return self.refuse(f"it is cut off in {self.place} (it has {self.size} bytes)")

    def refuse(self, sentence: str) -> InputError:
        return InputError(f"{self.where} is not a GGUF file that can be read: {sentence}")


def _size(kind: GGUFValueType) -> int:
    return 1 if kind == GGUFValueType.BOOL else struct.calcsize("=" + _SCALARS[kind])
