"""Variants of several models in one geometry."""

from dataclasses import replace

import pytest
from ropewalk.errors import InputError
from ropewalk.geometry.rotary import RotaryGeometry, Variant, geometry_from_json, geometry_to_json
from ropewalk.geometry.several import with_variants


def model(name: str, *variants: str, head_dim: int = 8, rotary_dim: int = 8, **changes) -> RotaryGeometry:
    shape = {"rotary_start": 0, "query_heads": 4, "key_heads": 2, "pairing": "half", "output_pairing": "half"}
    return RotaryGeometry(
        model_type=name,
        head_dim=head_dim,
        rotary_dim=rotary_dim,
        layers=variants[:1] * 3,
        variants=tuple(
            Variant(name=each, inverse_frequency=(0.5,) * (rotary_dim // 2), amplitude=1.0, max_position=9)
            for each in variants
        ),
        **(shape | changes),
    )


BASE = model("base", "full", "local")


def test_the_only_variant_takes_the_name_and_keeps_its_shape():
    other = model("other", "default", rotary_dim=4, rotary_start=4, key_heads=4, pairing="interleaved")
    found = with_variants(BASE, "new", replace(other, attention_scale=2.0, notes=("a note",)))
    assert [variant.name for variant in found.variants] == ["full", "local", "new"]
    assert [found.of(slot) for slot in range(3)] == [BASE.of(0), BASE.of(1), other.of(0)]
    assert (found.variants[2].key_heads, found.variants[2].query_heads) == (4, None)  # only what differs is its own
    assert (found.layers, found.attention_scale, found.notes) == (BASE.layers, None, ())
    assert geometry_from_json(geometry_to_json(found)) == found


def test_several_variants_are_told_apart_by_their_own_names():
    found = with_variants(with_variants(BASE, "a", model("x", "short", "long")), "b", model("y", "full"))
    assert [variant.name for variant in found.variants] == ["full", "local", "a.short", "a.long", "b"]


def test_variants_of_own_shapes_come_in_with_them():
    wide = replace(BASE.variants[1], inverse_frequency=(1.0,), rotary_dim=2, rotary_start=6)
    other = replace(BASE, variants=(BASE.variants[0], wide))
    found = with_variants(model("base", "default", rotary_dim=4), "x", other)
    assert [(found.of(slot).rotary_dim, found.of(slot).rotary_start) for slot in range(3)] == [(4, 0), (8, 0), (2, 6)]
    assert [found.of(slot).first_pair for slot in range(3)] == [0, 0, 3]


@pytest.mark.parametrize(
    ("name", "other", "message"),
    [
        ("local", model("x", "default"), "there is a variant 'local' already"),
        (
            "new",
            model("x", "default", head_dim=16),
            r"new \(x\) has heads of 16 elements, and full \(base\) has heads of 8: ",
        ),
        ("n" * 60, model("x", "short", "long"), "is no name: it has more than 64"),
        ("new", model("x", *(f"v{index}" for index in range(63))), "65 variants are too many"),
    ],
)
def test_what_does_not_go_together_is_refused(name, other, message):
    with pytest.raises(InputError, match=message):
        with_variants(BASE, name, other)


def test_a_second_variant_of_another_head_size_is_refused():
    other = replace(BASE, variants=(BASE.variants[0], replace(BASE.variants[1], head_dim=10)))
    with pytest.raises(InputError, match=r"new\.local \(base\) has heads of 10 elements"):
        with_variants(BASE, "new", other)
