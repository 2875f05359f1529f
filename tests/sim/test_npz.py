"""npz files of strangers: what is read, and that the rest is refused with one sentence."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_sim.npz import load_npz, save_npz


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header_of(shape: str, kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def write_zip(path: Path, *members: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def refusal(path: Path, **limits: int) -> str:
    with pytest.raises(InputError) as caught:
        load_npz(path, **limits)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_numpy_wrote_is_read(tmp_path):
    arrays = {
        "q": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
        "k": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "name": np.array(["a", "long"]),
        "big": np.arange(3, dtype=">u4"),
        "scalar": np.array(5),
        "none": np.zeros((0, 7)),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", **arrays)
        found = load_npz(tmp_path / "x.npz")
        assert sorted(found) == sorted(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            assert np.array_equal(found[name], array)


def test_what_we_write_numpy_reads_under_the_name_that_was_given(tmp_path):
    target = tmp_path / "result"
    save_npz(target, {"q": np.arange(5)})
    save_npz(target, {"q": np.arange(6)})
    assert [entry.name for entry in tmp_path.iterdir()] == ["result"]
    with np.load(target) as arrays:
        assert arrays["q"].tolist() == list(range(6))


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(InputError, match=r"y\.npz: cannot be written: there is no folder"):
        save_npz(tmp_path / "missing" / "y.npz", {"q": np.arange(5)})
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder: cannot be written"):
        save_npz(tmp_path / "folder", {"q": np.arange(5)})
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_missing_and_unreadable_files(tmp_path):
    assert refusal(tmp_path / "x.npz").endswith("x.npz: there is no such file")
    assert "cannot be read" in refusal(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello", npy(np.arange(3)), b"PK\x03\x04" + b"\x00" * 100])
def test_files_that_are_no_zip(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    assert "is not a sound npz file" in refusal(tmp_path / "x.npz")


def test_every_single_damaged_byte_is_refused_or_harmless(tmp_path):
    good = write_zip(tmp_path / "good.npz", ("q.npy", npy(np.arange(4))), compression=zipfile.ZIP_DEFLATED)
    content = good.read_bytes()
    for place in range(len(content)):
        bad = bytearray(content)
        bad[place] ^= 0xFF
        path = tmp_path / "bad.npz"
        path.write_bytes(bad)
        try:
            arrays = load_npz(path)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            # Only what carries no content may change unnoticed: dates, attributes, the name.
            assert [array.tolist() for array in arrays.values()] in ([], [[0, 1, 2, 3]])


def test_a_pickle_is_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was opened",))

    bomb = np.array([Bomb()], dtype=object)
    path = write_zip(tmp_path / "x.npz", ("q.npy", npy(bomb)))
    assert "q holds Python objects, which are never read" in refusal(path)
    path = write_zip(tmp_path / "y.npz", ("q.npy", pickle.dumps(Bomb())))
    assert "q is not a plain numpy array" in refusal(path)


def test_a_header_that_asks_for_more_than_there_is(tmp_path):
    for shape, kind in (("(1000000000000,)", "<f8"), ("(3,)", "<f8"), ("(-1, -1)", "<f8"), ("(2, 2)", "<U100000000")):
        path = write_zip(tmp_path / "x.npz", ("q.npy", header_of(shape, kind) + b"\x00" * 8))
        assert "bytes of data follow" in refusal(path)


@pytest.mark.parametrize("shape", ["'x'", "(1.5,)", "__import__('os')", "(" * 500, ""])
def test_a_header_that_makes_no_sense(tmp_path, shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    assert "is not a plain numpy array" in refusal(write_zip(tmp_path / "x.npz", ("q.npy", content)))


@pytest.mark.parametrize("name", ["\x1b[2J", "\u202eq", "a\nb", "x" * 60_000])
def test_a_name_that_is_made_to_hurt_is_told_in_one_short_sentence(tmp_path, name):
    """Names come from the archive; what quotes them must be printable and short, whichever fault it is about."""
    once = write_zip(tmp_path / "x.npz", (f"{name}.npy", b"no array"))
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = write_zip(tmp_path / "y.npz", *[(f"{name}.npy", npy(np.zeros(3)))] * 2)
    damaged = tmp_path / "z.npz"
    damaged.write_bytes(once.read_bytes().replace(b"no array", b"an array"))
    for path in (once, twice, damaged):
        sentence = refusal(path)
        assert sentence.isprintable()
        assert len(sentence) < 400 + len(str(tmp_path))


@pytest.mark.parametrize(
    ("kind", "shape", "said"),
    [
        ("[('" + "n" * 5000 + "', '<i4')]", "(3,)", "numbers or strings are wanted"),
        ("'<f8'", "(" + "1, " * 2000 + ")", "says it has 2000 dimensions, and at most 8 are read"),
        ("'<f8'", f"(0x{'f' * 9000},)", "the shape [an integer that is far too large]"),
    ],
    ids=["long type", "many dimensions", "large dimension"],
)
def test_a_header_that_is_long_is_told_in_one_short_sentence(tmp_path, kind, shape, said):
    text = f"{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(24)
    sentence = refusal(write_zip(tmp_path / "x.npz", ("q.npy", content)))
    assert said in sentence
    assert len(sentence) < 300 + len(str(tmp_path))


def test_a_header_that_nests_too_deeply_is_told_as_such(tmp_path):
    """Python's parser answers with a MemoryError without a word."""
    head = b"-" * 9000 + b"1\n"
    content = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head
    assert "(its header makes no sense)" in refusal(write_zip(tmp_path / "x.npz", ("q.npy", content)))


def test_types_that_are_no_numbers_or_strings(tmp_path):
    record = np.zeros(2, [("a", "i4"), ("b", "f4")])
    assert "numbers or strings are wanted" in refusal(write_zip(tmp_path / "x.npz", ("q.npy", npy(record))))


def test_a_bomb_is_refused_by_its_size(tmp_path):
    path = tmp_path / "x.npz"
    np.savez_compressed(path, q=np.zeros(10_000_000, np.uint8))
    assert path.stat().st_size < 100_000
    assert "would take 10000128 bytes in memory, and at most 1000000 are read" in refusal(path, max_bytes=1_000_000)


def test_too_many_arrays_and_one_twice(tmp_path):
    many = write_zip(tmp_path / "x.npz", *((f"a{i}.npy", npy(np.arange(1))) for i in range(65)))
    assert "holds 65 arrays, and at most 64 are read" in refusal(many)
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = write_zip(tmp_path / "y.npz", ("q.npy", npy(np.arange(1))), ("q.npy", npy(np.arange(2))))
    assert "holds the array 'q' twice" in refusal(twice)
