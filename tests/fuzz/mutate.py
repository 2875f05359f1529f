"""Seeded damage to JSON documents, and to the bytes of anything.

Every function draws from the given ``random.Random`` alone, so that an example is known by its seed and number.
"""

import copy
import itertools
import json
import zlib
from random import Random
from typing import Any

from . import seeds

NUMBERS: tuple[Any, ...] = (
    0, -1, 1, 2, 3, 7, 31, 32, 33, 63, 64, 65, 96, 127, 128, 255, 256, 4096, 4097, 1 << 15, 1 << 24, (1 << 31) - 1,
    1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, (1 << 40) + 1, 1 << 53, (1 << 63) - 1, 1 << 64, 10**38, 10**39, 10**41,
    -(1 << 63), 0.0, -0.0, 0.3, 0.5, 1.0, 1.5, 2.5, -0.5, 1e-300, 5e-324, 1e-7, 1e4, 1e6, 1e30, 3.4e38, 1e308, -1e308,
    float("nan"), float("inf"), float("-inf"), 4096.0, 64.5, 0.1 + 0.2,
)  # fmt: skip
TEXTS = (
    "", "yarn", "default", "null", "None", "NaN", "128", "1e4", "llama", "full_attention", "\x00", "\x1b[2J", "\u202e",
    "é", "\U0001f600" * 20, "\ud800", "../../etc/passwd", "__class__", "{0.__class__}", "%s%n", "${HOME}", "a\nb",
    "!!python/object/apply:os.system", "c" * 65, "cos\nsystem", "/dev/zero", "x" * 300,
)  # fmt: skip
TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"-1e400", b"1" * 5000, b"[" * 3000, b'{"a":' * 3000, b"\\ud800", b"\x00", b"\xff",
    b"\xef\xbb\xbf", b"//", b"null", b"true", b"-0", b"0x10", b"1_000", b"01", b'"', b"\\", b",", b"}", b"]", b":",
    b'"model_type":"llama",', b'"rope_scaling":null,', b"'", b"\xc3\x28", b"\xed\xa0\x80", b"\x7f", b"2e-310", b"'\n",
)  # fmt: skip


def odd_value(random: Random, depth: int = 0) -> Any:
    """Any JSON value."""
    match random.randrange(12 if depth < 2 else 7):
        case 0:
            return None
        case 1:
            return random.random() < 0.5
        case 2 | 3:
            return random.choice(NUMBERS)
        case 4:
            return random.choice((random.randrange(-3, 300), random.uniform(-2, 2), random.uniform(0, 1e6)))
        case 5 | 6:
            return random.choice(TEXTS)
        case 7 | 8:
            return [odd_value(random, depth + 1) for _ in range(random.randrange(4))]
        case 9:
            return {random.choice(TEXTS): odd_value(random, depth + 1) for _ in range(random.randrange(3))}
        case 10:
            return copy.deepcopy(random.choice(seeds.parts())[1])
        case _:
            return [random.choice(NUMBERS)] * random.choice((1, 16, 31, 32, 64, 4097, 20_000))


def configuration(random: Random) -> Any:
    """A sound configuration with one to five changes."""
    config = copy.deepcopy(random.choice(seeds.configurations()))
    for _ in range(few(random)):
        config = changed(random, config)
    if random.random() < 0.02:
        config = random.choice(
            ([config], {"text_config": config}, {"text_config": config, **config}, odd_value(random))
        )
    return config


def changed(random: Random, document: Any) -> Any:
    """``document`` with one change; it may be changed in place."""
    places = list(_places(document))
    if not places:
        return odd_value(random)
    holder, key = random.choice(places)
    value = holder[key]
    match random.randrange(17):
        case 0:
            del holder[key]
        case 1:
            holder[key] = None
        case 2 | 3:
            holder[key] = odd_value(random)
        case 4 | 5 | 6 if isinstance(value, (int, float)):
            holder[key] = near(random, value)
        case 7:
            if isinstance(holder, dict):
                holder[renamed(random, key)] = holder.pop(key)
        case 8 | 9 | 10:
            name, part = random.choice(seeds.parts())
            target = holder if isinstance(holder, dict) else document
            if isinstance(target, dict):
                target[name] = copy.deepcopy(part)
        case 11 if isinstance(document, dict) and "model_type" in document:
            document["model_type"] = random.choice(seeds.families())
        case 12 if isinstance(document, dict):
            scaling = copy.deepcopy(random.choice(seeds.SCALINGS))
            document[random.choice(("rope_scaling", "rope_parameters"))] = scaling
        case 13:
            lists = [(holder, key) for holder, key in places if isinstance(holder[key], list)]
            holder, key = random.choice(lists or [(holder, key)])
            holder[key] = _other_length(random, holder[key])
        case 14:
            other, name = random.choice(places)
            holder[key], other[name] = copy.deepcopy(other[name]), copy.deepcopy(value)
        case 15:
            for _ in range(random.choice((1, 2, 60))):
                value = [value] if random.random() < 0.5 else {"x": value}
            holder[key] = value
        case _:
            target = holder if isinstance(holder, dict) else document
            if isinstance(target, dict):
                target[random.choice((*TEXTS, "rope_new_key", "k" * 5000))] = odd_value(random)
    return document


def json_bytes(random: Random, document: Any) -> bytes:
    """``document`` as JSON, sometimes with a key twice."""
    text = json.dumps(document, ensure_ascii=random.random() < 0.7, indent=random.choice((None, 2)))
    data = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.03 and data[:1] == b"{" and len(data) > 2:
        name, part = random.choice(seeds.parts())
        data = b"{" + json.dumps({name: part}).encode()[1:-1] + b"," + data[1:]
    return data


def damaged(random: Random, data: bytes, tokens: tuple[bytes, ...] = TOKENS) -> bytes:
    """``data`` with one to five changes of its bytes."""
    whole = bytearray(data)
    for _ in range(few(random)):
        place = random.randrange(len(whole) + 1)
        match random.randrange(9):
            case 0 | 1 if place < len(whole):
                whole[place] ^= 1 << random.randrange(8)
            case 2 if place < len(whole):
                whole[place] = random.randrange(256)
            case 3:
                del whole[place : place + random.choice((1, 2, 8, 60))]
            case 4:
                whole[place:place] = whole[place : place + random.randrange(1, 60)]
            case 5 if random.random() < 0.5:
                del whole[place:]
            case 6:
                whole[place : place + random.choice((0, 1, 8))] = random.choice(tokens)
            case 7:
                size = random.choice((4, 8))
                number = random.choice((0, 1, 9, 1 << 16, 1 << 20, 1 << 31, (1 << 32) - 1, 1 << 63)) % (1 << 8 * size)
                whole[place : place + size] = number.to_bytes(size, random.choice(("little", "big")))
            case _:
                end = random.randrange(len(whole) + 1)
                span = whole[place : place + random.randrange(1, 30)]
                whole[end : end + len(span)] = span
    return bytes(whole)


def fingerprint(data: bytes) -> int:
    """A fingerprint of an example's bytes."""
    return zlib.crc32(data) << 32 | zlib.adler32(data)


def few(random: Random) -> int:
    """How many changes: one to five, mostly one or two."""
    return min(5, 1 + int(random.expovariate(0.9)))


def near(random: Random, value: Any) -> Any:
    """A number near ``value`` in some sense, or any odd one."""
    try:
        return random.choice(
            (value + 1, value - 1, -value, value * 2, value / 2, value * 1000, float(value), int(value), 0, str(value))
            if random.random() < 0.7 else NUMBERS
        )  # fmt: skip
    except (OverflowError, ValueError, TypeError):
        return random.choice(NUMBERS)


def renamed(random: Random, key: Any) -> str:
    """Another key, which looks like ``key`` or is one of a sound configuration."""
    text = str(key)
    part = random.choice(seeds.parts())[0]
    return random.choice(
        (part, text.upper(), text + "_", text[1:], text.replace("o", "\u043e"), "my_" + text, text * 20)
    )


def _other_length(random: Random, value: Any) -> Any:
    items = value if isinstance(value, list) else [value]
    match random.randrange(6):
        case 0:
            return items[:-1]
        case 1:
            return items + items[-1:]
        case 2:
            return []
        case 3:
            length = random.choice((4097, 20_000))
            if any(isinstance(item, (list, dict)) for item in items):
                length = 60  # the file would take hundreds of MB, which says nothing about the reader
            return list(itertools.islice(itertools.cycle(items or [0]), length))
        case 4:
            return items + [odd_value(random)]
        case _:
            return [items] * 3


def _places(document: Any) -> Any:
    """Every (holder, key) of a document; of a long list only its first and last items."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            keys: Any = value.keys()
        elif isinstance(value, list):
            keys = range(len(value)) if len(value) < 6 else (0, 1, len(value) - 1)
        else:
            continue
        for key in list(keys):
            yield value, key
            waiting.append(value[key])
