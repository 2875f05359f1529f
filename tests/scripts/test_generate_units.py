"""``generate`` for ALiBi, learned and sinusoidal models: options, tables, refusals, and what lies in the folder."""

import json

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

SCHEMES = ["alibi", "learned", "sinusoidal"]
FILES = {
    "alibi": {"slopes.hex"},
    "learned": {"rows.hex"},
    "sinusoidal": {"sine.hex", "steps_0.hex"},
}


@pytest.fixture
def made(ropewalk, tmp_path):
    """Generate with options; the parameters in ``design.json``, the whole of it, and what was said on stderr."""

    def generate(model, *options):
        result = ropewalk("generate", model, "-o", tmp_path / "out", "--force", *options)
        assert result.code == 0, result.err
        document = json.loads((tmp_path / "out" / "design.json").read_text())
        return document["parameters"], document, result.err

    return generate


@pytest.fixture
def model(unit, opt_model):
    """The tiny model of a scheme."""
    return lambda scheme: opt_model if scheme == "learned" else unit(scheme).parent / "config.json"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_the_folder_holds(unit, scheme):
    folder = unit(scheme)
    names = {path.name for path in folder.iterdir()}
    assert names == {"README.md", "design.json", "registers.h", "ropewalk.v", *FILES[scheme]}
    assert "module ropewalk(" in (folder / "ropewalk.v").read_text()
    page = (folder / "README.md").read_text()
    for words in (*(f"`{name}`" for name in names - {"README.md"}), "s_axis_token_tdata", "| 23:16 | tag", "`status`"):
        assert words in page
    for line in page.splitlines():
        assert "None" not in line


@pytest.mark.parametrize("scheme", SCHEMES)
def test_same_input_same_bytes_and_the_documented_defaults(ropewalk, unit, model, tmp_path, scheme):
    spelled = ["--lanes", 4, "--data-width", 16, "--fraction-bits", 8]
    spelled += {
        "alibi": ["--head-capacity", 256],
        "learned": ["--table-width", 16, "--table-memory", "block-ram", "--address-width", 32],
        "sinusoidal": ["--generators", 1, "--amplitude", 1, "--coefficient-width", 18, "--phase-bits", 48],
    }[scheme]
    assert ropewalk("generate", model(scheme), "-o", tmp_path / "again", *spelled).code == 0
    for path in unit(scheme).iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


ROTARY_ONLY = ["--clocks-per-pair=1", "--lane-multipliers=dsp", "--source=synth", "--variant=a=b", "--slots=8",
               "--only=default", "--rounding=half-up", "--coefficients=exact", "--angle-model=exact",
               "--input-pairing=half", "--output-pairing=half", "--axes=1"]  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "options"),
    [
        ("alibi", [*ROTARY_ONLY, "--positions=9", "--table=t.npy", "--generators=1", "--phase-bits=48"]),
        ("learned", [*ROTARY_ONLY, "--no-registers", "--amplitude=1", "--head-capacity=2", "--coefficient-width=18"]),
        ("sinusoidal", [*ROTARY_ONLY, "--no-registers", "--table-width=16", "--resize-rows=9", "--head-capacity=2"]),
    ],
)
def test_options_of_other_schemes_are_refused_by_name(refused, model, tmp_path, scheme, options):
    """Even where they say what would be so without them."""
    for option in options:
        said = refused("generate", model(scheme), "-o", tmp_path / "out", option)
        assert f"{option.split('=')[0]} is an option for " in said
        assert f"(scheme {scheme})" in said
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "option",
    ["--fraction-bits=8", "--table=t.npy", "--table-tensor=t", "--table-width=8", "--table-memory=external",
     "--address-width=32", "--resize-rows=5", "--generators=1", "--amplitude=1", "--layout=half",
     "--head-capacity=4"],
)  # fmt: skip
def test_options_of_units_are_refused_for_a_rotary_engine(refused, config, tmp_path, option):
    said = refused("generate", config(), "-o", tmp_path / "out", option)
    assert f"{option.split('=')[0]} is an option for " in said
    assert "llama has rotary positions (scheme rope)" in said


@pytest.mark.parametrize(
    ("scheme", "options", "named"),
    [
        ("alibi", ["--lanes", 3], "lanes must be one of 1, 2, 4, 8, 16"),
        ("alibi", ["--data-width", 4], "data_width must be an integer from 8 to 32"),
        ("alibi", ["--head-capacity", 8], "room for 8 heads, and the model has 9"),
        ("learned", ["--table-width", 17], "table width"),
        ("learned", ["--resize-rows", 3], "resize rows must be an integer from 4"),
        ("learned", ["--positions", 15], "positions of a learned table"),
        ("learned", ["--positions", 0], "positions of a learned table"),
        ("learned", ["--table", "nowhere.npy"], "there is no file nowhere.npy"),
        ("learned", ["--table-tensor", "wte"], "has no tensor 'wte'"),
        ("sinusoidal", ["--generators", 4], "give at most 2"),
        ("sinusoidal", ["--amplitude", 2.5], "amplitude"),
        ("sinusoidal", ["--amplitude", "nan"], "amplitude"),
        ("sinusoidal", ["--fraction-bits", 20], "a coefficient width of"),
        ("sinusoidal", ["--positions", 2**24 + 1], "positions"),
    ],
)
def test_values_that_do_not_fit_are_refused(refused, model, tmp_path, scheme, options, named):
    assert named in refused("generate", model(scheme), "-o", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_a_model_without_weights_asks_for_a_table(refused, tmp_path):
    said = refused("generate", "gpt-2-small", "-o", tmp_path / "out")
    assert "gpt-2-small comes without weights: give its position table with --table FILE" in said


def test_a_table_of_another_shape_is_refused(refused, model, tmp_path):
    np.save(tmp_path / "table.npy", np.zeros((15, 6)))
    said = refused("generate", model("learned"), "-o", tmp_path / "out", "--table", tmp_path / "table.npy")
    assert "the table has 15 x 6 elements" in said


def words_of(folder):
    """The table in ``rows.hex`` of OPT with 4 lanes and 16 bits, ``[rows, 6]``."""
    beats = [int(line, 16) for line in (folder / "rows.hex").read_text().split()]
    lanes = np.array([[beat >> 16 * lane & 0xFFFF for lane in range(4)] for beat in beats]).astype(np.uint16)
    return lanes.astype(np.int16).reshape(-1, 8)[:, :6].astype(int)


def test_the_table_from_each_kind_of_file(made, unit, model, opt_model, tmp_path):
    """The same values give the same words, which are floor(value * 2^13): the largest is below 4."""
    (table,) = load_file(opt_model / "model.safetensors").values()
    assert np.array_equal(words_of(unit("learned")), np.floor(table.astype(float) * 2**13))
    np.save(tmp_path / "table.npy", table.astype(np.float64))
    save_file({"mine": table.astype(np.float32)}, tmp_path / "t.safetensors")
    files = (["--table", tmp_path / "table.npy"], ["--table", tmp_path / "t.safetensors", "--table-tensor", "mine"])
    for options in files:
        made(unit("learned").parent / "config.json", *options)
        assert (tmp_path / "out" / "rows.hex").read_bytes() == (unit("learned") / "rows.hex").read_bytes()


def test_a_gguf_model_brings_its_table(made, tmp_path):
    table = np.random.default_rng(4).normal(size=(16, 6)).astype(np.float32)
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "gpt2")
    writer.add_context_length(16)
    writer.add_embedding_length(6)
    writer.add_block_count(1)
    writer.add_head_count(2)
    writer.add_tensor("position_embd.weight", table)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    _, document, _ = made(tmp_path / "model.gguf")
    assert document["geometry"]["row_offset"] == 0
    scale = document["parameters"]["table_fraction_bits"]
    assert np.array_equal(words_of(tmp_path / "out"), np.floor(np.ldexp(table.astype(float), scale)))


def test_a_config_beside_its_weights_finds_them(made, opt_model):
    _, document, _ = made(opt_model / "config.json")
    assert document["geometry"]["rows"] == 16


def test_resized_rows_warn_and_interpolate(made, model, opt_model, tmp_path):
    """14 positions to 27: every other one is the middle of its neighbours; rows 0 and 1 belong to no position."""
    (table,) = load_file(opt_model / "model.safetensors").values()
    _, document, said = made(model("learned"), "--resize-rows", 29)
    assert "note: the position table was interpolated from 16 to 29 rows: a model that was not trained" in said
    assert document["geometry"]["rows"] == 29
    old = table.astype(float)
    new = np.zeros((29, 6))
    new[:2], new[2::2], new[3::2] = old[:2], old[2:], (old[2:-1] + old[3:]) / 2
    assert np.array_equal(words_of(tmp_path / "out"), np.floor(new * 2**13))


def test_fewer_positions_cut_the_table_and_the_sinusoids(ropewalk, made, model, tmp_path):
    _, document, _ = made(model("learned"), "--positions", 10)
    assert document["geometry"]["rows"] == 12
    assert len(words_of(tmp_path / "out")) == 12
    _, document, _ = made(model("sinusoidal"), "--positions", 1000, "--layout", "half")
    assert (document["derived"]["positions"], document["geometry"]["layout"]) == (1000, "half")
    assert ropewalk("digest", tmp_path / "out").out == document["digest"] + "\n"
    # What an earlier unit left there is gone.
    assert not (tmp_path / "out" / "rows.hex").exists()


def test_options_reach_the_design(made, model, tmp_path):
    parameters, document, said = made(
        model("learned"), "--table-memory", "external", "--address-width", 40, "--table-width", 8, "--lanes", 2
    )
    assert (parameters["storage"], parameters["address_width"], parameters["table_width"]) == ("external", 40, 8)
    assert "`m_axi_*`" in (tmp_path / "out" / "README.md").read_text()
    parameters, *_ = made(model("sinusoidal"), "--lanes", 8, "--generators", 4, "--amplitude", 0.5)
    assert (parameters["lanes"], parameters["generators"], parameters["amplitude"]) == (8, 4, 0.5)
    parameters, *_ = made(model("alibi"), "--head-capacity", 16, "--no-registers", "--fraction-bits", 4)
    assert (parameters["capacity"], parameters["registers"], parameters["fraction_bits"]) == (16, False, 4)
    assert not (tmp_path / "out" / "registers.h").exists()


def test_a_folder_with_something_in_it_stays_as_it_is(refused, model, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    for scheme in SCHEMES:
        assert "is not empty" in refused("generate", model(scheme), "-o", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_what_is_multiplied_afterwards_is_said(made):
    _, _, said = made("falcon-rw-1b")
    assert "give the unit scores that are not multiplied with it yet" in said
