"""Differences are found if and only if the digests differ, whatever is changed."""

import itertools
from dataclasses import replace

import pytest
from ropewalk.comparison import compare, covered_bytes, remarks, subject_scheme
from ropewalk.design import Design, default_design
from ropewalk.geometry import AlibiGeometry, LearnedGeometry, RotaryGeometry, SinusoidalGeometry
from ropewalk.geometry.rotary import Variant
from ropewalk.models import preset_names, read_model

ONE = Variant(name="one", inverse_frequency=(1.0, 0.25), amplitude=1.0, max_position=64)
TWO = Variant(name="two", inverse_frequency=(0.5, 0.125), amplitude=1.25, max_position=4096)
ROPE = RotaryGeometry(
    model_type="test",
    head_dim=8,
    rotary_dim=4,
    rotary_start=0,
    query_heads=2,
    key_heads=1,
    pairing="half",
    output_pairing="half",
    layers=("one", "two"),
    variants=(ONE, TWO),
)
ALIBI = AlibiGeometry(model_type="a", heads=2, slopes=(0.5, 0.25), mode="relative")
LEARNED = LearnedGeometry(model_type="l", rows=10, row_offset=2, dimension=4)
SINUSOIDAL = SinusoidalGeometry(
    model_type="s", dimension=4, layout="half", max_position=8, inverse_frequency=(1.0, 0.01)
)


def variants(**changes):
    return replace(ROPE, variants=(ONE, replace(TWO, **changes)))


ROTARY_CHANGES = {
    "head_dim": replace(ROPE, head_dim=16),
    "rotary_start": replace(ROPE, rotary_start=2),
    "rotary_dim": replace(
        ROPE, rotary_dim=2, variants=tuple(replace(each, inverse_frequency=(0.5,)) for each in ROPE.variants)
    ),
    "pairing": replace(ROPE, pairing="interleaved"),
    "output_pairing": replace(ROPE, output_pairing="interleaved"),
    "max_position": variants(max_position=4095),
    "amplitude": variants(amplitude=1.5),
    "axis": variants(axis=(0, 1)),
    "angles": variants(inverse_frequency=(0.5, 0.1250001)),
    "slot": replace(ROPE, variants=(TWO, ONE)),
    "variants": replace(ROPE, variants=(ONE,)),
}


@pytest.mark.parametrize("what", ROTARY_CHANGES)
def test_each_change_of_a_rotary_geometry_is_named(what):
    a, b = default_design(ROPE), default_design(ROTARY_CHANGES[what])
    for one, other in ((a, b), (b, a)):
        assert covered_bytes(one) != covered_bytes(other)
        assert what in [difference.what for difference in compare(one, other)]
    of_two = {difference.what for difference in compare(a, b) if difference.variant == "two"}
    assert (what in of_two) == (what in ("max_position", "amplitude", "axis", "angles", "variants"))


def test_a_variant_of_another_shape_is_named():
    wide = variants(head_dim=16, rotary_start=4)
    found = compare(default_design(ROPE), default_design(wide))
    assert [(each.what, each.variant, each.a, each.b) for each in found] == [
        ("head_dim", "two", 8, 16),
        ("rotary_start", "two", 0, 4),
    ]


@pytest.mark.parametrize(
    ("options", "what"), [({"phase_bits": 40}, "phase_bits"), ({"positions": 32}, "max_position")], ids=str
)
def test_an_engines_own_choices_count(options, what):
    found = compare(default_design(ROPE), Design(geometry=ROPE, lanes=1, **options))
    assert found[0].what == what


def test_what_the_digest_leaves_out_is_a_remark():
    renamed = replace(
        ROPE,
        model_type="other",
        key_heads=2,
        layers=("x", None),
        variants=(replace(ONE, name="x"), replace(TWO, name="y")),
    )
    a, b = default_design(ROPE), default_design(renamed)
    assert compare(a, b) == []
    assert remarks(a, b) == [
        "the model type is test in A, other in B",
        "the number of key heads is 1 in A, 2 in B",
        "the variant of layer 1 is two in A, none in B",
        "the list of the variants' names is one, two in A, x, y in B",
    ]


OTHER_CHANGES = [
    (ALIBI, "heads", {"heads": 3, "slopes": (0.5, 0.25, 0.125)}),
    (ALIBI, "mode", {"mode": "symmetric"}),
    (ALIBI, "scale_after", {"scale_after": 0.125}),
    (ALIBI, "slopes", {"slopes": (0.5, 0.25 + 2**-54)}),
    (LEARNED, "rows", {"rows": 11}),
    (LEARNED, "row_offset", {"row_offset": 0}),
    (LEARNED, "dimension", {"dimension": 8}),
    (LEARNED, "mask", {"mask": "counted", "masked_row": 1}),
    (SINUSOIDAL, "layout", {"layout": "interleaved"}),
    (SINUSOIDAL, "dimension", {"dimension": 5}),
    (SINUSOIDAL, "max_position", {"max_position": 9}),
    (SINUSOIDAL, "row_offset", {"row_offset": 2}),
    (SINUSOIDAL, "zero_row", {"zero_row": 1}),
    (SINUSOIDAL, "mask", {"mask": "counted", "zero_row": 1}),
    (SINUSOIDAL, "angles", {"inverse_frequency": (1.0, 0.0101)}),
    (SINUSOIDAL, "pairs", {"dimension": 5, "inverse_frequency": (1.0, 0.01, 0.0001)}),
]


@pytest.mark.parametrize(
    ("base", "what", "changes"), OTHER_CHANGES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_change_of_another_scheme_is_named(base, what, changes):
    other = replace(base, **changes)
    assert covered_bytes(base) != covered_bytes(other)
    assert what in [difference.what for difference in compare(base, other)]
    assert compare(replace(base, model_type="x"), base) == []
    assert remarks(replace(base, model_type="x"), base) == [f"the model type is x in A, {base.model_type} in B"]


def test_presets_differ_in_something_if_and_only_if_their_digests_do():
    found = [read_model(name) for name in preset_names()]
    subjects = [default_design(each) if isinstance(each, RotaryGeometry) else each for each in found]
    pairs = itertools.chain(zip(subjects, subjects[1:], strict=False), itertools.combinations(subjects[::8], 2))
    equal = 0
    for a, b in pairs:
        same = covered_bytes(a) == covered_bytes(b)
        equal += same
        assert same == (compare(a, b) == [])
        if subject_scheme(a) != subject_scheme(b):
            assert [each.what for each in compare(a, b)] == ["scheme"]
    assert equal > 0
