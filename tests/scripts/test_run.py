"""``ropewalk run``: arrays in, arrays out, and arrays that cannot be used."""

import math
import os
import socket

import numpy as np
import pytest
from ropewalk_sim.engines import ENGINES


def loaded(path):
    """The arrays of an npz without object arrays."""
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


@pytest.fixture
def run(ropewalk, engine, npz, tmp_path):
    """Run arrays through an engine and give what came out."""

    def run(arrays, *options, engine_name="model"):
        target = tmp_path / "Y.npz"
        result = ropewalk("run", engine, "--input", npz(arrays), "--output", target, "--engine", engine_name, *options)
        assert result.code == 0, result
        return loaded(target), result

    return run


def test_words_come_back_rotated(run, arrays):
    found, result = run(arrays)
    assert set(found) == {"q", "k", "error", "scale"}
    assert found["q"].shape == (5, 2, 8) and found["k"].shape == (5, 1, 8)
    assert found["error"].tolist() == [0] * 5
    assert found["scale"] == 1
    # Position 0 is the identity; at position 1 the first pair, elements 0 and 4, turns by one radian.
    assert np.array_equal(found["q"][0], arrays["q"][0])
    x, y = (int(value) for value in arrays["q"][1, 0, ::4])
    expected = [x * math.cos(1) - y * math.sin(1), x * math.sin(1) + y * math.cos(1)]
    assert found["q"][1, 0, ::4] == pytest.approx(expected, abs=0.7)
    assert "5 tokens through model" in result.out


def test_the_default_engine_is_verilator_and_agrees(run, ropewalk, engine, npz, arrays, tmp_path):
    model, _ = run(arrays)
    result = ropewalk("run", engine, "--input", npz(arrays), "--output", tmp_path / "Z.npz")
    assert result.code == 0
    assert "through verilator" in result.out and "beats per clock" in result.out
    found = loaded(tmp_path / "Z.npz")
    assert np.array_equal(found["q"], model["q"]) and np.array_equal(found["k"], model["k"])


@pytest.mark.parametrize("engine_name", ["model", "verilator", "icarus"])
def test_values_pass_and_the_others_turn_as_without_them(run, arrays, engine_name):
    rng = np.random.default_rng(8)
    alone, _ = run(arrays)
    values = rng.integers(-(1 << 15), 1 << 15, (len(arrays["position"]), 3, arrays["q"].shape[2]))
    result, _ = run({**arrays, "v": values}, engine_name=engine_name)
    np.testing.assert_array_equal(result["v"], values)
    for name in ("q", "k", "error"):
        np.testing.assert_array_equal(result[name], alone[name])


def test_floats_are_quantised_at_a_power_of_two(run, arrays):
    floats = {"q": arrays["q"] / 1000, "k": arrays["k"] / 1000, "position": arrays["position"]}
    found, _ = run(floats)
    scale = float(found["scale"])
    assert math.log2(scale).is_integer()
    largest = max(np.abs(floats["q"]).max(), np.abs(floats["k"]).max())
    # Large enough that no rotation of the largest pair saturates, and not twice as large.
    assert largest * math.sqrt(2) / scale < 32767 < 2.001 * largest * math.sqrt(2) / scale
    assert np.abs(found["q"][0] - floats["q"][0]).max() <= scale / 2


def test_a_scale_that_saturates_is_said(run, arrays):
    floats = {"q": arrays["q"] * 1.0, "k": arrays["k"] * 1.0, "position": arrays["position"]}
    found, result = run(floats, "--scale", "0.125")
    assert found["scale"] == 0.125
    assert "saturated" in result.err


def test_a_position_at_the_limit_or_an_empty_slot_is_an_error_of_the_token(run, arrays):
    arrays["position"] = np.array([63, 64, 2**24 - 1, 5, 6])
    arrays["variant"] = np.array([0, 0, 0, 3, 255])
    found, result = run(arrays)
    assert found["error"].tolist() == [0, 1, 1, 1, 1]
    assert np.array_equal(found["q"][1:], arrays["q"][1:])
    assert "4 of 5 tokens came back unrotated" in result.err


def test_variants_go_by_name_too(run, arrays):
    by_number, _ = run(arrays | {"variant": np.zeros(5, np.int64)})
    by_name, _ = run(arrays | {"variant": np.array(["default"] * 5)})
    assert np.array_equal(by_number["q"], by_name["q"])


def with_element(array, value):
    changed = array.astype(np.result_type(array, type(value)) if isinstance(value, float) else array.dtype)
    changed[0, 0, 0] = value
    return changed


BAD = {
    "no q": lambda a: {name: array for name, array in a.items() if name != "q"},
    "no position": lambda a: {name: array for name, array in a.items() if name != "position"},
    "an unknown array": lambda a: a | {"w": a["q"]},
    "q with a head too many": lambda a: a | {"q": np.repeat(a["q"], 2, axis=1)},
    "q with short heads": lambda a: a | {"q": a["q"][..., :6]},
    "q without tokens": lambda a: a | {"q": a["q"][0]},
    "k with a token less": lambda a: a | {"k": a["k"][1:]},
    "position with two axes": lambda a: a | {"position": a["position"][:, None].repeat(2, axis=1)},
    "a word too large": lambda a: a | {"q": with_element(a["q"], 32768)},
    "a word too small": lambda a: a | {"k": with_element(a["k"], -32769)},
    "NaN": lambda a: a | {"q": with_element(a["q"], math.nan), "k": a["k"] * 1.0},
    "infinity": lambda a: a | {"q": with_element(a["q"], math.inf), "k": a["k"] * 1.0},
    "floats beside integers": lambda a: a | {"q": a["q"] * 1.0},
    "complex numbers": lambda a: a | {"q": a["q"] * 1j},
    "text": lambda a: a | {"q": a["q"].astype(str)},
    "a position below 0": lambda a: a | {"position": a["position"] - 1},
    "a position of 2^24": lambda a: a | {"position": a["position"] + (2**24 - 63)},
    "a position of 2^63": lambda a: a | {"position": a["position"].astype(np.uint64) + np.uint64(2**63)},
    "positions that are floats": lambda a: a | {"position": a["position"] * 1.0},
    "an unknown variant name": lambda a: a | {"variant": np.array(["global"] * 5)},
    "a negative slot": lambda a: a | {"variant": np.array([-1] * 5)},
    "object arrays": lambda a: a | {"q": np.array([[[None] * 8] * 2] * 5, object)},
}


@pytest.mark.parametrize("fault", BAD)
def test_arrays_that_cannot_be_used_are_refused(refused, engine, npz, arrays, tmp_path, fault):
    source = npz(BAD[fault](arrays))
    refused("run", engine, "--input", source, "--output", tmp_path / "Y.npz", "--engine", "model")
    assert [entry.name for entry in tmp_path.iterdir()] == ["X.npz"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not an npz", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_npz_is_refused(refused, engine, tmp_path, content):
    (tmp_path / "X.npz").write_bytes(content)
    refused("run", engine, "--input", tmp_path / "X.npz", "--output", tmp_path / "Y.npz")
    assert [entry.name for entry in tmp_path.iterdir()] == ["X.npz"]


@pytest.mark.parametrize("scale", ["0", "-1", "nan", "inf", "1e-320", "2.2e-308", "1e305"])
def test_a_scale_that_is_none_is_refused(refused, engine, npz, arrays, tmp_path, scale):
    refused("run", engine, "--input", npz(arrays), "--output", tmp_path / "Y.npz", "--scale", scale)


def test_files_that_are_not_there_are_refused(refused, engine, npz, arrays, tmp_path):
    refused("run", tmp_path / "nowhere", "--input", npz(arrays), "--output", tmp_path / "Y.npz")
    refused("run", tmp_path, "--input", npz(arrays), "--output", tmp_path / "Y.npz")
    refused("run", engine, "--input", tmp_path / "nothing.npz", "--output", tmp_path / "Y.npz")
    refused("run", engine, "--input", npz(arrays), "--output", tmp_path / "nowhere" / "Y.npz")
    refused("run", engine, "--input", npz(arrays), "--output", tmp_path)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"ropewalk": 1}', '{"lanes": NaN}'])
def test_a_damaged_design_is_refused(refused, npz, arrays, tmp_path, text):
    (tmp_path / "design").mkdir()
    (tmp_path / "design" / "design.json").write_text(text)
    refused("run", tmp_path / "design", "--input", npz(arrays), "--output", tmp_path / "Y.npz")


def test_nothing_but_a_file_is_ever_replaced(refused, monkeypatch, engine, npz, arrays, tmp_path):
    """Pipes, sockets, folders, links to them and loops of links are refused before anything runs, and stay."""
    monkeypatch.setitem(ENGINES, "model", lambda folder: pytest.fail("it ran"))
    source = npz(arrays)
    os.mkfifo(tmp_path / "pipe")
    # A long path would not fit into a socket's address.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        (tmp_path / "folder").mkdir()
        for name in ("pipe", "socket", "folder"):
            (tmp_path / f"to_{name}").symlink_to(name)
        (tmp_path / "loop").symlink_to("loop")
        before = {entry.name: entry.lstat() for entry in tmp_path.iterdir()}
        for target in ("pipe", "socket", "folder", "to_pipe", "to_socket", "to_folder", "loop"):
            assert "cannot be written" in refused(
                "run", engine, "--input", source, "--output", target, "--engine", "model"
            )
        after = {entry.name: entry.lstat() for entry in tmp_path.iterdir()}
    assert {name: (one.st_ino, one.st_mode) for name, one in before.items()} == {
        name: (one.st_ino, one.st_mode) for name, one in after.items()
    }


def test_a_link_to_a_file_stays_one(ropewalk, engine, npz, arrays, tmp_path):
    """What the link points to is replaced, or made where it is not there yet."""
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "old.npz").write_bytes(b"old")
    for name in ("old", "new"):
        link = tmp_path / f"{name}.npz"
        link.symlink_to(f"far/{name}.npz")
        assert ropewalk("run", engine, "--input", npz(arrays), "--output", link, "--engine", "model").code == 0
        assert link.is_symlink()
        assert loaded(tmp_path / "far" / f"{name}.npz")["error"].tolist() == [0] * 5


def test_integers_are_raw_words_whatever_the_scale(run, arrays):
    """The scale of integers is what the caller says of them: it comes back, and changes no word."""
    plain, _ = run(arrays)
    scaled, _ = run(arrays, "--scale", "0.25")
    assert (plain["scale"], scaled["scale"]) == (1, 0.25)
    assert scaled["q"].dtype == np.int32
    assert np.array_equal(scaled["q"], plain["q"]) and np.array_equal(scaled["k"], plain["k"])


@pytest.mark.parametrize("factor", [1e-30, 1e-310, 1e-325])
def test_the_smallest_floats_have_a_scale_of_their_own(run, arrays, factor):
    """Down to the smallest double: the default scale is a normal one, and a word is the float over it."""
    tiny = {"q": arrays["q"] * factor, "k": arrays["k"] * factor, "position": arrays["position"]}
    found, result = run(tiny)
    assert result.err == ""
    scale = float(found["scale"])
    assert scale >= 2.0**-1022 and math.frexp(scale)[0] == 0.5
    assert np.abs(found["q"][0] - tiny["q"][0]).max() <= scale / 2


def test_a_waveform_of_some_clocks(run, ropewalk, engine, npz, arrays, tmp_path):
    """What the file holds, tests/sim/engines/test_waveform.py says; here, that the options reach it."""
    path = tmp_path / "one.vcd"
    options = ("--waveform", path, "--waveform-clocks", "20:7")
    found, result = run(arrays, *options, engine_name="verilator")
    assert np.array_equal(found["q"], run(arrays)[0]["q"])
    assert f"clocks 20 to 26, as far as the run went, written to {path}" in result.out
    times = [int(line[1:]) for line in path.read_text().splitlines() if line.startswith("#")]
    assert times == [10 * clock + half for clock in range(20, 27) for half in (0, 5)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--waveform", "one.png"), "must end in .vcd or .fst, not 'one.png'"),
        (("--waveform-clocks", "0:5"), "--waveform-clocks needs --waveform FILE"),
        (("--waveform", "one.vcd", "--waveform-clocks", "5"), "must be FIRST:COUNT, two numbers, not '5'"),
        (("--waveform", "one.vcd", "--waveform-clocks", "-1:5"), "must be FIRST:COUNT, two numbers, not '-1:5'"),
        (("--waveform", "one.vcd", "--waveform-clocks", "0:0"), "clocks of a waveform must be an integer from 1 on"),
        (("--waveform", "one.vcd", "--engine", "model"), "is for rotary engines, run by --engine verilator"),
        (("--waveform", "one.vcd", "--waveform-clocks", "99999:5"), "there is no waveform of clocks 99999 to 100003"),
        (("--waveform", "no/such/one.vcd"), "the waveform no/such/one.vcd cannot be written"),
    ],
)
def test_waveforms_that_cannot_be(options, message, ropewalk, engine, npz, arrays, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "Y.npz"
    result = ropewalk("run", engine, "--input", npz(arrays), "--output", target, *options)
    assert result.code == 2 and message in result.err and "Traceback" not in result.err
    assert not target.exists() and not (tmp_path / "one.vcd").exists()
