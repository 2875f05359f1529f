"""Position 4,096 of a table of 4,096 rows, and what lies around it, in every engine and from the command line."""

import json

import numpy as np
import pytest
from ropewalk_cli.main import call

ENGINES = ["model", "amaranth", "icarus", "verilator"]
ROWS = 4096
BERT = {"model_type": "bert", "max_position_embeddings": ROWS, "hidden_size": 4}
POSITION = np.array([0, ROWS - 1, ROWS, 1, ROWS + 1, 2 * ROWS - 1, 2**24 - 1, ROWS - 1])
PAST = [0, 0, 1, 0, 1, 1, 1, 0]
X = np.random.default_rng(1).integers(-30000, 30000, (len(POSITION), 4))


def entries():
    """The table in LSB of the data, ``int64 [rows, 4]``: no row is like its neighbours, or like row 0."""
    return (np.arange(ROWS * 4).reshape(ROWS, 4) * 37 + 5) % 1009 - 500


@pytest.fixture(scope="module", params=["block-ram", "external"])
def folder(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    (place / "config.json").write_text(json.dumps(BERT))
    np.save(place / "table.npy", (entries() / 256).astype(np.float32))
    model, table = str(place / "config.json"), str(place / "table.npy")
    options = ["--table", table, "--table-memory", request.param]
    assert call(["generate", model, "-o", str(place / "design"), *options]) == 0
    return place / "design"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_tokens_fail_in_every_engine(ropewalk, npz, folder, tmp_path, engine):
    """The last row is added; the row after it, the ones after that and 2^24 - 1 give x and the error."""
    source, target = npz({"x": X, "position": POSITION}), tmp_path / "Y.npz"
    result = ropewalk("run", folder, "--input", source, "--output", target, "--engine", engine)
    assert result.code == 0, result.err
    assert "4 of 8 tokens came back unchanged (error 1): the position has no row: the table ends at position 4095" in (
        result.err
    )
    with np.load(target) as out:
        assert out["error"].tolist() == PAST
        added = np.where(np.array(PAST)[:, None], 0, entries()[POSITION % ROWS])
        assert np.array_equal(out["x"], X + added)


def test_verify_finds_the_engines_of_one_mind(ropewalk, npz, folder):
    source = npz({"x": X, "position": POSITION})
    result = ropewalk("verify", folder, "--input", source, "--engines", ",".join(ENGINES), "--json")
    document = json.loads(result.out)
    assert (result.code, document["passed"]) == (0, True)
    assert [engine["name"] for engine in document["engines"]] == ENGINES
    assert [engine["differing_bits"] for engine in document["engines"]] == [None, 0, 0, 0]
    assert document["variants"][0]["tokens"] == PAST.count(0)
