"""``run``, ``verify``, ``digest`` and ``compare`` on ALiBi, learned and sinusoidal units, against the papers' formulas.

What is expected is written out here, in fractions and doubles: no table, model or rounding of the project's own.
"""

import json
import shutil
from fractions import Fraction
from math import cos, floor, sin

import numpy as np
import pytest
from ropewalk_cli.schemes import units
from ropewalk_sim.learned.unit import LearnedUnit
from safetensors.numpy import load_file

ENGINES = ["model", "amaranth", "icarus", "verilator"]
SCHEMES = ["alibi", "learned", "sinusoidal"]
MOST = 2**24


@pytest.fixture
def run(ropewalk, npz, tmp_path):
    """Run arrays through the unit in a folder; the arrays that come out, and what was said on stderr."""

    def through(folder, arrays, engine="model", *options):
        target = tmp_path / "Y.npz"
        result = ropewalk("run", folder, "--input", npz(arrays), "--output", target, "--engine", engine, *options)
        assert result.code == 0, result.err
        with np.load(target) as out:
            return dict(out), result.err

    return through


def half_up(value, width=16):
    """A fraction as the word it must become."""
    return min(max(floor(value + Fraction(1, 2)), -(2 ** (width - 1))), 2 ** (width - 1) - 1)


def press_slopes(heads):
    """``get_slopes`` of Press, Smith and Lewis (their repository), for a power of two and for any other number."""
    power = 2 ** (heads.bit_length() - 1)
    ratio = 2.0 ** (-8.0 / power)
    slopes = [ratio ** (head + 1) for head in range(power)]
    return slopes if power == heads else slopes + press_slopes(2 * power)[0::2][: heads - power]


SCORES = {
    "query_position": np.array([0, 5, 100, MOST - 1]),
    "key_start": np.array([-2, 0, 97, MOST - 6]),
    "causal": np.array([1, 0, 1, 0]),
}


def alibi_expected(score, slopes, distance, arrays):
    """The biased scores, element by element; ``distance(key, query, length)`` is the mode's."""
    expected = np.zeros(score.shape, np.int64)
    for head, query, key in np.ndindex(score.shape):
        position, first = int(arrays["query_position"][query]), int(arrays["key_start"][query])
        k = first + key
        away = 0 if k < 0 else distance(k, position, first + score.shape[2])
        biased = half_up(int(score[head, query, key]) + 256 * Fraction(slopes[head]) * away)
        expected[head, query, key] = -(2**15) if arrays["causal"][query] and k > position else biased
    return expected


@pytest.mark.parametrize("engine", ENGINES)
def test_bloom_scores_in_every_engine(run, unit, engine):
    score = np.random.default_rng(1).integers(-20000, 20000, (9, 4, 6))
    out, said = run(unit("alibi"), {"score": score, **SCORES}, engine)
    assert press_slopes(9) == [*(2**-n for n in range(1, 9)), 2**-0.5]
    assert np.array_equal(out["score"], alibi_expected(score, press_slopes(9), lambda k, q, n: k, SCORES))
    assert out["score"].dtype == np.int32
    assert out["error"].shape == (9, 4)
    assert not out["error"].any()
    assert said == ""


@pytest.mark.parametrize(
    ("preset", "heads", "distance"),
    [
        ("mpt-7b", 32, lambda k, q, n: k - (n - 1)),
        ("jina-embeddings-v2-base", 12, lambda k, q, n: -abs(k - q)),
    ],
)
def test_the_modes_of_mpt_and_jinabert(ropewalk, run, tmp_path, preset, heads, distance):
    assert ropewalk("generate", preset, "-o", tmp_path / "unit", "--lanes", 2, "--no-registers").code == 0
    score = np.random.default_rng(2).integers(-20000, 20000, (heads, 4, 5))
    arrays = {**SCORES, "key_start": np.array([-2, 0, 97, MOST - 5])}
    out, _ = run(tmp_path / "unit", {"score": score, **arrays})
    assert np.array_equal(out["score"], alibi_expected(score, press_slopes(heads), distance, arrays))


def test_a_scalar_key_start_and_floats(run, unit):
    """Floats are multiples of 2^-8, and come back so; a bias of BLOOM's fourth head is key / 16."""
    score = np.zeros((9, 2, 3))
    out, _ = run(unit("alibi"), {"score": score, "query_position": np.array([0, 1]), "key_start": np.array(16)})
    assert out["scale"] == 2**-8
    assert out["score"].dtype == np.float64
    assert out["score"][3].tolist() == [[1.0, 17 / 16, 18 / 16]] * 2


X = np.random.default_rng(3).integers(-30000, 30000, (6, 6))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheme", ["learned", "external"])
def test_opt_rows_in_every_engine(run, unit, opt_model, scheme, engine):
    """Position p reads row p + 2; position 14 of a table for 14, and those after it, are an error: x unchanged."""
    (table,) = load_file(opt_model / "model.safetensors").values()
    position = np.array([0, 1, 13, 14, 15, MOST - 1])
    out, said = run(unit(scheme), {"x": X, "position": position}, engine)
    expected = X.copy()
    for token in range(3):
        added = [256 * Fraction(float(value)) for value in table[position[token] + 2]]
        expected[token] = [half_up(int(x) + entry) for x, entry in zip(X[token], added, strict=True)]
    assert np.array_equal(out["x"], expected)
    assert out["error"].tolist() == [0, 0, 0, 1, 1, 1]
    assert "3 of 6 tokens came back unchanged (error 1): the position has no row" in said


@pytest.mark.parametrize("engine", ENGINES)
def test_sinusoids_in_every_engine(run, unit, engine):
    """Vaswani et al., 3.5: sin and cos of pos / 10000^(2i/d) in turn."""
    position = np.array([0, 1, 15, 16, 17, MOST - 1])
    out, said = run(unit("sinusoidal"), {"x": X, "position": position}, engine)
    assert out["error"].tolist() == [0, 0, 0, 1, 1, 1]
    assert np.array_equal(out["x"][3:], X[3:])
    for token in range(3):
        angles = [position[token] / 10000 ** (2 * pair / 6) for pair in range(3)]
        exact = X[token] + 256 * np.array([value for angle in angles for value in (sin(angle), cos(angle))])
        assert np.abs(out["x"][token] - exact).max() <= 0.501
    assert np.array_equal(out["x"][0], X[0] + [0, 256] * 3)
    assert "the limit, 16" in said


@pytest.mark.parametrize("scheme", ["learned", "sinusoidal"])
def test_floats_are_quantised_with_the_lsb(run, unit, scheme):
    x = np.array([[0.25] * 6, [1000.0] * 6])
    out, said = run(unit(scheme), {"x": x, "position": np.array([MOST - 1] * 2)}, "model", "--scale", 2**-8)
    assert out["scale"] == 2**-8
    assert out["x"].tolist() == [[0.25] * 6, [(2**15 - 1) / 256] * 6]
    assert "6 elements did not fit 16 bits" in said


TOKENS = {"x": np.zeros((2, 6), np.int64), "position": np.arange(2)}
ROWS = {"score": np.zeros((9, 2, 4), np.int64), "query_position": np.arange(2), "key_start": np.array(0)}


@pytest.mark.parametrize(
    ("scheme", "changes", "named"),
    [
        ("learned", {"position": np.array([0, -1])}, "position[1] is -1"),
        ("sinusoidal", {"position": np.array([0, MOST])}, f"position[1] is {MOST}"),
        ("alibi", {"query_position": np.array([-1, 0])}, "query_position[0] is -1"),
        ("alibi", {"query_position": np.array([MOST, 0])}, f"query_position[0] is {MOST}"),
        ("alibi", {"key_start": np.array([0, MOST])}, f"key_start[1] is {MOST}"),
        ("learned", {"x": np.zeros((2, 7), np.int64)}, "x has the shape [2, 7]"),
        ("sinusoidal", {"position": np.arange(3)}, "position has the shape [3]"),
        ("alibi", {"score": np.zeros((2, 2, 4), np.int64)}, "score has the shape [2, 2, 4]"),
        ("learned", {"x": np.full((2, 6), np.nan)}, "x[0, 0] is nan"),
        ("alibi", {"score": np.full((9, 2, 4), np.nan)}, "score[0, 0, 0] is nan"),
        ("sinusoidal", {"x": np.full((2, 6), 2**15)}, "x[0, 0] is 32768"),
        ("alibi", {"score": np.full((9, 2, 4), -(2**15) - 1)}, "score[0, 0, 0] is -32769"),
        ("learned", {"x": None}, "the array x [tokens, dimension] is missing"),
        ("sinusoidal", {"masked": np.zeros(2, bool)}, "masked"),
        ("alibi", {"causal": np.array([0, 2])}, "causal[1] is 2"),
        ("alibi", {"q": np.zeros(1)}, "q"),
    ],
)
def test_arrays_that_are_refused(refused, unit, npz, tmp_path, scheme, changes, named):
    good = ROWS if scheme == "alibi" else TOKENS
    arrays = {name: array for name, array in {**good, **changes}.items() if array is not None}
    said = refused("run", unit(scheme), "--input", npz(arrays), "--output", tmp_path / "Y.npz", "--engine", "model")
    assert named in said
    assert not (tmp_path / "Y.npz").exists()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_another_scale_is_refused(refused, unit, npz, tmp_path, scheme):
    arrays = ROWS if scheme == "alibi" else TOKENS
    said = refused("run", unit(scheme), "--input", npz(arrays), "--output", tmp_path / "Y.npz", "--scale", 0.5)
    assert "scale" in said
    assert "0.00390625" in said


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nothing_in_nothing_out(run, unit, scheme):
    if scheme == "alibi":
        arrays = {"score": np.zeros((9, 0, 4), np.int64), "query_position": np.zeros(0, np.int64), "key_start": 0}
    else:
        arrays = {"x": np.zeros((0, 6), np.int64), "position": np.zeros(0, np.int64)}
    for engine in ("model", "verilator"):
        out, _ = run(unit(scheme), arrays, engine)
        assert out["error"].size == 0


@pytest.fixture
def short(monkeypatch):
    """A built-in input that takes seconds."""
    for name, beats in (("BULK_BEATS", 2000), ("CORNER_BEATS", 1000), ("SLOW_BEATS", 60)):
        monkeypatch.setattr(units, name, beats)


@pytest.mark.parametrize(
    ("scheme", "engines", "bound"),
    [
        ("alibi", ENGINES, 0.508),
        ("learned", ENGINES[:2], 0.5),
        ("external", ENGINES, 0.5),
        ("sinusoidal", ENGINES[::3], 0.5002),
    ],
)
def test_verify_finds_no_difference(ropewalk, unit, short, scheme, engines, bound):
    result = ropewalk("verify", unit(scheme), "--engines", ",".join(engines), "--json")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out)
    assert document["passed"]
    assert [engine["name"] for engine in document["engines"]] == engines
    assert [engine["differing_bits"] for engine in document["engines"]] == [None] + [0] * (len(engines) - 1)
    assert all(engine["beats"] >= 60 and engine["corner_beats"] > 20 for engine in document["engines"])
    (variant,) = document["variants"]
    assert (variant["name"], variant["differing_bits"]) == ("default", 0)
    assert variant["elements"] > 1000
    assert (0.05 if scheme == "alibi" else 0.2) < variant["rms_lsb"] < 0.3  # 8 of 9 slopes are powers of two
    assert 0.4 < variant["worst_lsb"] <= bound
    assert abs(variant["bias_lsb"]) < 0.1


@pytest.mark.parametrize(("scheme", "file"), [("alibi", "slopes"), ("learned", "rows"), ("sinusoidal", "steps_0")])
def test_one_changed_word_makes_verify_fail(ropewalk, unit, npz, tmp_path, scheme, file):
    shutil.copytree(unit(scheme), tmp_path / "unit")
    path = tmp_path / "unit" / f"{file}.hex"
    lines = path.read_text().splitlines()
    lines[1] = f"{int(lines[1], 16) ^ 1:0{len(lines[1])}x}"
    path.write_text("\n".join(lines) + "\n")
    source = npz(ROWS if scheme == "alibi" else TOKENS)
    result = ropewalk("verify", tmp_path / "unit", "--engines", "model", "--input", source, "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert not document["passed"]
    (sentence,) = document["changed_tables"]
    assert f"{file}.hex" in sentence
    assert document["changed_verilog"] is None


@pytest.mark.parametrize("scheme", SCHEMES)
def test_verilog_that_was_changed_makes_verify_fail(ropewalk, unit, npz, tmp_path, scheme):
    shutil.copytree(unit(scheme), tmp_path / "unit")
    path = tmp_path / "unit" / "ropewalk.v"
    path.write_text(path.read_text().replace("posedge clk", "negedge clk", 1))
    source = npz(ROWS if scheme == "alibi" else TOKENS)
    result = ropewalk("verify", tmp_path / "unit", "--engines", "model", "--input", source)
    assert result.code == 1
    assert "ropewalk.v differs in line" in result.err


def test_a_table_that_cannot_be_read_is_said_and_fails(ropewalk, unit, tmp_path):
    shutil.copytree(unit("learned"), tmp_path / "unit")
    (tmp_path / "unit" / "rows.hex").unlink()
    result = ropewalk("verify", tmp_path / "unit", "--engines", "model", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert "rows.hex cannot be read" in document["changed_tables"][0]
    assert "rows.hex cannot be read" in document["engines"][0]["error"]
    assert document["variants"][0]["worst_lsb"] is None


def test_digest_and_compare_take_the_folder_and_the_model(ropewalk, unit):
    for scheme in SCHEMES:
        folder, config = unit(scheme), unit(scheme).parent / "config.json"
        assert ropewalk("digest", folder).out == ropewalk("digest", config).out
        assert ropewalk("compare", folder, config).code == 0
        described = json.loads(ropewalk("digest", folder, "--json").out)
        assert described["scheme"] == scheme
        assert json.loads((folder / "design.json").read_text())["digest"] == described["digest"]
    assert ropewalk("compare", unit("alibi"), unit("learned")).code == 1


def test_one_wrong_bit_of_an_engine_is_found(ropewalk, unit, short, monkeypatch):
    """In a corner case only, so that the report must name it."""
    right = LearnedUnit.run

    def wrong(self, engine, stream, *, stalls=None, progress=None):
        output = right(self, "model", stream)
        if engine == "icarus" and stalls is not None:
            output.data[3, 0] ^= 1
        return output

    monkeypatch.setattr(LearnedUnit, "run", wrong)
    result = ropewalk("verify", unit("learned"), "--engines", "model,icarus,verilator", "--json")
    assert result.code == 1
    document = json.loads(result.out)
    assert [engine["differing_bits"] for engine in document["engines"]] == [None, 1, 0]
    assert document["engines"][1]["first_difference"].startswith("corner cases for slow engines: beat 3, octet 0: ")
    assert "icarus differs from model in 1 bits" in result.err
    assert document["variants"][0]["differing_bits"] == 1
