"""The bounded reader against the ``gguf`` package's own, on files of every version and byte order, and in parts."""

import struct
from pathlib import Path

import gguf
import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.models import read_model
from ropewalk.models.gguf_header import read_header
from ropewalk.models.gguf_tensors import read_divisors, read_table
from ropewalk.models.gguf_values import Skipped, shortest

KEYS = {
    "block_count": 2,
    "context_length": 64,
    "embedding_length": 256,
    "attention.head_count": 4,
    "attention.causal": True,
    "some.number": -5.5,
    "some.flags": [True, False, True],
    "some.counts": [1, 2, 70000],
    "some.shares": [0.5, 0.25],
    "some.name": "Grüße",
    "tokenizer.ggml.tokens": [f"token {index}" for index in range(5000)],
    "tokenizer.ggml.scores": [float(index) for index in range(5000)],
    "general.alignment": 64,
}
TENSORS = {
    "blk.0.attn_norm.weight": np.ones(7, dtype=np.float32),
    "position_embd.weight": np.arange(64 * 256, dtype=np.float32).reshape(64, 256) / 64,
    "rope_freqs.weight": np.linspace(1, 8, 32, dtype=np.float32),
}


def scalars(header):
    return {key: value for key, value in header.metadata.items() if not isinstance(value, Skipped)}


@pytest.mark.parametrize("order", [gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG])
def test_against_the_packages_reader(write, order):
    path = write("llama", KEYS, TENSORS, endianess=order)
    found, wanted = read_header(path), gguf.GGUFReader(path)
    assert found.order == ("<" if order == gguf.GGUFEndian.LITTLE else ">")
    fields = {name: field for name, field in wanted.fields.items() if not name.startswith("GGUF.")}
    assert set(found.metadata) == set(fields)
    for name, value in scalars(found).items():
        assert value == fields[name].contents(), name
    assert repr(found.metadata["tokenizer.ggml.tokens"]) == "a list of 5000 texts"
    assert repr(found.metadata["tokenizer.ggml.scores"]) == "a list of 5000"
    assert list(found.tensors) == [tensor.name for tensor in wanted.tensors]
    for tensor in wanted.tensors:
        ours = found.tensors[tensor.name]
        assert ours.shape == tuple(tensor.shape.tolist())
        assert (ours.kind, ours.start, ours.size) == (tensor.tensor_type, tensor.data_offset, tensor.n_bytes)
    assert read_divisors(found, "rope_freqs.weight", 32) == tuple(TENSORS["rope_freqs.weight"].astype(float))


@pytest.mark.parametrize("order", [gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG])
def test_geometry_in_either_byte_order(write, order):
    found = read_model(str(write("llama", KEYS, TENSORS, endianess=order)))
    assert (found.head_dim, found.variants[0].max_position) == (64, 64)
    assert found.variants[0].inverse_frequency[-1] == pytest.approx(1e4 ** (-62 / 64) / 8, rel=1e-15)


def old_file(version):
    """A file written by hand from the format's description: version 1 has lengths of 32 bits."""
    length = "<I" if version == 1 else "<Q"

    def text(value):
        return struct.pack(length, len(value)) + value

    def key(name, kind, value):
        return text(name) + struct.pack("<I", kind) + value

    keys = [
        key(b"general.architecture", 8, text(b"llama")),
        key(b"llama.block_count", 4, struct.pack("<I", 2)),
        key(b"llama.context_length", 4, struct.pack("<I", 64)),
        key(b"llama.embedding_length", 4, struct.pack("<I", 16)),
        key(b"llama.attention.head_count", 4, struct.pack("<I", 4)),
        key(b"llama.rope.scale_linear", 6, struct.pack("<f", 2.0)),
        key(b"tokenizer.ggml.tokens", 9, struct.pack("<I", 8) + struct.pack(length, 2) + text(b"a") + text(b"bc")),
    ]
    tensors = [
        text(b"rope_freqs.weight") + struct.pack("<I", 1) + struct.pack(length, 2) + struct.pack("<IQ", 0, 0),
    ]
    head = b"GGUF" + struct.pack("<I", version) + struct.pack(length, len(tensors)) + struct.pack(length, len(keys))
    data = head + b"".join(keys) + b"".join(tensors)
    return data + bytes(-len(data) % 32) + struct.pack("<ff", 1.0, 4.0)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions(tmp_path, version):
    path = tmp_path / "model.gguf"
    path.write_bytes(old_file(version))
    found = read_model(str(path))
    assert read_header(path).version == version
    assert found.variants[0].inverse_frequency == (0.5, 0.01 / 2 / 4)


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path):
    path = tmp_path / "model.gguf"
    data = old_file(3)
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(InputError, match="cut off"):
            read_model(str(path))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"GGML" + data[4:], 'it does not begin with "GGUF"'),
        (lambda data: data[:4] + struct.pack("<I", 4) + data[8:], "it has GGUF version 4; versions 1 to 3 are known"),
        (lambda data: data[:4] + struct.pack("<I", 0) + data[8:], "it has GGUF version 0"),
        (lambda data: data[:8] + struct.pack("<Q", 1 << 60) + data[16:], "it claims 1152921504606846976 tensors"),
        (
            lambda data: data[:16] + struct.pack("<Q", 1 << 63) + data[24:],
            "it claims 9223372036854775808 metadata keys",
        ),
        (
            lambda data: data[:24] + struct.pack("<Q", 1 << 40) + data[32:],
            "the name of metadata key 0 has 1099511627776",
        ),
        (lambda data: data.replace(b"context_length", b"context_l\xffngth"), "metadata key 2 is not UTF-8 text"),
        (lambda data: data.replace(b"rope.scale_linear", b"rope.scale_linea\n"), "'llama.rope.scale_linea"),
        (lambda data: data.replace(b"llama.context_length", b"llama.embedding_leng", 1), None),
    ],
)
def test_changed_bytes(tmp_path, change, said):
    path = tmp_path / "model.gguf"
    path.write_bytes(change(old_file(3)))
    with pytest.raises(InputError) as caught:
        read_model(str(path))
    assert str(caught.value).isprintable()
    assert said is None or said.removeprefix("'") in str(caught.value)


def header(keys=b"", tensors=b"", key_count=0, tensor_count=0):
    return b"GGUF" + struct.pack("<IQQ", 3, tensor_count, key_count) + keys + tensors


def entry(name, kind, value):
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (header(entry(b"a", 99, b""), key_count=1), "the value of 'a' has the unknown type 99"),
        (header(entry(b"a", 9, struct.pack("<IQ", 9, 1)), key_count=1), "is an array of arrays"),
        (header(entry(b"a", 9, struct.pack("<IQ", 4, 1 << 62)), key_count=1), "cut off in the value of 'a'"),
        (header(entry(b"a", 9, struct.pack("<IQ", 8, 1 << 62)), key_count=1), "hold more than 4194304 strings"),
        (header(entry(b"a", 9, struct.pack("<IQQ", 8, 9, 1 << 62)), key_count=1), "cut off in the value of 'a'"),
        (header(entry(b"a", 8, struct.pack("<Q", 1 << 63)), key_count=1), "cut off in the value of 'a'"),
        (header(entry(b"a", 7, b"\x02"), key_count=1), "must be true or false"),
        (header(entry(b"a", 0, b"\1") * 2, key_count=2), "the key 'a' stands twice"),
        (
            header(entry(b"general.alignment", 4, struct.pack("<I", 0)), key_count=1),
            "general.alignment must be a power",
        ),
        (
            header(entry(b"general.alignment", 4, struct.pack("<I", 48)), key_count=1),
            "general.alignment must be a power",
        ),
        (header(entry(b"general.alignment", 7, b"\1"), key_count=1), "general.alignment must be a power"),
        (header(tensors=entry(b"t", 5, b""), tensor_count=1), "the tensor 't' has 5 dimensions"),
        (
            header(tensors=entry(b"t", 1, struct.pack("<QIQ", 1 << 62, 0, 0)), tensor_count=1),
            "cut off: the tensor 't' ends at byte",
        ),
        (
            header(tensors=entry(b"t", 4, struct.pack("<QQQQIQ", *[1 << 63] * 4, 0, 0)), tensor_count=1),
            "cut off: the tensor 't' ends at byte",
        ),
        (
            header(tensors=entry(b"t", 1, struct.pack("<QIQ", 1, 0, 1)), tensor_count=1),
            "begins at 1, which is no multiple of the alignment 32",
        ),
        (
            header(tensors=entry(b"t", 1, struct.pack("<QIQ", 5, 2, 0)), tensor_count=1),
            "has rows of 5 elements, which are no whole blocks of 32",
        ),
        (header(tensors=entry(b"t", 1, struct.pack("<QIQ", 0, 0, 0)) * 2, tensor_count=2), "'t' stands twice"),
    ],
)
def test_malformed_headers(tmp_path, data, said):
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_model(str(path))
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_what_is_kept_is_bounded(tmp_path):
    """20 MB of short texts, each small enough to be kept: refused when 16 MB of them have come together."""
    path = tmp_path / "model.gguf"
    text = struct.pack("<Q", 1024) + b"x" * 1024
    entries = b"".join(entry(f"general.{index}".encode(), 8, text) for index in range(16_384))
    path.write_bytes(header(entries, key_count=16_384))
    with pytest.raises(InputError, match="holds more than 16 MB beside the vocabulary"):
        read_model(str(path))


def test_a_tensor_of_a_newer_type_hinders_nobody(tmp_path):
    path = tmp_path / "model.gguf"
    data = old_file(3)
    newer = struct.pack("<Q", 3) + b"new" + struct.pack("<IQIQ", 1, 8, 999, 0)
    table = data.index(struct.pack("<Q", 17) + b"rope_freqs.weight")
    end = table + 8 + 17 + 4 + 8 + 12
    changed = data[:8] + struct.pack("<Q", 2) + data[16:end] + newer
    path.write_bytes(changed + bytes(-len(changed) % 32) + struct.pack("<ff", 1.0, 4.0))
    assert read_model(str(path)).variants[0].inverse_frequency == (0.5, 0.01 / 2 / 4)


def write_parts(folder, write, count=3, tensors=None):
    """A model of ``count`` files: all metadata in the first, one tensor in the last."""
    for number in range(1, count + 1):
        keys = {"split.no": number - 1, "split.count": count} | (KEYS if number == 1 else {})
        path = write("llama", keys, tensors if number == count else None)
        path.rename(folder / f"big-{number:05}-of-{count:05}.gguf")
    return folder / f"big-00001-of-{count:05}.gguf"


def test_a_model_in_parts(tmp_path, write):
    folder = tmp_path / "parts"
    folder.mkdir()
    first = write_parts(folder, write, tensors={"rope_freqs.weight": np.full(32, 2.0, np.float32)})
    for model in (first, folder):
        assert read_model(str(model)).variants[0].inverse_frequency[0] == 0.5
    with pytest.raises(InputError, match="it is not the first part"):
        read_model(str(folder / "big-00002-of-00003.gguf"))
    (folder / "big-00002-of-00003.gguf").unlink()
    with pytest.raises(InputError, match=r"there is no file .*big-00002-of-00003\.gguf"):
        read_model(str(first))
    renamed = first.rename(folder / "model.gguf")
    with pytest.raises(InputError, match=r"is not named \.\.\.-00001-of-00003\.gguf"):
        read_model(str(renamed))


def test_folders(tmp_path, write):
    with pytest.raises(InputError, match=r"holds no config\.json and no GGUF file"):
        read_model(str(tmp_path))
    path = write("llama", KEYS)
    assert read_model(str(tmp_path)).model_type == "llama"
    path.with_name("other.gguf").write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="holds 2 GGUF models; name the one that is meant"):
        read_model(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="model_type"):  # config.json wins
        read_model(str(tmp_path))


@pytest.mark.parametrize("name", ["missing.gguf", "MISSING.GGUF", "folder.gguf/none.gguf"])
def test_files_that_are_not_there(tmp_path, name):
    with pytest.raises(InputError, match="there is no file"):
        read_model(str(tmp_path / name))


def test_devices_are_not_read(tmp_path):
    (tmp_path / "model.gguf").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is not a file"):
        read_model(str(tmp_path / "model.gguf"))


def test_an_empty_file(tmp_path):
    (tmp_path / "model.gguf").touch()
    with pytest.raises(InputError, match=r"cut off in its first bytes \(it has 0 bytes\)"):
        read_model(str(tmp_path / "model.gguf"))


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_0", "F16"])
def test_tables_are_decoded(tmp_path, kind):
    """Against the package's own decoding of what its writer wrote."""
    values = np.random.default_rng(5).normal(size=(8, 64)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "gpt2")
    if kind == "F16":
        stored, wanted = values.astype(np.float16), values.astype(np.float16).astype(np.float32)
        writer.add_tensor("position_embd.weight", stored)
    else:
        number = gguf.GGMLQuantizationType[kind]
        stored = gguf.quants.quantize(values, number)
        wanted = gguf.quants.dequantize(stored, number)
        writer.add_tensor("position_embd.weight", stored, raw_dtype=number)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert np.array_equal(read_table(tmp_path / "model.gguf"), wanted)


def test_shortest_decimals():
    """32-bit floats of decimal numbers come back as those; the others as something that rounds to them."""
    for text in ("0.1", "10000", "1000042", "0.0707", "1e-06", "999999.4", "1e+30"):
        assert shortest(float(np.float32(float(text)))) == float(text)
    for value in np.random.default_rng(6).normal(size=200).astype(np.float32):
        assert np.float32(shortest(float(value))) == value
    assert shortest(float(np.finfo(np.float32).max)) == pytest.approx(3.4028235e38, rel=1e-7)


def test_the_package_is_imported_only_for_gguf(tmp_path):
    """Other commands do not pay for it."""
    source = Path(read_model.__code__.co_filename).read_text()
    assert "from .gguf import" in source
    assert not any(line.startswith("from .gguf") for line in source.splitlines())
