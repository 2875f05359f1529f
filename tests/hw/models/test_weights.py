"""Learned tables from files of three kinds, and files that are none."""

import json
import pickle
import struct
import tracemalloc

import gguf
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry import LearnedGeometry
from ropewalk.models import weights
from ropewalk.models.weights import load_table
from safetensors.numpy import save_file

TABLE = np.random.default_rng(7).standard_normal((6, 32)).astype(np.float32)
GPT_2 = LearnedGeometry(model_type="gpt2", rows=6, row_offset=0, dimension=32)


def save_gguf(path, tensors, kind=None):
    writer = gguf.GGUFWriter(path, "gpt2")
    for name, values in tensors.items():
        if kind is not None:
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def raw_safetensors(path, header, data=b""):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.mark.parametrize(
    "name",
    [
        "wpe.weight",
        "transformer.wpe.weight",
        "bert.embeddings.position_embeddings.weight",
        "model.decoder.embed_positions.weight",
        "text_model.embeddings.position_embedding.weight",
        "positions_embed.weight",
    ],
)
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64])
def test_safetensors_by_the_usual_names(tmp_path, name, kind):
    save_file(
        {name: TABLE.astype(kind), "other.weight": TABLE, "position_ids": np.arange(6)}, tmp_path / "a.safetensors"
    )
    found = load_table(tmp_path / "a.safetensors", geometry=GPT_2)
    assert found.dtype == (np.float64 if kind is np.float64 else np.float32)
    np.testing.assert_array_equal(found, TABLE.astype(kind))


def test_safetensors_in_bfloat16(tmp_path):
    halves = (TABLE.view(np.uint32) >> 16).astype(np.uint16)
    first = np.zeros(5, np.uint8).tobytes()
    header = {
        "__metadata__": {"format": "pt"},
        "wpe.bias": {"dtype": "U8", "shape": [5], "data_offsets": [0, 5]},
        "wpe.weight": {"dtype": "BF16", "shape": [6, 32], "data_offsets": [5, 5 + 2 * TABLE.size]},
    }
    raw_safetensors(tmp_path / "a.safetensors", header, first + halves.tobytes())
    found = load_table(str(tmp_path / "a.safetensors"))
    np.testing.assert_array_equal(found.view(np.uint32), halves.astype(np.uint32) << 16)


def test_a_vision_models_table_has_a_leading_one(tmp_path):
    save_file({"vit.embeddings.position_embeddings": TABLE[None]}, tmp_path / "a.safetensors")
    np.testing.assert_array_equal(load_table(tmp_path / "a.safetensors", geometry=GPT_2), TABLE)


def test_an_explicit_name(tmp_path):
    save_file({"odd.name": TABLE, "wpe.weight": TABLE + 1}, tmp_path / "a.safetensors")
    np.testing.assert_array_equal(load_table(tmp_path / "a.safetensors", tensor="odd.name"), TABLE)


def test_of_two_tables_the_one_that_fits(tmp_path):
    path = tmp_path / "a.safetensors"
    names = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
    save_file({names[0]: np.zeros((9, 32), np.float32), names[1]: TABLE}, path)
    np.testing.assert_array_equal(load_table(path, geometry=GPT_2), TABLE)
    with pytest.raises(InputError, match="has 2 tensors that may be the position table .*decoder.*encoder.*; name one"):
        load_table(path)
    np.testing.assert_array_equal(load_table(path, tensor=names[1]), TABLE)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_gguf(tmp_path, kind):
    save_gguf(tmp_path / "a.gguf", {"token_embd.weight": TABLE, "position_embd.weight": TABLE.astype(kind)})
    np.testing.assert_array_equal(load_table(tmp_path / "a.gguf", geometry=GPT_2), TABLE.astype(kind))


def test_gguf_decodes_what_is_quantised(tmp_path):
    kind = gguf.GGMLQuantizationType.Q8_0
    save_gguf(tmp_path / "a.gguf", {"position_embd.weight": TABLE}, kind)
    # A block of 32 has a scale of its largest magnitude / 127; values round to half of that, the scale to 11 bits.
    bound = np.abs(TABLE).max(axis=1, keepdims=True) / 127 * (0.5 + 127 / 2**11)
    assert (np.abs(load_table(tmp_path / "a.gguf") - TABLE) <= bound).all()


@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, kind, order):
    np.save(tmp_path / "a.npy", np.asarray(TABLE, dtype=kind, order=order))
    np.testing.assert_array_equal(load_table(tmp_path / "a.npy", geometry=GPT_2), TABLE.astype(kind))


def test_folders(tmp_path):
    with pytest.raises(InputError, match=r"has no model\.safetensors and no GGUF file"):
        load_table(tmp_path)
    save_gguf(tmp_path / "a.gguf", {"position_embd.weight": TABLE})
    np.testing.assert_array_equal(load_table(tmp_path), TABLE)
    save_file({"wpe.weight": TABLE + 1}, tmp_path / "model-00002-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "wpe.weight": "model-00002-of-00002.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    np.testing.assert_array_equal(load_table(tmp_path), TABLE + 1)
    save_file({"wpe.weight": TABLE + 2}, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(load_table(tmp_path), TABLE + 2)


@pytest.mark.parametrize("name", ["../secret.safetensors", "/etc/passwd", "sub/a.safetensors", 3, "", "x" * 99])
def test_an_index_names_files_beside_it_only(tmp_path, name):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"wpe.weight": name}}))
    with pytest.raises(InputError, match="wpe.weight must be a name of at most 64"):
        load_table(tmp_path)


@pytest.mark.parametrize("suffix", [".bin", ".pt", ".pth", ".pkl", ".ckpt", ".pickle"])
def test_pickles_are_never_opened(tmp_path, suffix):
    path = tmp_path / f"pytorch_model{suffix}"
    path.write_bytes(b"anything")
    with pytest.raises(InputError, match="is a pickle, which is never opened; give safetensors, GGUF or npy"):
        load_table(path)


class Trap:
    """What a pickle could do."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def test_objects_in_npy_are_never_unpickled(tmp_path):
    np.save(tmp_path / "a.npy", np.array([[Trap()]], dtype=object))
    with pytest.raises(InputError, match=r"a\.npy must hold floating-point numbers, not object"):
        load_table(tmp_path / "a.npy")
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match=r"b\.npy is not a whole npy file"):
        load_table(tmp_path / "b.npy")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.arange(6), "must hold floating-point numbers, not int64"),
        (np.zeros(6, np.float32), "must be a table of rows and columns, not of the shape 6"),
        (np.zeros((0, 6), np.float32), "must be a table of rows and columns, not of the shape 0 x 6"),
        (np.zeros((2, 3, 4), np.float32), "must be a table of rows and columns, not of the shape 2 x 3 x 4"),
        (np.array([[1.0, np.nan]]), "the table holds a value that is not finite"),
        (np.array([[1.0, np.inf]]), "the table holds a value that is not finite"),
        (np.zeros((2, 2), complex), "must hold floating-point numbers, not complex128"),
    ],
)
def test_arrays_that_are_no_table(tmp_path, values, message):
    np.save(tmp_path / "a.npy", values)
    with pytest.raises(InputError, match=message):
        load_table(tmp_path / "a.npy")


def test_a_table_of_another_shape_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", TABLE[:5])
    with pytest.raises(InputError, match="has 5 x 32 elements, but a gpt2 of this configuration has 6 x 32"):
        load_table(tmp_path / "a.npy", geometry=GPT_2)


def test_a_claim_that_is_too_large_is_refused_before_it_is_read(tmp_path):
    header = {"wpe.weight": {"dtype": "F32", "shape": [1 << 16, 1 << 16], "data_offsets": [0, 1 << 34]}}
    raw_safetensors(tmp_path / "a.safetensors", header)
    with pytest.raises(InputError, match="is not a whole safetensors file"):
        load_table(tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", 1 << 40) + b"{")
    with pytest.raises(InputError, match="has a header of 1099511627776 bytes"):
        load_table(tmp_path / "b.safetensors")
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 1 << 20)}
        )
    with pytest.raises(InputError, match="has 1048576 x 1048576 elements, more than the 67108864"):
        load_table(tmp_path / "a.npy")


def test_an_npy_that_claims_more_than_it_holds_takes_no_memory(tmp_path):
    path = tmp_path / "a.npy"
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (8388608, 8), }\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64))
    tracemalloc.start()
    with pytest.raises(InputError, match="is cut off: its table takes 536870912 bytes, and 64 are there"):
        load_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_a_table_of_doubles_is_held_once(tmp_path, suffix, order):
    """The largest takes 512 MB, so that a copy would pass 1 GB; here 2 MB stand for it."""
    table = np.random.default_rng(1).standard_normal((512, 512))
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        np.save(path, table.astype(f"{order}f8"))
    else:
        save_file({"wpe.weight": table}, path)
    load_table(path)  # imports what is imported on first use
    tracemalloc.start()
    found = load_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, table)
    assert peak < 1.5 * table.nbytes


@pytest.mark.parametrize(
    ("kind", "shape", "said"),
    [
        ("[('" + "n" * 5000 + "', '<i4')]", "(3, 2)", "must hold floating-point numbers, not [('nnn"),
        ("'<f8'", "(" + "1, " * 2000 + ")", "not of the shape 1 x 1 x 1 x 1 x 1 x 1 x 1 x 1 x ..."),
        ("'<f8'", f"(2, 0x{'f' * 9000})", "has 2 x an integer that is far too large elements"),
    ],
    ids=["long type", "many dimensions", "large dimension"],
)
def test_a_header_that_is_long_is_told_in_one_short_sentence(tmp_path, kind, shape, said):
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64))
    with pytest.raises(InputError) as refusal:
        load_table(tmp_path / "a.npy")
    assert said in str(refusal.value)
    assert len(str(refusal.value)) < 300 + len(str(tmp_path))


def test_a_header_that_nests_too_deeply_is_told_as_such(tmp_path):
    """Python's parser answers with a MemoryError without a word."""
    head = b"-" * 9000 + b"1\n"
    (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
    with pytest.raises(InputError, match="is not a whole npy file: its header makes no sense"):
        load_table(tmp_path / "a.npy")


def test_the_bound_is_on_elements(tmp_path, monkeypatch):
    save_file({"wpe.weight": TABLE}, tmp_path / "a.safetensors")
    save_gguf(tmp_path / "a.gguf", {"position_embd.weight": TABLE})
    monkeypatch.setattr(weights, "MAX_VALUES", TABLE.size - 1)
    for name in ("a.safetensors", "a.gguf"):
        with pytest.raises(InputError, match="has 6 x 32 elements, more than the 191"):
            load_table(tmp_path / name)


@pytest.mark.parametrize("name", ["a.safetensors", "a.gguf"])
def test_a_file_without_a_table(tmp_path, name):
    if name.endswith("gguf"):
        save_gguf(tmp_path / name, {"token_embd.weight": TABLE})
    else:
        save_file({"wte.weight": TABLE}, tmp_path / name)
    with pytest.raises(InputError, match="has no tensor whose name is that of a position table"):
        load_table(tmp_path / name)
    with pytest.raises(InputError, match="has no tensor 'wpe'"):
        load_table(tmp_path / name, tensor="wpe")


def test_paths_that_lead_nowhere(tmp_path):
    for path in (tmp_path / "no.npy", "", "\0", "x" * 5000):
        with pytest.raises(InputError):
            load_table(path)
    (tmp_path / "a.txt").write_text("1 2 3")
    with pytest.raises(InputError, match=r"a\.txt must be a \.safetensors, \.gguf or \.npy file"):
        load_table(tmp_path / "a.txt")
    (tmp_path / "d.npy").mkdir()
    with pytest.raises(InputError, match="has no model.safetensors"):
        load_table(tmp_path / "d.npy")
    np.save(tmp_path / "a.npy", TABLE)
    with pytest.raises(InputError, match="holds one array without a name"):
        load_table(tmp_path / "a.npy", tensor="wpe.weight")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a whole file of each kind."""
    folder = tmp_path_factory.mktemp("whole")
    np.save(folder / "a.npy", TABLE)
    save_file({"wpe.weight": TABLE}, folder / "a.safetensors")
    save_gguf(folder / "a.gguf", {"position_embd.weight": TABLE})
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    suffix=st.sampled_from([".npy", ".safetensors", ".gguf"]),
    changes=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), max_size=4),
    end=st.none() | st.integers(0, 1000),
)
def test_damaged_files_give_a_table_or_one_sentence(tmp_path, whole, suffix, changes, end):
    data = bytearray(whole[suffix])
    for place, value in changes:
        data[place] = value
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(data[:end])
    try:
        table = load_table(path)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert table.ndim == 2
        assert np.isfinite(table).all()
