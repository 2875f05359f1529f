"""Seeded damage to GGUF files, of their values; what is done to bytes is in :mod:`fuzz.mutate`."""

import copy
import math
import struct
from random import Random
from typing import Any

from . import seeds
from .gguf_files import ARRAY, BOOL, CODES, F32, F64, I32, TEXT, U8, U32, U64, GgufFile, Tensor
from .mutate import NUMBERS, TEXTS, few, near, renamed


def gguf(random: Random) -> GgufFile:
    """A GGUF file of some architecture with one to five changes of its values."""
    file = seeds.gguf_file(
        random.choice(seeds.architectures()), random.choice((0, 0, 1, 2)), random.choice((0, 0, 0, 0, 1, 2, 3))
    )
    for _ in range(few(random)):
        change_gguf(random, file)
    return file


def change_gguf(random: Random, file: GgufFile) -> None:
    """One change of a value, a name, a tensor or a count of ``file``."""
    entries = file.entries
    spot = random.randrange(len(entries)) if entries else 0
    prefix = next((entry[2] for entry in entries if entry[0] == b"general.architecture"), b"llama")
    prefix = prefix if isinstance(prefix, bytes) else b"llama"
    action = random.randrange(16)
    if action in (0, 1, 2, 3) or not entries:
        key, (kind, value) = random.choice(
            [*seeds.GGUF_KEYS.items(), *seeds.GGUF_YARN.items(), *seeds.GGUF_MORE.items()]
        )
        name = prefix + b"." + key.encode()
        if action < 2:
            kind, value = _odd_gguf_value(random)
        elif action == 2 and kind in (U32, F32):
            value = _near_number(random, kind, value)
        entry = [name, kind, value]
        found = [index for index, held in enumerate(entries) if held[0] == name]
        if found and random.random() < 0.95:
            entries[found[0]] = entry
        else:
            entries.append(entry)
        return
    name, kind, value = entries[spot]
    match action:
        case 4:
            del entries[spot]
        case 5:
            entries.insert(random.randrange(len(entries) + 1), copy.deepcopy(entries[spot]))
        case 6 | 7:
            entries[spot] = [name, *_odd_gguf_value(random)]
        case 8 if kind in CODES:
            wanted = random.choice((F32, F64) if kind in (F32, F64) else (U8, U32, I32, U64, kind))
            entries[spot] = [name, wanted, _near_number(random, wanted, value)]
        case 9:
            other = renamed(random, name.decode("utf-8", "replace")).encode("utf-8", "replace")
            entries[spot] = [random.choice((other, b"", b"\xff\xfe", b"n" * 70_000)), kind, value]
        case 10:
            other = random.choice(seeds.architectures()).encode()
            whole = random.random() < 0.7
            for entry in entries:
                if entry[0] == b"general.architecture":
                    entry[1:] = [TEXT, other if random.random() < 0.95 else random.choice((b"", b"\x1b", b"a" * 70))]
                elif whole and entry[0].startswith(prefix + b"."):
                    entry[0] = other + entry[0][len(prefix) :]
        case 11:
            file.version = random.choice((1, 2, 3, 3, 0, 4, 1 << 16, (1 << 32) - 1))
            file.big = random.random() < 0.3
        case 12:
            count = random.choice((0, 1, len(entries) + 1, 1 << 14, (1 << 14) + 1, 1 << 40, 1 << 63))
            if random.random() < 0.5:
                file.key_count = count
            else:
                file.tensor_count = random.choice((count, 1 << 17))
        case 13 if file.tensors:
            _change_tensor(random, random.choice(file.tensors))
        case 14:
            more = random.choice(
                (b"rope_freqs.weight", b"position_embd.weight", b"blk.0.attn_q.weight", b"", b"x" * 2000)
            )
            file.tensors.append(Tensor(more, [random.choice((32, 64, 8)), random.choice((1, 6))], 0, seeds.DIVISORS))
        case _:
            entries.append(random.choice((
                [b"split.count", U32, random.choice((0, 1, 2, 1 << 20))],
                [b"split.no", U32, random.choice((0, 1, 9))],
                [b"general.alignment", U32, random.choice((0, 1, 3, 64, 1 << 31))],
                [b"tokenizer.chat_template", TEXT, b"{{ x }}" * 1000],
                [b"tokenizer.ggml.scores", ARRAY, (F32, [0.5] * 5000)],
            )))  # fmt: skip


def _change_tensor(random: Random, tensor: Tensor) -> None:
    match random.randrange(6):
        case 0:
            tensor.shape = [
                random.choice((0, 1, 31, 32, 33, 1 << 20, 1 << 40, 1 << 63)) for _ in range(random.randrange(6))
            ]
        case 1:
            tensor.kind = random.choice((1, 2, 8, 12, 24, 28, 30, 31, 4, 99, (1 << 32) - 1))
        case 2:
            tensor.offset = random.choice((0, 1, 32, 1 << 20, (1 << 64) - 32, 1 << 63))
        case 3:
            odd = random.choice((0.0, -1.0, 1e30, 1e-30, float("nan"), float("inf"), 3e38))
            place = 4 * random.randrange(max(len(tensor.data) // 4, 1))
            tensor.data = tensor.data[:place] + struct.pack("<f", odd) + tensor.data[place + 4 :]
        case 4:
            tensor.data = tensor.data[: random.randrange(len(tensor.data) + 1)]
        case _:
            tensor.name = random.choice(
                (b"rope_freqs.weight", b"rope_factors_long.weight", b"position_embd.weight", b"\n")
            )


def _odd_gguf_value(random: Random) -> tuple[int, Any]:
    match random.randrange(10):
        case 0 | 1:
            return U32, random.choice((0, 1, 2, 3, 4, 7, 31, 32, 33, 64, 96, 255, 4096, 1 << 16, (1 << 32) - 1))
        case 2:
            return random.choice((U64, I32, U8)), random.choice((0, 1, -1, 64, 1 << 31, (1 << 63) + 1))
        case 3 | 4:
            return F32, float(random.choice([number for number in NUMBERS if isinstance(number, float)]))
        case 5:
            return F64, float(random.choice(NUMBERS))
        case 6:
            return BOOL, random.choice((0, 1, 2, 255))
        case 7:
            long = random.choice(TEXTS).encode("utf-8", "replace") * random.choice((1, 1, 1, 500))
            return TEXT, random.choice((b"yarn", b"linear", b"longrope", b"none", b"\xff", long))
        case 8:
            kind = random.choice((U32, I32, BOOL, F32, U8))
            length = random.choice((0, 1, 3, 4, 5, 4096, 5000))
            return ARRAY, (kind, [random.randrange(0, 2 if kind == BOOL else 70) for _ in range(length)])
        case _:
            claimed = random.choice((0, 1 << 12, 1 << 22, 1 << 32, 1 << 60))
            return random.choice((
                (ARRAY, (TEXT, [b"a", b""])),
                (ARRAY, (ARRAY, [(U8, [1])])),
                (ARRAY, (random.choice((U8, U32, F64, TEXT)), [], claimed)),
                (random.choice((13, 99, (1 << 32) - 1)), 1),
            ))  # fmt: skip


def _near_number(random: Random, kind: int, value: Any) -> int | float:
    odd = near(random, value)
    number = 0.0 if isinstance(odd, str) else float(odd)
    if kind in (F32, F64):
        return number
    return int(number) if math.isfinite(number) else 0
