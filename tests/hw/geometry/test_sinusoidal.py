"""Sinusoids against the software's rows, and against the papers' formulas written again here in 60 digits."""

from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
from ropewalk.geometry.sinusoidal import (
    SinusoidalGeometry,
    paper_frequencies,
    sinusoid_row,
    timescale_frequencies,
)

DATA = Path(__file__).parents[2] / "data"

with np.load(DATA / "golden_positions.npz") as arrays:
    GOLDEN = {name.removeprefix("sinusoid/"): arrays[name] for name in arrays.files if name.startswith("sinusoid/")}

POSITIONS = [int(position) for position in GOLDEN["positions"]]


def geometry(dimension, layout, frequencies, **changes):
    return SinusoidalGeometry(
        model_type="test",
        dimension=dimension,
        layout=layout,
        max_position=2048,
        inverse_frequency=frequencies(dimension),
        **changes,
    )


def paper(row, dimension):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(the same): "Attention Is All You Need", 3.5."""
    elements = []
    for j in range(dimension):
        angle = mpmath.mpf(row) / mpmath.power(10000, mpmath.mpf(2 * (j // 2)) / dimension)
        elements.append(mpmath.sin(angle) if j % 2 == 0 else mpmath.cos(angle))
    return elements


def marian(row, dimension):
    """The paper's columns, sorted: first the even ones, then the odd ones."""
    elements = paper(row, dimension)
    return elements[0::2] + elements[1::2]


def tensor2tensor(row, dimension):
    """sin | cos of row * exp(-i ln(10000) / (n - 1)), n = dimension // 2, and a zero where that leaves one over."""
    n = dimension // 2
    angles = [row * mpmath.exp(-i * mpmath.log(10000) / (n - 1)) for i in range(n)]
    return [mpmath.sin(a) for a in angles] + [mpmath.cos(a) for a in angles] + [mpmath.mpf(0)] * (dimension % 2)


FORMS = {
    "paper": (paper, "interleaved", paper_frequencies),
    "marian": (marian, "half", paper_frequencies),
    "tensor2tensor": (tensor2tensor, "half", timescale_frequencies),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dimension", [4, 6, 7, 13, 64, 384, 512])
def test_rows_are_exact(form, dimension):
    formula, layout, frequencies = FORMS[form]
    made = geometry(dimension, layout, frequencies)
    with mpmath.workdps(60):
        for row in (0, 1, 2, 511, 1499):
            expected = formula(row, dimension)
            found = sinusoid_row(made, row)
            assert len(found) == dimension
            assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-12


@pytest.mark.parametrize("frequencies", [paper_frequencies, timescale_frequencies])
def test_frequencies_are_the_nearest_doubles(frequencies):
    with mpmath.workdps(60):
        for dimension in range(4, 70):
            n = dimension // 2
            divisor = mpmath.mpf(dimension) / 2 if frequencies is paper_frequencies else n - 1
            pairs = (dimension + 1) // 2 if frequencies is paper_frequencies else n
            expected = [float(mpmath.power(10000, -mpmath.mpf(i) / divisor)) for i in range(pairs)]
            assert list(frequencies(dimension)) == expected


def test_the_last_timescale_is_exactly_a_ten_thousandth():
    assert timescale_frequencies(384)[-1] == 1e-4
    assert paper_frequencies(384)[-1] > 1e-4


@pytest.mark.parametrize(
    ("name", "layout", "frequencies"),
    [
        ("whisper_384", "half", timescale_frequencies),
        ("whisper_1280", "half", timescale_frequencies),
        ("marian_odd_7", "half", paper_frequencies),
        ("roformer_64", "half", paper_frequencies),
        ("xlm_interleaved_64", "interleaved", paper_frequencies),
        ("distilbert_interleaved_64", "interleaved", paper_frequencies),
        ("m2m100_fairseq_512_pad1", "half", timescale_frequencies),
        ("fsmt_512", "half", timescale_frequencies),
    ],
)
def test_the_softwares_rows(name, layout, frequencies):
    golden = GOLDEN[name]
    rows = range(8) if name == "marian_odd_7" else POSITIONS
    fairseq = name.startswith(("m2m", "fsmt"))
    made = geometry(golden.shape[1], layout, frequencies, zero_row=1 if fairseq else None)
    exact = np.array([sinusoid_row(made, row) for row in rows])
    # Marian, RoFormer, XLM and DistilBERT make their angles in float64; the others in float32, where a unit of the
    # angle at row r is r * 2**-23 at most, and the frequency is off by two units.
    off = 6e-8 if frequencies is paper_frequencies else 6e-8 + np.array(list(rows))[:, None] * 2.0**-22
    assert (np.abs(golden - exact) <= off).all()
    if fairseq:
        assert not golden[1].any()
        assert not exact[1].any()


def test_fairseqs_position_p_reads_row_p_plus_2():
    made = geometry(512, "half", timescale_frequencies, zero_row=1, row_offset=2)
    golden = GOLDEN["fsmt_512"]
    assert POSITIONS[2:4] == [2, 3]
    for position, expected in ((0, golden[2]), (1, golden[3])):
        np.testing.assert_allclose(sinusoid_row(made, position + made.row_offset), expected, atol=2e-6)


def test_negative_rows_flip_the_sines_only():
    made = geometry(6, "interleaved", paper_frequencies)
    forward, back = sinusoid_row(made, 5), sinusoid_row(made, -5)
    assert back[0::2] == tuple(-sine for sine in forward[0::2])
    assert back[1::2] == forward[1::2]


def test_row_zero_is_zeros_and_ones():
    assert sinusoid_row(geometry(7, "half", paper_frequencies), 0) == (0, 0, 0, 0, 1, 1, 1)
    assert sinusoid_row(geometry(7, "half", timescale_frequencies), 0) == (0, 0, 0, 1, 1, 1, 0)
    assert sinusoid_row(geometry(7, "interleaved", paper_frequencies), 0) == (0, 1, 0, 1, 0, 1, 0)
    zeroed = replace(geometry(6, "half", paper_frequencies), zero_row=0)
    assert sinusoid_row(zeroed, 0) == (0,) * 6
