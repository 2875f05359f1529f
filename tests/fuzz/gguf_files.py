"""GGUF files as plain values that a mutator can change anywhere, and their bytes, however wrong.

The format: github.com/ggml-org/ggml, ``docs/gguf.md``.
"""

import struct
from dataclasses import dataclass, field
from typing import Any

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)
CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}


@dataclass
class Tensor:
    """A tensor: ``shape`` fastest first, ``offset`` None where it follows the one before."""

    name: bytes
    shape: list[int]
    kind: int
    data: bytes
    offset: int | None = None


@dataclass
class GgufFile:
    """A file. ``entries`` are [name, type, value]; an array's value is (type, items) and may carry a third, its claimed
    length. The counts are the true ones where they are None."""

    entries: list[list[Any]]
    tensors: list[Tensor] = field(default_factory=list)
    version: int = 3
    big: bool = False
    key_count: int | None = None
    tensor_count: int | None = None
    alignment: int = 32

    def encode(self) -> bytes:
        """The bytes. Values that a type cannot hold are cut to its width."""
        order = ">" if self.big else "<"
        length = order + ("I" if self.version == 1 else "Q")
        wide = 32 if self.version == 1 else 64

        def number(code: str, value: int) -> bytes:
            bits = 8 * struct.calcsize("=" + code[-1])
            return struct.pack(code, int(value) % (1 << bits))

        def text(value: bytes) -> bytes:
            return struct.pack(length, len(value) % (1 << wide)) + value

        def value_of(kind: int, value: Any) -> bytes:
            if kind == TEXT:
                return text(value)
            if kind == ARRAY:
                claimed = value[2] if len(value) > 2 else len(value[1])
                items = b"".join(value_of(value[0], item) for item in value[1])
                return number(order + "I", value[0]) + number(length, claimed) + items
            code = CODES.get(kind, "I")
            if code in "fd":
                try:
                    return struct.pack(order + code, value)
                except OverflowError:
                    return struct.pack(order + code, float("inf"))
            bits = 8 * struct.calcsize("=" + code)
            whole = int(value) % (1 << bits)
            return struct.pack(order + code.upper(), whole)

        head = [b"GGUF", struct.pack(order + "I", self.version % (1 << 32))]
        head.append(number(length, len(self.tensors) if self.tensor_count is None else self.tensor_count))
        head.append(number(length, len(self.entries) if self.key_count is None else self.key_count))
        for name, kind, value in self.entries:
            head += [text(name), number(order + "I", kind), value_of(kind, value)]
        data = bytearray()
        for tensor in self.tensors:
            head += [text(tensor.name), number(order + "I", len(tensor.shape))]
            head += [number(length, size) for size in tensor.shape]
            head.append(number(order + "I", tensor.kind))
            head.append(number(order + "Q", len(data) if tensor.offset is None else tensor.offset))
            data += tensor.data + bytes(-len(tensor.data) % self.alignment)
        start = b"".join(head)
        return start + bytes(-len(start) % self.alignment) + bytes(data)
