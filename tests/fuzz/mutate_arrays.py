"""Seeded damage to files of arrays: npz, npy, and weights with a learned table."""

import io
import struct
import zipfile
from random import Random
from typing import Any

import numpy as np

from . import seeds
from .mutate import NUMBERS, changed, damaged, few, json_bytes
from .mutate_gguf import change_gguf


def npz(random: Random, arrays: dict[str, np.ndarray]) -> bytes:
    """An npz file of ``arrays`` with changes: of the arrays, of the headers of npy, of the archive."""
    members = dict(arrays)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        name = random.choice(sorted(members) or ["q"])
        array = members.get(name, np.zeros(3))
        match random.randrange(8):
            case 0:
                members.pop(name, None)
            case 1:
                members[random.choice(("x", "v", "Q", "position", "../q", "", "\x1b[2J", "\u202eq", "q\n" * 99))] = (
                    array
                )
            case 2:
                kind = random.choice(("f2", "f4", "f8", "c8", "?", "i1", "u8", "U4", "S3", ">i4"))
                with np.errstate(all="ignore"):
                    members[name] = (array if array.dtype.kind in "iufb" else np.zeros(3)).astype(kind)
            case 3:
                members[name] = array.reshape(-1)[: random.randrange(array.size + 1)]
            case 4:
                members[name] = np.full(array.shape, random.choice([n for n in NUMBERS if isinstance(n, float)]))
            case 5:
                members[name] = np.full(array.shape, random.choice((-1, 300, 1 << 24, 1 << 40, -(1 << 63))))
            case 6:
                members[name] = np.zeros(random.choice(((), (0,), (3, 1), (1,) * 9, (0, 1 << 40))), "i8")
            case _:
                members[name] = np.full(array.shape, random.choice(("default", "sliding_attention", "x", "\x1b" * 3)))
    files = [(name + ".npy", seeds.npy(array)) for name, array in members.items()]
    if files and random.random() < 0.25:
        spot = random.randrange(len(files))
        files[spot] = files[spot][0], npy_bytes(random, files[spot][1])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as target:
        for name, data in files:
            target.writestr(zipfile.ZipInfo(name or "."), data)
        if random.random() < 0.03:
            target.writestr("zeros.npy", bytes(1 << 22), zipfile.ZIP_DEFLATED)
    data = archive.getvalue()
    return damaged(random, data) if random.random() < 0.2 else data


def npy_bytes(random: Random, data: bytes) -> bytes:
    """An npy file with another header, or damage anywhere."""
    kinds = ("|O", "<i8", "<f4", "|V0", "|S0", "<U1073741824", "<M8[ns]", "(2,)<i4", "x", "<f16", "<f8", ">f8")
    shape = random.choice(
        (
            "(3,)",
            "(-1,)",
            "(1099511627776, 1099511627776)",
            "()",
            "(True,)",
            "[3]",
            "(3.0,)",
            "(0, 5)",
            "(8388608, 8)",
            "(" + "1, " * 2000 + ")",
            f"(0x{'f' * 9000},)",
        )
    )
    kind = random.choice(
        (
            *(repr(one) for one in kinds),
            "[('a', '<i4')]",
            f"[('{'n' * 5000}', '<i4')]",
            "__import__('os')",
            "open('x','w')",
        )
    )
    text = f"{{'descr': {kind}, 'fortran_order': {random.choice(('False', 'True', '2'))}, 'shape': {shape}, }}"
    if random.random() < 0.2:
        text = random.choice(("(" * 5000, "{" * 300, text + "\x00", text.replace("shape", "x"), "-" * 9000, "9" * 6000))
    if random.random() < 0.6:
        head = text.encode("latin1") + b"\n"
        return (
            b"\x93NUMPY" + random.choice((b"\1\0", b"\1\0", b"\7\0")) + struct.pack("<H", len(head)) + head + data[-72:]
        )
    return damaged(random, data)


def weights(random: Random) -> tuple[str, bytes]:
    """A weight file with a learned table, damaged: its suffix and its bytes."""
    table = np.linspace(-1, 1, 48, dtype="<f4").reshape(6, 8)
    match random.randrange(3):
        case 0:
            return ".npy", npy_bytes(random, seeds.npy(table))
        case 1:
            file = seeds.gguf_file("gpt2", 0, 3)
            file.tensors[0].kind = random.choice((0, 0, 1, 2, 8, 24, 30))
            for _ in range(few(random)):
                change_gguf(random, file)
            return ".gguf", file.encode()
    header: Any = {
        "wpe.weight": {"dtype": random.choice(("F32", "BF16", "F16", "I8")), "shape": [6, 8], "data_offsets": [0, 192]}
    }
    for _ in range(random.randrange(4)):
        header = changed(random, header)
    text = json_bytes(random, header)
    data = struct.pack("<Q", random.choice((len(text), len(text), len(text), 1 << 62, 0))) + text + table.tobytes()
    return ".safetensors", damaged(random, data) if random.random() < 0.5 else data
