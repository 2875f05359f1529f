"""GGUF files made to hurt: a sane geometry or one sentence comes out, in bounded time and memory, and nothing else."""

import json
import math
import struct
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry import geometry_from_json, geometry_to_json
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk.models import read_model
from ropewalk.models.gguf_architectures import ARCHITECTURES, REFUSED

U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 = range(13)
CODES = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def encode(kind, value):
    """The bytes of one value, of any type that the format has."""
    if kind == TEXT:
        return struct.pack("<Q", len(value)) + value
    if kind == ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(encode(inner, item) for item in items)
    return struct.pack("<" + CODES[kind], value)


def file_of(entries, tensors):
    """A file of ``entries`` (name, type, value) and ``tensors`` (name, shape, type, bytes), in this order."""
    head = b"".join(encode(TEXT, name) + struct.pack("<I", kind) + encode(kind, value) for name, kind, value in entries)
    offset, data = 0, b""
    for name, shape, kind, values in tensors:
        head += encode(TEXT, name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
        data += values + bytes(-len(values) % 32)
        offset = len(data)
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + head
    return start + bytes(-len(start) % 32) + data


SOUND = {
    "block_count": (U32, 4),
    "context_length": (U32, 4096),
    "embedding_length": (U32, 256),
    "attention.head_count": (U32, 4),
    "attention.head_count_kv": (U32, 2),
    "attention.key_length": (U32, 64),
    "attention.sliding_window": (U32, 128),
    "rope.freq_base": (F32, 5e5),
}
YARN = {
    "rope.scaling.type": (TEXT, b"yarn"),
    "rope.scaling.factor": (F32, 4.0),
    "rope.scaling.original_context_length": (U32, 1024),
}
LONG = {"rope.scaling.type": (TEXT, b"longrope"), "rope.scaling.original_context_length": (U32, 1024)}
DIVISORS = np.linspace(1, 8, 32, dtype="<f4").tobytes()
TENSORS = [
    [],
    [(b"rope_freqs.weight", (32,), 0, DIVISORS)],
    [(b"rope_factors_long.weight", (32,), 0, DIVISORS), (b"rope_factors_short.weight", (32,), 0, DIVISORS)],
    [(b"position_embd.weight", (256, 4096), 0, bytes(1 << 22))],
]

INTEGERS = st.sampled_from([0, 1, 2, 3, 4, 7, 31, 32, 33, 64, 96, 255, 4096, 1 << 16, (1 << 32) - 1])
FLOATS = st.sampled_from(
    [0.0, -0.0, 1.0, 0.5, -1.0, 1e4, 1e6, 3e38, 1e-38, 1e-45, 1e30, math.nan, math.inf, -math.inf, 40.0]
)
VALUES = st.one_of(
    INTEGERS.map(lambda value: (U32, value)),
    INTEGERS.map(lambda value: (U64, value << 31)),
    st.integers(-5, 5).map(lambda value: (I32, value)),
    FLOATS.map(lambda value: (F32, value)),
    st.floats().map(lambda value: (F64, value)),
    st.booleans().map(lambda value: (BOOL, value)),
    st.sampled_from([b"", b"yarn", b"linear", b"longrope", b"none", b"\xff", b"x" * 2000, b"\n\x1b"]).map(
        lambda value: (TEXT, value)
    ),
    st.lists(st.integers(0, 5), max_size=6).map(lambda items: (ARRAY, (U32, items))),
    st.lists(st.booleans(), min_size=3, max_size=5).map(lambda items: (ARRAY, (BOOL, items))),
    st.lists(FLOATS, max_size=3).map(lambda items: (ARRAY, (F32, items))),
    st.sampled_from(
        [
            (ARRAY, (TEXT, [b"a", b""])),
            (ARRAY, (ARRAY, [(U8, [1])])),
            (ARRAY, (U32, [32, 0, 0, 0])),
            (ARRAY, (U32, [8, 12, 12, 0])),
            (ARRAY, (U8, [1] * 5000)),
        ]
    ),
)
NAMES = [
    *SOUND,
    *YARN,
    "attention.compress_ratios",
    "attention.compress_rope_freq_base",
    "attention.key_length_swa",
    "attention.max_alibi_bias",
    "attention.recurrent_layers",
    "attention.scale",
    "attention.sliding_window_pattern",
    "attention.temperature_scale",
    "attention.temperature_length",
    "full_attention_interval",
    "nextn_predict_layers",
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "rope.dimension_sections",
    "rope.freq_base_swa",
    "rope.scale_linear",
    "rope.scaling.alpha",
    "rope.scaling.attn_factor",
    "rope.scaling.finetuned",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_log_multiplier",
]
CHANGES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)
NAMED = st.sampled_from(sorted(ARCHITECTURES) + sorted(REFUSED)[:3] + ["unknown"])
FOLLOWS = st.sampled_from(["hf", "llama.cpp", "vllm"])


def check(path, **arguments):
    """A geometry that those who read it back take, or a sentence."""
    said = []
    try:
        found = read_model(str(path), notes=said.append, ignored=said.append, **arguments)
    except InputError as refusal:
        assert str(refusal).isprintable()
        assert len(str(refusal)) < 800
        return None
    assert all(sentence.isprintable() and len(sentence) < 800 for sentence in said)
    again = geometry_from_json(json.loads(json.dumps(geometry_to_json(found), allow_nan=False)))
    if isinstance(found, RotaryGeometry):
        assert isinstance(again, RotaryGeometry)
        assert again.variants == found.variants
        for slot, variant in enumerate(found.variants):
            assert len(variant.inverse_frequency) * 2 == found.of(slot).rotary_dim
            assert all(0 <= value <= 1 << 20 for value in variant.inverse_frequency)
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "model.gguf"


def entries_of(name, keys):
    entries = [(b"general.architecture", TEXT, name.encode())]
    return entries + [(f"{name}.{key}".encode(), *value) for key, value in keys.items()]


@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_sound_files_are_sound(path, name):
    keys = SOUND | {"attention.max_alibi_bias": (F32, 8.0)} if name in ("mpt", "jais") else dict(SOUND)
    architecture = ARCHITECTURES[name]
    if architecture.compressed:
        keys |= {
            "attention.compress_rope_freq_base": (F32, 16e4),
            "attention.compress_ratios": (ARRAY, (U32, [0, 4, 128, 4])),
        }
    if architecture.latent or architecture.compressed:
        keys["rope.dimension_count"] = (U32, 32)
    if architecture.axes:
        keys["rope.dimension_sections"] = (ARRAY, (U32, [12, 10, 10, 0]))
    if architecture.window and not architecture.window.every:
        keys["attention.sliding_window_pattern"] = (ARRAY, (BOOL, [True, False, True, False]))
    if architecture.recurrent_every:
        keys["block_count"] = (U32, 8)
    path.write_bytes(file_of(entries_of(name, keys), []))
    assert check(path) is not None


@settings(max_examples=600)
@given(NAMED, st.sampled_from([SOUND, SOUND | YARN, SOUND | LONG]), CHANGES, st.sampled_from(TENSORS[:3]), FOLLOWS)
def test_odd_values_in_sound_files(path, name, sound, changes, tensors, follow):
    path.write_bytes(file_of(entries_of(name, sound | changes), tensors))
    check(path, follow=follow)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.binary(min_size=1, max_size=30), VALUES), max_size=6),
    st.sampled_from(["llama", "gemma3", "\x1b[2J", "a" * 70, ""]),
)
def test_odd_keys(path, extra, name):
    entries = entries_of(name, SOUND) + [(key, *value) for key, value in extra]
    path.write_bytes(file_of(entries, []))
    check(path)


@settings(max_examples=400)
@given(st.data())
def test_changed_bytes(path, data):
    """Files with a few bytes changed, cut out, doubled or lost at the end, anywhere in the header."""
    name = data.draw(st.sampled_from(["llama", "gemma3", "phi3", "deepseek2", "gpt2"]))
    whole = bytearray(file_of(entries_of(name, SOUND | YARN), data.draw(st.sampled_from(TENSORS[:3]))))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(len(whole) - 1, 0)))
        match data.draw(st.sampled_from(["set", "large", "cut", "double", "end"])):
            case "set":
                whole[place : place + 1] = bytes([data.draw(st.integers(0, 255))])
            case "large":
                whole[place : place + 8] = struct.pack("<Q", data.draw(st.sampled_from([1 << 63, 1 << 32, 1 << 20, 9])))
            case "cut":
                del whole[place : place + data.draw(st.integers(1, 12))]
            case "double":
                whole[place:place] = whole[place : place + data.draw(st.integers(1, 40))]
            case "end":
                del whole[place:]
    path.write_bytes(whole)
    check(path)


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes(path, data):
    path.write_bytes(b"GGUF" + data)
    check(path)
    path.write_bytes(b"GGUF\x03\0\0\0" + data)
    check(path)


def sparse(path: Path, head: bytes, size: int) -> None:
    """A file of ``size`` bytes that takes no room: ``head``, and zeros."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def start(key_count, tensor_count=0):
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, key_count)


@pytest.mark.parametrize(
    "head",
    [
        start(1) + encode(TEXT, b"tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, TEXT, 1 << 18),
        start(1) + encode(TEXT, b"llama.x") + struct.pack("<IIQ", ARRAY, F64, 1 << 29),
        start(1) + encode(TEXT, b"llama.x") + struct.pack("<IQ", TEXT, 1 << 32),
        start(1 << 14),
        start(0, 1 << 17),
    ],
    ids=["empty texts", "doubles", "one text", "keys", "tensors"],
)
def test_time_and_memory_are_bounded(path, head):
    """8 GB of zeros behind counts that claim them all."""
    sparse(path, head, 8 << 30)
    began = time.perf_counter()
    tracemalloc.start()
    try:
        assert check(path) is None
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()
    assert peak < 8 << 20
    assert time.perf_counter() - began < 20  # tracing included, which slows it down tenfold
