"""Software's cosines and sines: correctly rounded, the same whatever the platform's libm, and their row entries."""

import dataclasses
import hashlib
import struct
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.errors import InputError
from ropewalk.geometry.recipe import Recipe
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.tables import angle_models, geometry_digest
from ropewalk.tables.angle_models import cos_sin, fma, software_cos_sin, software_entries
from ropewalk.tables.digest import digest_bytes
from ropewalk.tables.source import source_rows

YARN = Recipe(
    kind="yarn", base=10000.0, width=8, factor=4.0, original=4096, beta_fast=32.0, beta_slow=1.0, truncate=True
)
VARIANT = Variant(
    name="default",
    inverse_frequency=(1.0, 0.1, 0.01, 0.00025),
    amplitude=1.1386294361119891,
    max_position=16384,
    recipe=YARN,
)
GEOMETRY = RotaryGeometry(
    model_type="test",
    head_dim=8,
    rotary_dim=8,
    rotary_start=0,
    query_heads=2,
    key_heads=1,
    pairing="interleaved",
    output_pairing="interleaved",
    layers=None,
    variants=(VARIANT,),
)


def design(**changes):
    return Design(**({"geometry": GEOMETRY, "lanes": 1, "source": "table", "positions": 64} | changes))


def angles(count):
    generator = np.random.default_rng(5)
    spread = (2.0 ** generator.uniform(-30, 24, count)).astype(np.float32)
    edges = np.float32([0.0, 1e-30, 2.0**-126, 0.785, 0.7853981, 0.7853982, 2.0**24, 2.0**39])
    # The float32 nearest to multiples of a quarter turn: cosines or sines almost 0.
    quarters = (np.arange(1, 2000) * (np.pi / 2)).astype(np.float32)
    return np.concatenate((edges, quarters, spread))


def test_cosine_and_sine_are_correctly_rounded():
    given = angles(1500)
    cosine, sine = cos_sin(given)
    with mpmath.workprec(200):
        for angle, found in zip(given.tolist(), zip(cosine.tolist(), sine.tolist(), strict=True), strict=True):
            for value, exact in zip(found, (mpmath.cos(mpmath.mpf(angle)), mpmath.sin(mpmath.mpf(angle))), strict=True):
                gap = float(np.spacing(np.float32(abs(value))))
                assert abs(mpmath.mpf(value) - exact) <= mpmath.mpf(gap) / 2


def test_a_libm_that_is_a_little_off_changes_nothing(monkeypatch):
    given = angles(3000)
    usual = cos_sin(given)
    for factor in (1 + 2.0**-44, 1 - 2.0**-44):
        monkeypatch.setattr(angle_models.np, "cos", lambda x, f=factor, cos=np.cos: cos(x) * f)
        monkeypatch.setattr(angle_models.np, "sin", lambda x, f=factor, sin=np.sin: sin(x) * f)
        other = cos_sin(given)
        monkeypatch.undo()
        assert np.array_equal(usual[0], other[0])
        assert np.array_equal(usual[1], other[1])


def test_multiple_precision_alone_gives_the_same(monkeypatch):
    given = angles(200)
    usual = cos_sin(given)
    monkeypatch.setattr(angle_models, "_RELATIVE", 1.0)
    assert np.array_equal(usual, cos_sin(given))


def test_fused_multiply_adds_are_rounded_once():
    generator = np.random.default_rng(11)
    a, c = ((2.0 ** generator.uniform(-20, 20, 4000)).astype(np.float32) for _ in range(2))
    # Sums near a tie: what a product of rounded doubles would get wrong.
    a[:50], c[:50] = np.float32(1 + 2.0**-23), np.float32(2.0**-24 + 2.0**-40)
    b = np.float32(1 + 2.0**-22 + 2.0**-23)
    for x, y, found in zip(a.tolist(), c.tolist(), fma(a, b, c).tolist(), strict=True):
        exact = Fraction(x) * Fraction(float(b)) + Fraction(y)
        gap = Fraction(float(np.spacing(np.float32(found))))
        assert abs(Fraction(found) - exact) <= gap / 2


def test_angles_of_hugging_face_by_hand():
    # Pair 3 turns less than once in 4096 positions: slowed down by the whole factor. 1 / fl(4 * 1000) = 0.00025.
    cosine, sine = software_cos_sin(VARIANT, "hf_f32", [0, 3])
    amplitude = np.float32(1.1386294361119891)
    assert cosine[0].tolist() == [amplitude] * 4
    assert sine[0].tolist() == [0.0] * 4
    angle = float(np.float32(3) * np.float32(1 / 4000))
    assert sine[1, 3] == np.float32(np.sin(angle)) * amplitude


@pytest.mark.parametrize("width", [8, 18, 24])
@pytest.mark.parametrize("model", ["hf_f32", "llamacpp_f32"])
def test_entries_hold_the_rounded_cosine_and_sine(model, width):
    positions = [0, 1, 2, 3, 4, 5, 6, 100, 4095, 1048575, 2**24 - 1]
    entries = software_entries(VARIANT, model, positions, width)
    cosine, sine = software_cos_sin(VARIANT, model, positions)
    seen = set()
    for entry, c, s in zip(entries.reshape(-1, 3), cosine.reshape(-1), sine.reshape(-1), strict=True):
        quadrant, first, second = entry.tolist()
        seen.add(quadrant)
        signed = ((first, second), (-second, first), (-first, -second), (second, -first))[quadrant]
        for word, value in zip(signed, (c, s), strict=True):
            exact = abs(Fraction(float(value))) * 2 ** (width - 1) + Fraction(1, 2)
            assert abs(word) == min(exact.__floor__(), 2**width - 1)
            assert word * float(value) >= 0
    assert seen == {0, 1, 2, 3}


def test_large_amplitudes_saturate():
    loud = dataclasses.replace(VARIANT, amplitude=1.99999)
    assert software_entries(loud, "hf_f32", [0], 8)[0, 0].tolist() == [0, 255, 0]


def test_source_rows_follow_the_angle_model():
    positions = np.arange(64)
    rows = {model: source_rows(design(angle_model=model), 0, positions) for model in ("exact", "hf_f32")}
    assert np.array_equal(rows["hf_f32"], software_entries(VARIANT, "hf_f32", positions, 18))
    assert not np.array_equal(rows["hf_f32"], rows["exact"])


def test_a_large_table_is_made_in_seconds():
    start = time.perf_counter()
    software_entries(VARIANT, "llamacpp_f32", np.arange(1 << 17), 18)
    assert time.perf_counter() - start < 20


def test_what_a_design_refuses():
    with pytest.raises(InputError, match="hf_f32 needs the table source"):
        design(source="synth", angle_model="hf_f32")
    with pytest.raises(InputError, match="must be exact, hf_f32 or llamacpp_f32, not 'vllm'"):
        design(angle_model="vllm")
    unknown = dataclasses.replace(GEOMETRY, variants=(dataclasses.replace(VARIANT, recipe=None),))
    with pytest.raises(InputError, match="variant 'default' from is not known"):
        design(geometry=unknown, angle_model="hf_f32")
    short = dataclasses.replace(VARIANT, recipe=dataclasses.replace(YARN, width=6))
    with pytest.raises(InputError, match="makes 3 pairs, not 4"):
        design(geometry=dataclasses.replace(GEOMETRY, variants=(short,)), angle_model="llamacpp_f32")


def test_the_digest_tells_angle_models_apart():
    exact, hf, llama = (design(angle_model=model) for model in ("exact", "hf_f32", "llamacpp_f32"))
    assert len({geometry_digest(each) for each in (exact, hf, llama)}) == 3
    singles = [np.float32(1.1386294361119891), *np.float32([1.0, 0.1, 0.01])]
    tail = digest_bytes(hf).removeprefix(digest_bytes(exact))
    assert tail.startswith(b"angle model hf_f32\n" + struct.pack("<2f", singles[0], singles[1]))
    assert len(tail) == len(b"angle model hf_f32\n") + 4 * (1 + 4)
    assert len(digest_bytes(llama)) - len(digest_bytes(exact)) == len(b"angle model llamacpp_f32\n") + 4 * (3 + 8)
    assert geometry_digest(hf) == hashlib.sha256(digest_bytes(exact) + tail).hexdigest()


def test_another_recipe_is_another_digest():
    other = dataclasses.replace(VARIANT, recipe=dataclasses.replace(YARN, base=10001.0))
    changed = design(geometry=dataclasses.replace(GEOMETRY, variants=(other,)), angle_model="hf_f32")
    assert geometry_digest(changed) != geometry_digest(design(angle_model="hf_f32"))
    # Exact angles do not ask where the frequencies come from.
    changed = design(geometry=dataclasses.replace(GEOMETRY, variants=(other,)))
    assert geometry_digest(changed) == geometry_digest(design())
