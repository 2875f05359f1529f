"""Every scheme's JSON form: its keys, the way back, and what is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ropewalk.errors import InputError
from ropewalk.geometry import (
    AlibiGeometry,
    LearnedGeometry,
    RotaryGeometry,
    SinusoidalGeometry,
    geometry_from_json,
    geometry_to_json,
    only_rotary,
    scheme_of,
)
from ropewalk.geometry.rotary import Variant

ROTARY = RotaryGeometry(
    model_type="llama",
    head_dim=4,
    rotary_dim=4,
    rotary_start=0,
    query_heads=2,
    key_heads=1,
    pairing="half",
    output_pairing="half",
    layers=None,
    variants=(Variant(name="default", inverse_frequency=(1.0, 0.01), amplitude=1.0, max_position=64),),
)
ALIBI = AlibiGeometry(model_type="falcon", heads=2, slopes=(0.0625, 0.00390625), mode="absolute", scale_after=0.125)
LEARNED = LearnedGeometry(model_type="opt", rows=2050, row_offset=2, dimension=768, mask="counted", masked_row=1)
SINUSOIDAL = SinusoidalGeometry(
    model_type="fsmt",
    dimension=5,
    layout="half",
    max_position=1024,
    inverse_frequency=(1.0, 1e-4),
    row_offset=2,
    zero_row=1,
    mask="counted",
)
ALL = {"rope": ROTARY, "alibi": ALIBI, "learned": LEARNED, "sinusoidal": SINUSOIDAL}


@pytest.mark.parametrize("scheme", ALL)
def test_there_and_back(scheme):
    document = json.loads(json.dumps(geometry_to_json(ALL[scheme])))
    assert document["scheme"] == scheme_of(ALL[scheme]) == scheme
    assert geometry_from_json(document) == ALL[scheme]


def test_the_keys_of_each_scheme():
    assert geometry_to_json(ALIBI) == {
        "scheme": "alibi",
        "model_type": "falcon",
        "heads": 2,
        "slopes": [0.0625, 0.00390625],
        "mode": "absolute",
        "scale_after": 0.125,
    }
    assert geometry_to_json(LEARNED) == {
        "scheme": "learned",
        "model_type": "opt",
        "rows": 2050,
        "row_offset": 2,
        "dimension": 768,
        "mask": "counted",
        "masked_row": 1,
    }
    assert geometry_to_json(SINUSOIDAL) == {
        "scheme": "sinusoidal",
        "model_type": "fsmt",
        "dimension": 5,
        "layout": "half",
        "max_position": 1024,
        "inverse_frequency": [1.0, 1e-4],
        "row_offset": 2,
        "zero_row": 1,
        "mask": "counted",
    }


def test_learned_positions_end_where_the_table_does():
    assert LEARNED.max_position == 2048


def test_only_rotary_geometries_have_a_place_in_a_rotary_engine():
    assert only_rotary(ROTARY) is ROTARY
    for scheme, words in (("alibi", "ALiBi"), ("learned", "learned positions"), ("sinusoidal", "sinusoidal positions")):
        with pytest.raises(InputError, match=f"{words}.*, and only the variants of rotary models"):
            only_rotary(ALL[scheme])


@pytest.mark.parametrize(
    ("scheme", "changes", "message"),
    [
        ("alibi", {"scheme": "alibi2"}, "scheme must be rope, alibi, learned or sinusoidal, not 'alibi2'"),
        ("alibi", {"scheme": None}, "scheme must be rope"),
        ("alibi", {"heads": 3}, "slopes must be a list of 3 numbers, not a list of 2"),
        ("alibi", {"heads": 0}, "heads must be an integer from 1"),
        ("alibi", {"slopes": [0.5, True]}, "slopes[1] must be a number from 0 to 1, not true"),
        ("alibi", {"slopes": [0.5, 1.5]}, "slopes[1] must be a number from 0 to 1, not 1.5"),
        ("alibi", {"mode": "other"}, "mode must be relative, absolute, mpt or symmetric, not 'other'"),
        ("alibi", {"scale_after": 0}, "scale_after must be above 0"),
        ("alibi", {"rows": 3}, "'rows' is not a key of the alibi geometry"),
        ("alibi", {"model_type": None}, "model_type is missing"),
        ("learned", {"row_offset": 2050}, "row_offset must be an integer from 0 to 2049"),
        ("learned", {"rows": 1 << 30}, "rows must be an integer from 1 to"),
        ("learned", {"mask": "ignored"}, "masked_row must be a row where masked tokens are counted, and null"),
        ("learned", {"masked_row": None}, "masked_row is missing; it must be a row where masked tokens are counted"),
        ("learned", {"masked_row": 5000}, "masked_row must be an integer from 0 to 2049"),
        ("learned", {"dimension": 0}, "dimension must be an integer from 1"),
        ("sinusoidal", {"dimension": 9}, "inverse_frequency must be a list of 4 or 5 numbers"),
        ("sinusoidal", {"layout": "both"}, "layout must be interleaved or half, not 'both'"),
        ("sinusoidal", {"inverse_frequency": [1.0, -1.0]}, "inverse_frequency[1] must be a number from 0"),
        ("sinusoidal", {"zero_row": None}, "zero_row is missing; it must be the row of masked tokens"),
        ("sinusoidal", {"max_position": 0}, "max_position must be an integer from 1"),
        ("sinusoidal", {"row_offset": -1}, "row_offset must be an integer from 0"),
    ],
)
def test_what_contradicts_is_refused(scheme, changes, message):
    with pytest.raises(InputError) as error:
        geometry_from_json(geometry_to_json(ALL[scheme]) | changes, "design.json")
    assert str(error.value).startswith("design.json: ")
    assert message in str(error.value)


def test_anything_but_an_object_is_refused():
    with pytest.raises(InputError, match="geometry must be an object, not a list of 0"):
        geometry_from_json([])


@given(
    st.sampled_from(sorted(ALL)),
    st.dictionaries(
        st.sampled_from(sorted({key for g in ALL.values() for key in geometry_to_json(g)})),
        st.none()
        | st.booleans()
        | st.integers(-2, 1 << 41)
        | st.floats()
        | st.text(max_size=3)
        | st.lists(st.floats()),
        max_size=4,
    ),
)
def test_strange_documents_come_back_or_are_refused(scheme, changes):
    try:
        found = geometry_from_json(geometry_to_json(ALL[scheme]) | changes)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert geometry_from_json(geometry_to_json(found)) == found
