"""``--angle-model``: what the folder then holds, that every engine agrees on it, and what is refused."""

import json

import numpy as np
import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.model import rows

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}


def followed(config, **changes):
    return config(rope_theta=None, rope_parameters={"rope_theta": 10000.0, **YARN}, **changes)


@pytest.mark.parametrize("model", ["hf_f32", "llamacpp_f32"])
def test_the_folder_is_self_contained_and_every_engine_agrees(model, ropewalk, config, tmp_path):
    folder = tmp_path / "out"
    made = ropewalk("generate", followed(config), "-o", folder, "--source", "table", "--angle-model", model)
    assert made.code == 0, made
    assert f"read from a table of {model} angles" in made.out
    assert f"the single-precision angles of {model}" in made.err
    written = json.loads((folder / "design.json").read_text())
    assert written["parameters"]["angle_model"] == model
    assert written["geometry"]["variants"][0]["recipe"]["kind"] == "yarn"
    design = load_rotary(folder)
    assert design.angle_model == model
    assert design.variants[0].recipe is not None
    words = [int(line, 16) for line in (folder / "rows.hex").read_text().split() if not line.startswith("/")]
    entries = rows(design, 0, np.arange(64)).reshape(-1, 3)
    assert words[: len(entries)] == [q | c << 2 | s << 20 for q, c, s in entries.tolist()]
    verified = ropewalk("verify", folder, "--engines", "model,amaranth,verilator", "--json")
    assert verified.code == 0, verified
    result = json.loads(verified.out)
    assert result["passed"]
    assert [engine["differing_bits"] for engine in result["engines"]] == [None, 0, 0]


def test_angle_models_differ_in_the_table_and_the_digest(ropewalk, config, tmp_path):
    path = followed(config, max_position_embeddings=8192)
    tables, digests = set(), set()
    for model in ("exact", "hf_f32", "llamacpp_f32"):
        options = ("--source", "table", "--positions", "512", "--angle-model", model, "--coefficient-width", "24")
        assert ropewalk("generate", path, "-o", tmp_path / model, *options).code == 0
        tables.add((tmp_path / model / "rows.hex").read_bytes())
        digests.add(json.loads((tmp_path / model / "design.json").read_text())["digest"])
    assert (len(tables), len(digests)) == (3, 3)


def test_a_changed_recipe_is_noticed(ropewalk, refused, config, tmp_path):
    folder = tmp_path / "out"
    options = ("--source", "table", "--angle-model", "hf_f32")
    assert ropewalk("generate", followed(config), "-o", folder, *options).code == 0
    path = folder / "design.json"
    path.write_text(path.read_text().replace('"base": 10000.0', '"base": 10001.0'))
    assert "digest" in refused("verify", folder)


def test_the_synth_source_is_refused(refused, config, tmp_path):
    sentence = refused("generate", config(), "-o", tmp_path / "out", "--angle-model", "hf_f32")
    assert "needs the table source" in sentence
    assert not (tmp_path / "out").exists()


def test_what_the_software_does_not_have_is_refused(ropewalk, config, tmp_path):
    path = config(rope_scaling={"type": "dynamic", "factor": 2.0})
    options = ("--source", "table", "--angle-model", "llamacpp_f32", "--sequence-length")
    refused = ropewalk("generate", path, "-o", tmp_path / "out", *options, "128")
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith("ropewalk: llama.cpp has no dynamic NTK scaling")
    assert not (tmp_path / "out").exists()
    # At the original length nothing is scaled.
    assert ropewalk("generate", path, "-o", tmp_path / "out", *options, "64").code == 0
