"""``ropewalk compare``: what is the same, what differs, and by how much."""

import json
from fractions import Fraction

import mpmath
import pytest

YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}


@pytest.fixture
def worker(tmp_path, config):
    """Write one worker's configuration: TINY with changes."""

    def write(name, **changes):
        folder = tmp_path / name
        folder.mkdir()
        config(**changes).rename(folder / "config.json")
        return folder

    return write


def document(ropewalk, *arguments):
    result = ropewalk("compare", *arguments, "--json")
    assert result.code in (0, 1), result
    return result.code, json.loads(result.out)


def angles(base, factor, positions):
    """The largest difference of the angles of TINY's four pairs at a base with and without linear scaling by factor.

    In turns of 48-bit steps, by looking at every position.
    """
    with mpmath.workprec(200):
        steps = [
            [int(mpmath.floor(f / divisor / (2 * mpmath.pi) * 2**48 + 0.5)) for f in inverse]
            for divisor in (1, factor)
            for inverse in ([mpmath.mpf(float(mpmath.mpf(base) ** (-mpmath.mpf(i) / 4))) for i in range(4)],)
        ]
        apart = {}
        for pair in range(4):
            for position in range(positions):
                turns = Fraction(position * (steps[0][pair] - steps[1][pair]), 1 << 48) % 1
                apart[pair, position] = min(turns, 1 - turns)
        largest = max(apart.values())
        pair, position = min(key for key, value in apart.items() if value == largest)
        visible = min(position for (_, position), value in apart.items() if value * 2 * mpmath.pi > 0.1)
        return pair, position, float(2 * mpmath.pi * largest.numerator / largest.denominator), visible


def test_workers_with_different_scaling(ropewalk, worker):
    """Two workers of one model, one of them with its configuration's scaling dropped: the seeds' silent mistake."""
    a = worker("a", rope_scaling={"type": "linear", "factor": 2.0})
    b = worker("b")
    result = ropewalk("compare", a, b)
    assert result.code == 1
    assert "Their geometry differs:" in result.out
    assert "4 of 4 pairs turn differently, the first is pair 0" in result.out
    code, found = document(ropewalk, a, b)
    assert (code, found["same"], len(found["differences"])) == (1, False, 1)
    (difference,) = found["differences"]
    pair, position, radians, visible = angles(10_000, 2, 64)
    assert (difference["what"], difference["worst_pair"], difference["position"]) == ("angles", pair, position)
    assert difference["radians"] == pytest.approx(radians, rel=1e-12)
    assert difference["visible_from"] == visible
    assert f"by {radians:.6g} rad at position {position}" in result.out
    # A turns half as fast as B.
    assert difference["a"] * 2 == difference["b"]
    assert difference["radians_at_1"] == pytest.approx(0.5, rel=1e-12)


def test_naive_interpolation_is_not_yarn(ropewalk, worker):
    a = worker("a", rope_scaling=YARN)
    b = worker("b", rope_scaling={"type": "linear", "factor": 4.0})
    code, found = document(ropewalk, a, b)
    assert code == 1
    by_what = {difference["what"]: difference for difference in found["differences"]}
    assert by_what["amplitude"]["a"] == pytest.approx(1.138629, rel=1e-6)
    assert by_what["amplitude"]["b"] == 1.0
    assert by_what["angles"]["first_pair"] == 0


def test_the_same_in_older_and_newer_keys(ropewalk, worker):
    a = worker("a", rope_scaling=YARN)
    newer = {"rope_type": "yarn", "rope_theta": 10_000.0, "factor": 4.0, "original_max_position_embeddings": 16}
    b = worker("b", rope_theta=None, rope_parameters=newer)
    code, found = document(ropewalk, a, b)
    assert (code, found["same"], found["differences"], found["remarks"]) == (0, True, [], [])
    assert found["a"]["digest"] == found["b"]["digest"]
    result = ropewalk("compare", a, b)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("They have the same geometry.\n")


def test_the_document(ropewalk):
    code, found = document(ropewalk, "gemma-3-1b", "gemma-3-270m")
    assert code == 0
    assert list(found) == ["same", "a", "b", "differences", "remarks"]
    assert list(found["a"]) == ["name", "scheme", "model_type", "digest"]
    assert found["remarks"] == ["the number of layers is 26 in A, 18 in B"]
    _, found = document(ropewalk, "qwen2.5-7b", "qwen2.5-7b-yarn")
    assert [list(each) for each in found["differences"]] == [
        ["what", "a", "b", "sentence", "variant"],
        [
            *("what", "a", "b", "sentence", "variant", "pairs", "differing_pairs", "first_pair", "worst_pair"),
            *("radians", "position", "radians_at_1", "visible_from"),
        ],
    ]


def test_a_model_and_the_engine_made_of_it(ropewalk, config, engine):
    assert ropewalk("compare", config(), engine).code == 0
    assert ropewalk("compare", engine, config()).code == 0
    code, found = document(ropewalk, engine, config(max_position_embeddings=128))
    (difference,) = found["differences"]
    assert (code, difference["what"], difference["a"], difference["b"]) == (1, "max_position", 64, 128)


def test_engines_with_other_phase_bits_and_angles(ropewalk, config, engine, tmp_path):
    rough = tmp_path / "rough"
    assert ropewalk("generate", config(), "-o", rough, "--phase-bits", "20").code == 0
    _, found = document(ropewalk, engine, rough)
    bits, angles = found["differences"]
    assert (bits["what"], bits["a"], bits["b"]) == ("phase_bits", 48, 20)
    assert angles["what"] == "angles"
    # Half a unit of 2**-20 turns per position, at the most, over 63 positions.
    assert 0 < angles["radians"] <= 63 * 3.1416 / 2**20
    assert angles["visible_from"] is None
    table = tmp_path / "table"
    assert ropewalk("generate", config(), "-o", table, "--source", "table", "--angle-model", "hf_f32").code == 0
    _, found = document(ropewalk, engine, table)
    assert [each["sentence"] for each in found["differences"]] == ["the angle model is exact in A, hf_f32 in B"]
    other = tmp_path / "other"
    base = config(rope_theta=10_001.0)
    assert ropewalk("generate", base, "-o", other, "--source", "table", "--angle-model", "hf_f32").code == 0
    _, found = document(ropewalk, table, other)
    assert [each["what"] for each in found["differences"]] == ["angles", "software"]


def test_whose_reading_is_followed_can_differ(ropewalk):
    arguments = ("gpt-oss-20b", "gpt-oss-20b")
    assert ropewalk("compare", *arguments, "--follow", "llama.cpp").code == 0
    result = ropewalk("compare", *arguments, "--follow", "hf", "--follow", "llama.cpp")
    assert result.code == 1
    assert "note: A: rope_scaling.truncate is false and respected" in result.err
    assert "note: B: rope_scaling.truncate is ignored" in result.err
    code, found = document(ropewalk, "llama-2-7b", "llama-2-7b", "--pairing", "half", "--pairing", "interleaved")
    assert (code, [each["what"] for each in found["differences"]]) == (1, ["pairing", "output_pairing"])


@pytest.mark.parametrize(
    ("a", "b", "sentences"),
    [
        (
            "bloom-176b",
            "mpt-7b",
            [
                "the number of heads is 112 in A, 32 in B",
                "the mode (what a slope is multiplied with) is absolute in A, mpt in B",
                "32 of 32 heads have another slope, the first is head 0; head 7 is the farthest off, 0.5 in A "
                "and 0.25 in B: 250 between the biases at a distance of 1,000 positions",
            ],
        ),
        ("gpt-2-small", "bert-base", ["the number of rows of the table is 1,024 in A, 512 in B"]),
        ("bert-base", "llama-7b", ["the scheme is learned in A, rope in B"]),
        (
            "qwen2.5-vl-3b",
            "qwen2.5-7b",
            [
                "the number of positions is 128,000 in A, 131,072 in B",
                "pair 16 is the first that follows another axis of the position: it is 1 in A, 0 in B",
            ],
        ),
    ],
)
def test_other_schemes_and_axes_in_words(ropewalk, a, b, sentences):
    _, found = document(ropewalk, a, b)
    assert [difference["sentence"] for difference in found["differences"]] == sentences
    assert all(f"  {sentence}.\n" in ropewalk("compare", a, b).out for sentence in sentences)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing", "llama-7b"), "nothing is neither a file, a folder nor a preset"),
        (("llama-7b", "nothing"), "nothing is neither a file, a folder nor a preset"),
        (("llama-7b",), "Missing argument 'B'"),
        (("llama-7b", "llama-7b", *["--follow", "hf"] * 3), "--follow is given 3 times"),
    ],
)
def test_bad_input(refused, arguments, words):
    assert words in refused("compare", *arguments)


def test_a_damaged_engine_is_bad_input(refused, tmp_path):
    (tmp_path / "design.json").write_text("{")
    assert "design.json" in refused("compare", "llama-7b", tmp_path)
