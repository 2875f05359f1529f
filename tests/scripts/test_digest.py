"""``ropewalk digest``, and the pinned digests of all presets."""

import json
import math
import zlib
from pathlib import Path

import pytest
from ropewalk.models import preset_names
from ropewalk_cli import fingerprint

PINS = Path(__file__).parents[1] / "data" / "digests.json"
PINNED = json.loads(PINS.read_text())


def test_every_preset_is_pinned():
    assert list(PINNED["presets"]) == preset_names()


@pytest.mark.parametrize("name", PINNED["presets"])
def test_the_digest_of_a_preset_is_the_pinned_one(ropewalk, name):
    result = ropewalk("digest", name)
    assert (result.code, result.out) == (0, PINNED["presets"][name] + "\n")


def test_sine_roms_and_tables_are_the_pinned_ones(capsys):
    assert fingerprint.main(["--check", str(PINS)]) == 0
    assert capsys.readouterr().out.endswith(": 0 differ\n")


def test_a_model_and_the_engine_made_of_it_have_one_digest(ropewalk, config, engine):
    made = json.loads((engine / "design.json").read_text())["digest"]
    assert ropewalk("digest", config()).out == made + "\n"
    assert ropewalk("digest", engine) == (0, made + "\n", "")


@pytest.mark.parametrize(
    ("options", "same"),
    [
        (("--lanes", "1", "--data-width", "12", "--coefficient-width", "12"), True),
        (("--source", "table", "--rounding", "floor"), True),
        (("--phase-bits", "40"), False),
        (("--positions", "32"), False),
        (("--source", "table", "--angle-model", "hf_f32"), False),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_which_choices_of_generate_count(ropewalk, config, tmp_path, options, same):
    assert ropewalk("generate", config(), "-o", tmp_path / "other", *options).code == 0
    assert (ropewalk("digest", tmp_path / "other").out == ropewalk("digest", config()).out) == same


def test_models_that_no_engine_is_made_for_yet_have_digests():
    # several axes, and heads of two sizes
    assert len({PINNED["presets"][name] for name in ("qwen2.5-vl-3b", "qwen2.5-7b", "gemma-4")}) == 3


def test_the_document_of_a_rotary_model(ropewalk):
    result = ropewalk("digest", "phi-3.5-mini", "--json")
    found = json.loads(result.out)
    assert list(found) == ["name", "scheme", "model_type", "digest", "bytes", "covers", "slots"]
    assert found["digest"] == PINNED["presets"]["phi-3.5-mini"]
    # magic, seven words, then two variants of an amplitude, a limit and 48 pairs
    assert found["bytes"] == 16 + 28 + 2 * (8 + 48 * 12)
    assert found["covers"] | {"variants": None} == {
        "head_dim": 96,
        "rotary_dim": 96,
        "rotary_start": 0,
        "pairing": "half",
        "output_pairing": "half",
        "phase_bits": 48,
        "angle_model": "exact",
        "variants": None,
    }
    assert [list(variant) for variant in found["covers"]["variants"]] == [
        ["name", "amplitude", "max_position", "pairs", "axes"]
    ] * 2
    assert [variant["max_position"] for variant in found["covers"]["variants"]] == [4096, 131072]
    assert [(slot["name"], slot["slot"]) for slot in found["slots"]] == [("short", 0), ("long", 1)]


def test_the_crcs_of_the_slots_are_the_same_everywhere(ropewalk, config, engine, tmp_path):
    """As CRC-32 is defined, over the words of the number contract: here written down from its table."""
    words = [0 | 4 << 16, 3, 64, 1 << 17]
    for pair in range(4):
        step = math.floor(10000.0 ** (-pair / 4) / (2 * math.pi) * 2**48 + 0.5)
        words += [step & 0xFFFFFFFF, step >> 32]
    crc = f"{zlib.crc32(b''.join(word.to_bytes(4, 'little') for word in words)):08x}"
    assert json.loads(ropewalk("digest", engine, "--json").out)["slots"] == [{"name": "default", "slot": 0, "crc": crc}]
    assert json.loads(ropewalk("digest", config(), "--json").out)["slots"][0]["crc"] == crc
    assert json.loads((engine / "design.json").read_text())["derived"]["slots"]["default"]["crc"] == crc
    assert f"| 0 | default | 0 to 7 | 1 | 0 to 63 | 0.750 | `{crc}` |" in (engine / "README.md").read_text()
    assert f"CRC {crc}" in ropewalk("generate", config(), "-o", tmp_path / "again").out


@pytest.mark.parametrize(
    ("name", "covers"),
    [
        ("mpt-7b", {"heads": 32, "mode": "mpt", "scale_after": 1.0}),
        ("opt-125m", {"rows": 2050, "row_offset": 2, "dimension": 768, "mask": "counted", "masked_row": 1}),
        (
            "whisper-tiny-encoder",
            {
                "dimension": 384,
                "layout": "half",
                "max_position": 1500,
                "row_offset": 0,
                "zero_row": None,
                "mask": "ignored",
                "phase_bits": 48,
                "pairs": 192,
            },
        ),
    ],
)
def test_the_document_of_another_scheme(ropewalk, name, covers):
    assert json.loads(ropewalk("digest", name, "--json").out)["covers"] == covers


def test_bad_input(refused, tmp_path):
    assert "is neither a file, a folder nor a preset" in refused("digest", "nothing")
    (tmp_path / "design.json").write_text("[]")
    assert "design.json" in refused("digest", tmp_path)


def test_pins_are_not_changed_by_accident(tmp_path, capsys, monkeypatch):
    pins = tmp_path / "pins.json"

    def make(**presets):
        monkeypatch.setattr(fingerprint, "fingerprint", lambda **_: {"presets": presets})

    def written():
        return json.loads(pins.read_text())["presets"]

    make(a="1", b="2")
    assert fingerprint.main(["--write", str(pins)]) == 0
    make(a="1", b="2", c="3")
    assert fingerprint.main(["--check", str(pins)]) == 1
    assert "presets: c is 3, pinned as nothing" in capsys.readouterr().out
    assert fingerprint.main(["--write", str(pins)]) == 0  # a new one may come
    assert written() == {"a": "1", "b": "2", "c": "3"}
    for changed in ({"a": "1", "b": "0", "c": "3"}, {"a": "1", "c": "3"}):
        make(**changed)
        assert fingerprint.main(["--write", str(pins)]) == 1
        assert "presets: b would change" in capsys.readouterr().err
        assert written()["b"] == "2"
    assert fingerprint.main(["--write", str(pins), "--change", "b"]) == 0
    assert written() == {"a": "1", "c": "3"}
