"""Command lines run in this process, and one small engine that the tests share."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from ropewalk_cli.main import call
from safetensors.numpy import save_file

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


BLOOM = {"model_type": "bloom", "num_attention_heads": 9, "hidden_size": 72}
OPT = {"model_type": "opt", "max_position_embeddings": 14, "hidden_size": 6, "word_embed_proj_dim": 6}
TRANSFORMER = {"model_type": "transformer", "d_model": 6, "max_length": 16}
UNITS = {"alibi": BLOOM, "learned": OPT, "sinusoidal": TRANSFORMER}
"""A tiny model of each scheme but the rotary one: 9 heads; 16 rows, 14 positions; 16 positions."""


def opt_table():
    """OPT's position table, ``float16 [16, 6]``."""
    return np.random.default_rng(16).normal(size=(16, 6)).astype(np.float16)


@pytest.fixture(scope="session")
def opt_model(tmp_path_factory):
    """A folder with OPT's configuration and weights. Tests must not change it."""
    folder = tmp_path_factory.mktemp("opt")
    (folder / "config.json").write_text(json.dumps(OPT))
    save_file({"model.decoder.embed_positions.weight": opt_table()}, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="session")
def unit(tmp_path_factory, opt_model):
    """Give the folder of the unit of a scheme, made when it is first asked for. Tests must not change it.

    ``external`` is the learned one with its table outside.
    """
    made = {}

    def folder(scheme):
        if scheme not in made:
            place = tmp_path_factory.mktemp(scheme)
            external = scheme == "external"
            (place / "config.json").write_text(json.dumps(UNITS["learned" if external else scheme]))
            model = opt_model if external or scheme == "learned" else place / "config.json"
            options = ["--table-memory", "external"] if external else []
            assert call(["generate", str(model), "-o", str(place / "design"), *options]) == 0
            made[scheme] = place / "design"
        return made[scheme]

    return folder
