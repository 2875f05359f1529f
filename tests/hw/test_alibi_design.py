"""The description of an ALiBi unit: widths, JSON, refusals."""

import json

import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.alibi_json import alibi_design_from_json, alibi_design_to_json, derived_facts
from ropewalk.errors import InputError
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes


def geometry(heads=12, mode="relative", slopes=None):
    return AlibiGeometry(model_type="test", heads=heads, slopes=slopes or alibi_slopes(heads), mode=mode)


def test_the_usual_unit():
    design = AlibiDesign(geometry=geometry())
    assert (design.slope_bits, design.container_bits, design.beat_bytes) == (38, 16, 8)
    assert design.bias_bits == 18  # 2^16 and three slopes below 2^8 more, on the negative side
    assert design.memory_bits == 2 * 256 * 38


@pytest.mark.parametrize(("width", "fraction", "lanes", "bits"), [(8, 8, 4, 11), (16, 0, 1, 17), (32, 8, 4, 34)])
def test_biases_have_room_for_what_the_lanes_add(width, fraction, lanes, bits):
    design = AlibiDesign(geometry=geometry(), data_width=width, fraction_bits=fraction, lanes=lanes)
    least = -(1 << design.bias_bits - 1)
    assert design.bias_bits == bits
    assert least <= -(1 << width) - ((lanes - 1) << fraction)


@pytest.mark.parametrize("mode", ["relative", "absolute", "mpt", "symmetric"])
def test_json_and_back(mode):
    design = AlibiDesign(
        geometry=geometry(7, mode), lanes=8, data_width=20, fraction_bits=5, capacity=16, registers=False
    )
    text = json.dumps(alibi_design_to_json(design, derived_facts(design, latency=17)))
    again = alibi_design_from_json(json.loads(text), "design.json")
    assert again == design
    assert json.loads(text)["geometry"]["scheme"] == "alibi"


def changed(path, value):
    design = AlibiDesign(geometry=geometry())
    values = json.loads(json.dumps(alibi_design_to_json(design, {})))
    inside = values
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return values


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "x", "format"),
        (("extra",), 1, "extra"),
        (("parameters", "lanes"), 3, "lanes must be one of 1, 2, 4, 8, 16"),
        (("parameters", "lanes"), "4", "lanes"),
        (("parameters", "data_width"), 33, "data_width"),
        (("parameters", "fraction_bits"), 25, "fraction_bits"),
        (("parameters", "capacity"), 100, "power of two"),
        (("parameters", "capacity"), 8, "room for 8 heads, and the model has 12"),
        (("parameters", "family"), "x", "family"),
        (("parameters", "registers"), 1, "registers"),
        (("parameters", "slots"), 8, "slots"),
        (("geometry", "mode"), "other", "mode"),
        (("geometry", "heads"), 11, "slopes"),
        (("digest",), "0", "digest"),
    ],
)
def test_what_is_wrong_is_named(path, value, message):
    with pytest.raises(InputError, match=message) as refusal:
        alibi_design_from_json(changed(path, value), "DIR/design.json")
    assert str(refusal.value).startswith("DIR/design.json")


def test_slopes_of_1_are_refused():
    with pytest.raises(InputError, match=r"the slope of head 1 is 1.0, and this unit takes slopes from 0 to below 1"):
        AlibiDesign(geometry=geometry(2, slopes=(0.5, 1.0)))
