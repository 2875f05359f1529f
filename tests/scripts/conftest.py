"""Command lines run in this process, and one small engine that the tests share."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from ropewalk_cli.main import call

TINY = {
    "model_type": "llama",
    "hidden_size": 16,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "num_hidden_layers": 3,
    "max_position_embeddings": 64,
    "rope_theta": 10000.0,
    "vocab_size": 100,
}
"""Two query heads and one key head of eight elements, 64 positions."""


class Result(NamedTuple):
    """What one command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def ropewalk(capfd):
    """Run a command line: ``ropewalk("geometry", path)``."""

    def run(*arguments):
        capfd.readouterr()
        code = call([str(argument) for argument in arguments])
        return Result(code, *capfd.readouterr())

    return run


@pytest.fixture
def config(tmp_path):
    """Write a config.json: TINY with changes; a key given as None is left out."""

    def write(**changes):
        path = tmp_path / "config.json"
        values = {key: value for key, value in (TINY | changes).items() if value is not None}
        path.write_text(json.dumps(values))
        return path

    return write


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    """The folder of TINY's engine. Tests must not change it."""
    folder = tmp_path_factory.mktemp("engine")
    (folder / "config.json").write_text(json.dumps(TINY))
    assert call(["generate", str(folder / "config.json"), "-o", str(folder / "design")]) == 0
    return folder / "design"


@pytest.fixture
def arrays():
    """Good arrays for TINY: five tokens of words up to a quarter of full scale."""
    random = np.random.default_rng(5)
    return {
        "q": random.integers(-8000, 8000, (5, 2, 8)),
        "k": random.integers(-8000, 8000, (5, 1, 8)),
        "position": np.array([0, 1, 2, 62, 63]),
    }


@pytest.fixture
def npz(tmp_path):
    """Write arrays to X.npz."""

    def write(arrays, **options):
        path = tmp_path / "X.npz"
        np.savez(path, **options, **arrays)
        return path

    return write


@pytest.fixture
def refused(ropewalk):
    """Run a command line that must be refused: code 2, stdout empty, one sentence on stderr. Gives the sentence."""

    def run(*arguments):
        result = ropewalk(*arguments)
        assert result.code == 2, result
        assert result.out == ""
        assert result.err.startswith("ropewalk: ")
        assert result.err.count("\n") == 1, result.err
        assert "Traceback" not in result.err
        return result.err

    return run
