"""The geometry's JSON form: exact round trip, and strangers' files refused by key."""

import copy
import json
from dataclasses import replace

import pytest
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import RotaryGeometry, Variant, geometry_from_json, geometry_to_json
from ropewalk.geometry.shape import Shape

GEOMETRY = RotaryGeometry(
    model_type="example",
    head_dim=8,
    rotary_dim=4,
    rotary_start=2,
    query_heads=2,
    key_heads=1,
    pairing="interleaved",
    output_pairing="half",
    layers=("near", None, "far"),
    variants=(
        Variant(name="far", inverse_frequency=(1.0, 0.1 + 0.2), amplitude=1.0 / 3.0, max_position=5),
        Variant(name="near", inverse_frequency=(1.0, 0.0), amplitude=1.0, max_position=1 << 24, axis=(0, 2)),
    ),
    attention_scale=1.8738,
)


def document():
    return json.loads(json.dumps(geometry_to_json(GEOMETRY)))


def test_keys_are_those_of_the_interface():
    found = document()
    assert list(found) == [
        "scheme", "model_type", "head_dim", "rotary_dim", "rotary_start", "query_heads", "key_heads", "pairing",
        "output_pairing", "layers", "variants", "attention_scale",
    ]  # fmt: skip
    assert list(found["variants"][0]) == ["name", "slot", "inverse_frequency", "amplitude", "max_position", "axis"]
    assert [variant["slot"] for variant in found["variants"]] == [0, 1]
    assert found["scheme"] == "rope"
    assert found["layers"] == ["near", None, "far"]


def test_round_trip_keeps_every_bit():
    assert geometry_from_json(document()) == GEOMETRY


@pytest.mark.parametrize("scale", [None, 2, 0.5, "queries x (1 + position)"])
def test_attention_scale_is_nothing_a_number_or_a_description(scale):
    assert geometry_from_json(document() | {"attention_scale": scale}).attention_scale == scale


def test_layers_may_be_unknown():
    assert geometry_from_json(document() | {"layers": None}).layers is None


HUGE = 10**5000
WRONG = [
    ("scheme", "alibi", 'scheme must be "rope"'),
    ("scheme", None, "scheme is missing"),
    ("model_type", None, "model_type is missing"),
    ("model_type", "a b\n", "model_type must be a name"),
    ("head_dim", 0, "head_dim must be an integer from 2"),
    ("head_dim", -8, "head_dim must be an integer from 2"),
    ("head_dim", True, "head_dim must be an integer from 2 to 65536, not true"),
    ("head_dim", 8.0, "head_dim must be an integer"),
    ("head_dim", HUGE, "head_dim must be an integer from 2 to 65536, not an integer that is far too large"),
    ("head_dim", 9, "head_dim must be even"),
    ("rotary_dim", 10, "rotary_dim must be an integer from 2 to 8, not 10"),
    ("rotary_dim", 3, "rotary_dim must be even"),
    ("rotary_start", 6, "rotary_start must be an integer from 0 to 4"),
    ("rotary_start", 1, "rotary_start must be even"),
    ("query_heads", 0, "query_heads must be"),
    ("key_heads", 1 << 20, "key_heads must be"),
    ("key_heads", 3, "key_heads 3 does not divide the 2 query heads"),
    ("pairing", "both", "pairing must be half or interleaved, not 'both'"),
    ("output_pairing", 3, "output_pairing must be half or interleaved"),
    ("layers", ["near", "nowhere"], "layers names 'nowhere'"),
    ("layers", ["near", {}], "layers names an object"),
    ("layers", "near", "layers must be a list"),
    ("variants", [], "variants must be a list of 1 to 64"),
    ("variants", None, "variants is missing"),
    ("variants", [1], "variants[0] must be an object"),
    ("attention_scale", float("nan"), "attention_scale must be a number"),
    ("attention_scale", "x" * 500, "attention_scale must be at most 400"),
    ("attention_scale", "a\nb", "attention_scale must be"),
    ("surprise", 1, "'surprise' is not a key"),
]


@pytest.mark.parametrize(("key", "value", "message"), WRONG, ids=[f"{key}-{i}" for i, (key, _, _) in enumerate(WRONG)])
def test_a_wrong_value_is_refused_by_its_key(key, value, message):
    with pytest.raises(InputError) as refusal:
        geometry_from_json(document() | {key: value}, "design.json")
    assert str(refusal.value).startswith("design.json: ")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


WRONG_VARIANT = [
    ("name", "", "variants[1].name must be a name"),
    ("name", "far", "two variants have the same name"),
    ("name", "../x", "variants[1].name must be a name"),
    ("slot", 0, "variants[1].slot must be an integer from 1 to 1"),
    ("inverse_frequency", [1.0], "variants[1].inverse_frequency must be a list of 2 numbers"),
    ("inverse_frequency", [1.0] * 3, "variants[1].inverse_frequency must be a list of at most 2"),
    ("inverse_frequency", [1.0, float("nan")], "inverse_frequency[1] must be a number"),
    ("inverse_frequency", [float("inf"), 1.0], "inverse_frequency[0] must be a number"),
    ("inverse_frequency", [-1.0, 1.0], "inverse_frequency[0] must be a number"),
    ("inverse_frequency", [True, 1.0], "inverse_frequency[0] must be a number"),
    ("inverse_frequency", [HUGE, 1.0], "inverse_frequency[0] must be a number"),
    ("amplitude", 0.0, "amplitude must be above 0"),
    ("amplitude", float("nan"), "amplitude must be a number"),
    ("amplitude", -1, "amplitude must be a number"),
    ("amplitude", "1", "amplitude must be a number"),
    ("max_position", 0, "max_position must be"),
    ("axis", [0], "axis must be null or a list of 2"),
    ("axis", [0, 3], "axis must hold 0, 1 and 2 only, not 3"),
    ("axis", [0, True], "axis must hold 0, 1 and 2 only, not true"),
    ("extra", 1, "variants[1].'extra' is not a key"),
]


@pytest.mark.parametrize(
    ("key", "value", "message"), WRONG_VARIANT, ids=[f"{key}-{i}" for i, (key, _, _) in enumerate(WRONG_VARIANT)]
)
def test_a_wrong_value_of_a_variant_is_refused_by_its_key(key, value, message):
    wrong = document()
    wrong["variants"][1] |= {key: value}
    with pytest.raises(InputError) as refusal:
        geometry_from_json(wrong)
    assert message in str(refusal.value)


@pytest.mark.parametrize("value", [None, [], "rope", 3])
def test_what_is_no_object_is_refused(value):
    with pytest.raises(InputError, match="the geometry must be an object"):
        geometry_from_json(value)


@pytest.mark.parametrize("key", [key for key in geometry_to_json(GEOMETRY) if key not in ("layers", "attention_scale")])
def test_a_missing_key_is_refused_by_name(key):
    wrong = copy.deepcopy(document())
    del wrong[key]
    with pytest.raises(InputError, match=f"{key} "):
        geometry_from_json(wrong)


TWO_SIZES = RotaryGeometry(
    model_type="example",
    head_dim=8,
    rotary_dim=4,
    rotary_start=4,
    query_heads=4,
    key_heads=2,
    pairing="half",
    output_pairing="half",
    layers=("full", "local", None),
    variants=(
        Variant(name="full", inverse_frequency=(1.0, 0.5), amplitude=1.0, max_position=9),
        Variant(
            name="local",
            inverse_frequency=(1.0,),
            amplitude=1.0,
            max_position=9,
            head_dim=4,
            rotary_dim=2,
            rotary_start=2,
            key_heads=4,
            pairing="interleaved",
        ),
    ),
)


def test_a_variant_may_have_a_shape_of_its_own():
    found = json.loads(json.dumps(geometry_to_json(TWO_SIZES)))
    own = {"head_dim": 4, "rotary_dim": 2, "rotary_start": 2, "key_heads": 4, "pairing": "interleaved"}
    assert "head_dim" not in found["variants"][0]
    assert {key: found["variants"][1].get(key) for key in own} == own
    assert "output_pairing" not in found["variants"][1]
    assert geometry_from_json(found) == TWO_SIZES
    assert TWO_SIZES.of(1) == Shape(query_heads=4, output_pairing="half", **own)
    assert TWO_SIZES.with_shapes((TWO_SIZES.of(0), TWO_SIZES.of(1))) == TWO_SIZES


def test_one_variant_alone_has_its_own_shape_at_the_top():
    only = TWO_SIZES.only("local")
    assert (only.head_dim, only.rotary_dim, only.rotary_start, only.key_heads) == (4, 2, 2, 4)
    assert only.layers == (None, "local", None)
    assert [(variant.name, variant.head_dim) for variant in only.variants] == [("local", None)]
    unused = replace(TWO_SIZES, layers=("full", "full", None))
    assert unused.only("local").layers is None
    with pytest.raises(InputError, match="no variant 'global'; its variants are full, local"):
        TWO_SIZES.only("global")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("head_dim", 6, r"variants\[1\].inverse_frequency"),
        ("head_dim", 5, r"variants\[1\].head_dim must be even"),
        ("rotary_dim", 6, r"variants\[1\].rotary_dim must be an integer from 2 to 4"),
        ("rotary_start", 4, r"variants\[1\].rotary_start must be an integer from 0 to 2"),
        ("rotary_start", None, r"variants\[1\].rotary_dim 2 does not fit head_dim 4"),
        ("key_heads", 0, r"variants\[1\].key_heads must be"),
        ("key_heads", 3, r"variants\[1\].key_heads 3 does not divide the 4 query heads"),
        ("query_heads", 6, r"variants\[1\].key_heads 4 does not divide the 6 query heads"),
        ("pairing", "both", r"variants\[1\].pairing must be half or interleaved"),
    ],
)
def test_a_wrong_shape_of_a_variant_is_refused_by_its_key(key, value, message):
    wrong = json.loads(json.dumps(geometry_to_json(TWO_SIZES)))
    if key == "head_dim" and value == 6:
        wrong["variants"][1]["rotary_dim"] = 4  # two pairs need two frequencies
    wrong["variants"][1] |= {key: value}
    with pytest.raises(InputError, match=message):
        geometry_from_json(wrong)
