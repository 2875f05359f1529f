"""The digest's bytes against the layout of the number contract, built here by hand."""

import dataclasses
import hashlib

import pytest
from ropewalk.design import Design
from ropewalk.geometry import AlibiGeometry, LearnedGeometry, SinusoidalGeometry
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.tables import geometry_digest, model_digest

GEOMETRY = RotaryGeometry(
    model_type="test",
    head_dim=8,
    rotary_dim=4,
    rotary_start=2,
    query_heads=2,
    key_heads=1,
    pairing="half",
    output_pairing="interleaved",
    layers=None,
    variants=(
        Variant(name="one", inverse_frequency=(1.0, 0.0), amplitude=1.0, max_position=4096),
        Variant(name="two", inverse_frequency=(0.0, 1.0), amplitude=1.5, max_position=1 << 30, axis=(0, 2)),
    ),
)


def word(value, size=4):
    return value.to_bytes(size, "little")


def test_bytes_are_those_of_the_contract():
    # 1 / (2 pi) = 0.1591549430918953..., in units of 2**-48 turns: 44798133900177 (rounded from ...177.1)
    turn = word(44798133900177, 8)
    expected = b"".join(
        [
            b"ropewalk/rope/1\n",
            *(word(value) for value in (8, 4, 2, 1, 0, 48, 2)),
            word(131072) + word(4096) + turn + word(0) + word(0, 8) + word(0),
            word(196608) + word(1 << 24) + word(0, 8) + word(0) + turn + word(2),
        ]
    )
    assert geometry_digest(Design(geometry=GEOMETRY, lanes=1)) == hashlib.sha256(expected).hexdigest()


def changed(**geometry):
    return Design(geometry=dataclasses.replace(GEOMETRY, **geometry), lanes=1)


def test_what_changes_no_angle_changes_no_digest():
    digest = geometry_digest(Design(geometry=GEOMETRY, lanes=1))
    renamed = tuple(dataclasses.replace(variant, name=variant.name + "x") for variant in GEOMETRY.variants)
    same = [
        Design(geometry=GEOMETRY, lanes=2, data_width=8, coefficient_width=12, slots=4, value_heads=3),
        changed(query_heads=7, key_heads=7, model_type="other", layers=("one", None), variants=renamed),
    ]
    assert [geometry_digest(design) for design in same] == [digest, digest]


@pytest.mark.parametrize(
    "other",
    [
        Design(geometry=GEOMETRY, lanes=1, phase_bits=40),
        Design(geometry=GEOMETRY, lanes=1, positions=4096),
        changed(pairing="interleaved"),
        changed(output_pairing="half"),
        changed(rotary_start=0),
        changed(head_dim=16),
        changed(variants=GEOMETRY.variants[::-1]),
        changed(variants=GEOMETRY.variants[:1]),
    ],
    ids=["phase bits", "limit", "pairing", "output pairing", "start", "head", "order", "fewer"],
)
def test_what_changes_an_angle_changes_the_digest(other):
    assert geometry_digest(other) != geometry_digest(Design(geometry=GEOMETRY, lanes=1))


def test_variants_of_different_shapes_add_them():
    wide = dataclasses.replace(
        GEOMETRY,
        variants=(
            GEOMETRY.variants[0],
            dataclasses.replace(
                GEOMETRY.variants[1],
                rotary_dim=6,
                inverse_frequency=(0.0, 1.0, 0.0),
                axis=None,
                pairing="interleaved",
                key_heads=9,
            ),
        ),
    )
    turn = word(44798133900177, 8)
    expected = b"".join(
        [
            b"ropewalk/rope/1\n",
            *(word(value) for value in (8, 4, 2, 1, 0, 48, 2)),
            b"shapes\n",
            *(word(value) for value in (8, 4, 2, 1, 0)),
            *(word(value) for value in (8, 6, 2, 0, 0)),
            word(131072) + word(4096) + turn + word(0) + word(0, 8) + word(0),
            word(196608) + word(1 << 24) + word(0, 12) + turn + word(0) + word(0, 12),
        ]
    )
    assert model_digest(wide) == hashlib.sha256(expected).hexdigest()


def test_head_counts_of_a_variant_add_nothing():
    heads = dataclasses.replace(
        GEOMETRY, variants=(GEOMETRY.variants[0], dataclasses.replace(GEOMETRY.variants[1], key_heads=9))
    )
    assert model_digest(heads) == model_digest(GEOMETRY) == geometry_digest(Design(geometry=GEOMETRY, lanes=2))


def test_bytes_of_the_other_schemes_are_those_of_the_contract():
    # 0.5 and 0.25 as doubles: exponents 1022 and 1021, no fraction; 1.0: 1023
    alibi = AlibiGeometry(model_type="a", heads=2, slopes=(0.5, 0.25), mode="mpt")
    expected = (
        b"ropewalk/alibi/1\n" + word(2) + word(2) + word(1023 << 52, 8) + word(1022 << 52, 8) + word(1021 << 52, 8)
    )
    assert model_digest(alibi) == hashlib.sha256(expected).hexdigest()

    learned = LearnedGeometry(model_type="l", rows=514, row_offset=2, dimension=768, mask="counted", masked_row=1)
    expected = b"ropewalk/learned/1\n" + b"".join(map(word, (514, 2, 768, 1, 1)))
    assert model_digest(learned) == hashlib.sha256(expected).hexdigest()
    plain = LearnedGeometry(model_type="l", rows=512, row_offset=0, dimension=768)
    expected = b"ropewalk/learned/1\n" + b"".join(map(word, (512, 0, 768, 0, (1 << 32) - 1)))
    assert model_digest(plain) == hashlib.sha256(expected).hexdigest()

    sinusoidal = SinusoidalGeometry(
        model_type="s", dimension=4, layout="half", max_position=1 << 30, inverse_frequency=(1.0, 0.0), row_offset=2
    )
    words = (4, 1, 1 << 24, 2, (1 << 32) - 1, 0, 48, 2)
    expected = b"ropewalk/sinusoidal/1\n" + b"".join(map(word, words)) + word(44798133900177, 8) + word(0, 8)
    assert model_digest(sinusoidal) == hashlib.sha256(expected).hexdigest()
