"""The description of a sinusoidal adder: its JSON form, what it refuses, the words and the CRC of its slot."""

import json
import zlib
from dataclasses import replace

import pytest
from ropewalk.designs.sinusoidal import SinusoidalDesign, design_from_json, design_to_json
from ropewalk.errors import InputError
from ropewalk.models import read_model
from ropewalk.tables.sinusoidal_words import NO_ROW, slot_crc, slot_load_words
from ropewalk_sim.sinusoidal.scenarios import design_of

DESIGN = design_of(
    "tensor2tensor", 12, lanes=8, generators=2, data_width=12, fraction_bits=6, amplitude=0.25, positions=99,
    row_offset=2, zero_row=1, mask="counted",
)  # fmt: skip


def text_of(design):
    return json.loads(json.dumps(design_to_json(design, {"latency": 1})))


def test_json_gives_the_design_back():
    for design in (DESIGN, design_of("paper", 7)):
        assert design_from_json(text_of(design), "design.json") == design


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.update(format="ropewalk design 1"), "format must be"),
        (lambda text: text.update(more=1), "more must be absent"),
        (lambda text: text["parameters"].update(lanes=3), "lanes must be 2, 4, 8, 16 or 32, not 3"),
        (lambda text: text["parameters"].update(lanes=2), "2 generators make 4 elements in a clock"),
        (lambda text: text["parameters"].pop("amplitude"), "parameters.amplitude is missing"),
        (lambda text: text["parameters"].update(slots=1), "slots must be absent"),
        (lambda text: text["geometry"].update(layout="interleaved"), "digest must be"),
        (lambda text: text["geometry"].update(dimension=40), "inverse_frequency must be"),
        (lambda text: text.pop("geometry"), "geometry must be an object"),
    ],
)
def test_a_changed_file_is_refused(change, message):
    text = text_of(DESIGN)
    change(text)
    with pytest.raises(InputError, match=message):
        design_from_json(text, "design.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lanes": True}, "lanes must be"),
        ({"generators": 3}, "generators must be"),
        ({"data_width": 3}, "data width"),
        ({"fraction_bits": 25}, "fraction bits"),
        ({"amplitude": 2.0}, "amplitude must be above 0"),
        ({"amplitude": float("nan")}, "amplitude must be above 0"),
        ({"positions": 0}, "positions"),
        ({"positions": (1 << 24) + 1}, "positions"),
        ({"family": "virtex"}, "family"),
        ({"fraction_bits": 20}, "a coefficient width of 20 keeps it"),
        ({"fraction_bits": 24, "coefficient_width": 24}, "give fewer fraction bits"),
        ({"phase_bits": 24}, "may be off by"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        design_of("paper", 16, **options)


def test_a_dimension_that_no_unit_is_made_for_is_refused():
    with pytest.raises(InputError, match="dimension"):
        design_of("paper", 16_385)


def test_the_words_of_a_slot():
    words = slot_load_words(DESIGN)
    assert words[:6] == [12, 1 | 6 << 16, 99, 2, 1, 1 << 15]
    assert len(words) == 6 + 2 * 6
    # pair 0 turns by 1 radian per row: 2**48 / (2 pi) = 44798133900177.09...
    assert words[6] | words[7] << 32 == 44798133900177
    assert slot_crc(DESIGN) == zlib.crc32(b"".join(word.to_bytes(4, "little") for word in words))
    other = replace(DESIGN, geometry=replace(DESIGN.geometry, zero_row=None, mask="ignored"))
    assert slot_load_words(other)[4] == NO_ROW


@pytest.mark.parametrize("preset", ["whisper-tiny-encoder", "transformer-base", "tensor2tensor-base"])
def test_presets_make_designs(preset):
    design = SinusoidalDesign(geometry=read_model(preset))
    assert design.beats_per_token == design.dimension // 4
    assert design.error_bound < 0.501
