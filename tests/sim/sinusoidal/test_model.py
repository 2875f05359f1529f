"""The fixed-point model against the exact rows, the software's rows, and a second model written from the page alone."""

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk_sim.sinusoidal.exact import FORMS, exact_rows
from ropewalk_sim.sinusoidal.model import encodings, run_model
from ropewalk_sim.sinusoidal.scenarios import design_of
from ropewalk_sim.units.row_arrays import pack_rows, unpack_rows
from ropewalk_sim.units.rows import descriptors_of, whole_tokens

with np.load(Path(__file__).parents[2] / "data" / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("sinusoid/"): arrays[name] for name in arrays.files if name.startswith("sinusoid/")}

PROMISED = 1 << 20


def error_lsb(x, result, encoding, *, fraction_bits, width):
    """How far results are from the exact sums, in LSB, where a word of ``width`` bits can hold those; 0 elsewhere."""
    exact = x + np.ldexp(encoding, fraction_bits)
    inside = (exact >= -(2 ** (width - 1))) & (exact <= 2 ** (width - 1) - 1)
    return np.where(inside, result - exact, 0.0)


@pytest.mark.parametrize(
    ("form", "dimension", "width", "fraction_bits", "coefficient_width"),
    [
        ("paper", 64, 16, 8, 18),
        ("marian", 512, 16, 8, 18),
        ("marian", 7, 12, 8, 18),
        ("tensor2tensor", 384, 16, 12, 18),
        ("tensor2tensor", 65, 32, 16, 18),
        ("paper", 63, 32, 22, 24),
        ("marian", 16, 8, 6, 10),
        ("paper", 4, 16, 0, 8),
    ],
)
def test_results_are_within_the_bound_up_to_a_million(form, dimension, width, fraction_bits, coefficient_width):
    design = design_of(
        form, dimension, data_width=width, fraction_bits=fraction_bits, coefficient_width=coefficient_width
    )
    rng = np.random.default_rng(dimension)
    count = 60_000 // dimension
    rows = np.concatenate([np.arange(64), PROMISED - 1 - np.arange(64), rng.integers(0, PROMISED, count)])
    low, high = design.data.minimum, design.data.maximum
    x = rng.integers(low, high, (len(rows), dimension), endpoint=True)
    x[:32], x[32:64] = low, high
    result = run_model(design, whole_tokens(design, descriptors_of(rows), x)).data.reshape(len(rows), -1)[:, :dimension]
    error = error_lsb(x, result, exact_rows(form, dimension, rows), fraction_bits=fraction_bits, width=width)
    worst = np.abs(error).max()
    assert 0.45 < worst <= design.error_bound <= 0.75
    assert result.min() == low  # full-scale elements saturate, and wrap nowhere
    assert result.max() == high


def test_the_error_bound_is_nearly_reached():
    """22 fraction bits leave most of the bound to the sine, and the last row most of that to the phase."""
    design = design_of("paper", 8, data_width=32, fraction_bits=22, coefficient_width=24)
    rows = PROMISED - 1 - np.arange(20_000)
    error = error_lsb(
        np.zeros((len(rows), 8), np.int64), encodings(design, rows), exact_rows("paper", 8, rows),
        fraction_bits=22, width=32,
    )  # fmt: skip
    assert 0.52 < np.abs(error).max() <= design.error_bound < 0.7


@pytest.mark.parametrize(
    ("name", "form", "dimension"),
    [
        ("whisper_384", "tensor2tensor", 384),
        ("whisper_1280", "tensor2tensor", 1280),
        ("m2m100_fairseq_512_pad1", "tensor2tensor", 512),
        ("fsmt_512", "tensor2tensor", 512),
        ("marian_odd_7", "marian", 7),
        ("roformer_64", "marian", 64),
        ("xlm_interleaved_64", "paper", 64),
        ("distilbert_interleaved_64", "paper", 64),
    ],
)
def test_rows_are_those_of_the_software(name, form, dimension):
    fairseq = name in ("m2m100_fairseq_512_pad1", "fsmt_512")
    own = {"row_offset": 2, "zero_row": 1, "mask": "counted"} if fairseq else {}
    design = design_of(form, dimension, fraction_bits=12, **own)
    rows = np.arange(8) if name == "marian_odd_7" else GOLDEN["positions"]
    # through the unit's own rules: the position is a row less the offset, and a masked token reads the row of zeros
    masked = rows == design.geometry.zero_row
    position = np.where(masked, 0, rows - design.geometry.row_offset)
    assert masked.any() == fairseq
    valid = position >= 0  # row 0 of fairseq's table is no position's
    arrays = {"x": np.zeros((len(rows), dimension)), "position": np.maximum(position, 0)}
    if fairseq:
        arrays["masked"] = masked
    packed = pack_rows(design, arrays)
    result = unpack_rows(design, packed, run_model(design, packed.stream))
    error = np.abs(result["x"] - GOLDEN[name])[valid]
    # float32 sinusoids are themselves off by up to 7e-5 at row 1,499
    assert error.max() <= 0.75 * result["scale"] + 7e-5
    assert not result["error"].any()
    assert valid.sum() >= 7


def test_the_amplitude_scales_the_encoding():
    design = design_of("marian", 512, fraction_bits=12, amplitude=1 / math.sqrt(512))
    rows = np.array([1, 77, PROMISED - 1])
    error = encodings(design, rows) - np.ldexp(exact_rows("marian", 512, rows) / math.sqrt(512), 12)
    assert np.abs(error).max() <= design.error_bound < 0.53


def second_model(design, row, pair):
    """Sine and cosine of one pair in LSBs, from the pages alone, with integers: the rows of docs/sinusoidal.md."""
    c, p = design.coefficient_width, design.phase_bits
    index_bits, t = (c + 1) // 2, min(p, c + 11)
    b, r, m_bits = index_bits + 5, c + 4, c + 3
    n, e = t - 3 - index_bits, b + t - 3
    with mpmath.workprec(200):
        frequency = mpmath.mpf(design.geometry.inverse_frequency[pair])
        step = int(mpmath.floor(frequency / (2 * mpmath.pi) * 2**p + mpmath.mpf(0.5))) % 2**p
        phase = row * step % 2**p >> p - t
        q, odd, place = phase >> t - 2, phase >> t - 3 & 1, phase % 2 ** (t - 3)
        g = 2 ** (t - 3) - place if odd else place
        k = min(g >> n, 2**index_bits - 1)
        delta = g - k * 2**n - 2 ** (n - 1)
        theta = mpmath.pi / 4 * (k + mpmath.mpf(0.5)) / 2**index_bits
        rho = 1 - (mpmath.pi / 8 / 2**index_bits) ** 2 / 4
        up = lambda x: int(mpmath.floor(x + mpmath.mpf(0.5)))  # noqa: E731
        s, v = up(rho * mpmath.sin(theta) * 2**r), up((1 - rho * mpmath.cos(theta)) * 2**r)
        slope, fall = up(mpmath.pi / 4 * mpmath.cos(theta) * 2**b), up(mpmath.pi / 4 * mpmath.sin(theta) * 2**b)
    sine = s * 2 ** (e - r) + slope * delta + 2 ** (e - m_bits - 1) >> e - m_bits
    cosine = 2**m_bits - (v * 2 ** (e - r) + fall * delta + 2 ** (e - m_bits - 1) >> e - m_bits)
    if odd:
        sine, cosine = cosine, sine
    sine, cosine = [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][q]
    amplitude = math.floor(Fraction(design.amplitude) * 2**17 + Fraction(1, 2))
    lsb = Fraction(amplitude, 2 ** (17 + m_bits - design.fraction_bits))
    return [math.floor(word * lsb + Fraction(1, 2)) for word in (sine, cosine)]


@pytest.mark.parametrize(
    "options", [{}, {"coefficient_width": 9, "phase_bits": 40, "fraction_bits": 5}, {"amplitude": 1.37}]
)
def test_a_second_model_from_the_page_agrees(options):
    design = design_of("marian", 6, **options)
    rows = np.concatenate([np.arange(40), np.random.default_rng(1).integers(0, 1 << 25, 60)])
    made = encodings(design, rows)
    wanted = [[second_model(design, int(row), pair) for pair in range(3)] for row in rows]
    assert np.array_equal(made[:, :3], np.array(wanted)[:, :, 0])
    assert np.array_equal(made[:, 3:], np.array(wanted)[:, :, 1])


def test_borders_of_the_positions():
    design = design_of("paper", 8, max_position=100, row_offset=2, zero_row=5, mask="counted", lanes=8)
    position = np.array([0, 3, 99, 100, 1 << 24, (1 << 32) - 1])
    stream = whole_tokens(design, descriptors_of(position), np.zeros((6, 8), np.int64))
    output = run_model(design, stream)
    assert output.error.tolist() == [False, False, False, True, True, True]
    changed = output.data.any(axis=1)
    assert changed.tolist() == [True, False, True, False, False, False]  # position 3 reads row 5, which is zeros
    # the offset register moves the borders: -1 is an error, and 100 - 1 none
    output = run_model(design, stream, offset=-1)
    assert output.error.tolist() == [True, False, False, False, True, True]
    assert np.array_equal(output.data[3:4], encodings(design, [101]))


def test_arrays_that_cannot_be_used_are_refused():
    design = design_of("paper", 8)
    x, position = np.zeros((2, 8), np.int64), np.array([0, 1])
    for arrays, scale, what in [
        ({"x": x[:, :7], "position": position}, None, "wants"),
        ({"x": x, "position": position - 1}, None, "position"),
        ({"x": x, "position": position + (1 << 24)}, None, "position"),
        ({"x": x + 40_000, "position": position}, None, "16 bits"),
        ({"x": x * np.nan, "position": position}, None, "finite"),
        ({"x": x, "position": position, "masked": position}, None, "ignores the mask"),
        ({"x": x, "position": position, "y": x}, None, "y"),
        ({"x": x, "position": position}, 0.5, "scale must be 0.00390625"),
    ]:
        with pytest.raises(InputError, match=what):
            pack_rows(design, arrays, scale=scale)


def test_forms_are_those_of_the_reference():
    assert set(FORMS) == {"paper", "marian", "tensor2tensor"}
