"""A second model, one number at a time, written from docs/number-contract.md alone, against the one in numpy.

It shares nothing with the package but the description of a design: plain integers, and mpmath where the contract
says "exactly". Section names are those of the document.
"""

import re
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk.sine_format import SineFormat
from ropewalk_sim.model import rotate, rows

DIGITS = 80
DOCUMENT = Path(__file__).parents[2] / "docs" / "number-contract.md"


def nearest(value):
    """Rounding: half up."""
    return int(mpmath.floor(value + mpmath.mpf(1) / 2))


def step_of(frequency, p):
    """Steps and phases."""
    with mpmath.workdps(DIGITS):
        return nearest(mpmath.mpf(frequency) / (2 * mpmath.pi) * 2**p) % 2**p


@cache
def rom_word(c, k):
    """Sine ROM."""
    l = -(-c // 2)  # noqa: E741
    with mpmath.workdps(DIGITS):
        theta = mpmath.pi / 4 * (k + mpmath.mpf(1) / 2) / 2**l
        h = mpmath.pi / (8 * 2**l)
        rho = 1 - h**2 / 4
        return (
            nearest(rho * mpmath.sin(theta) * 2 ** (c + 4)),
            nearest((1 - rho * mpmath.cos(theta)) * 2 ** (c + 4)),
            nearest(mpmath.pi / 4 * mpmath.cos(theta) * 2 ** (l + 5)),
            nearest(mpmath.pi / 4 * mpmath.sin(theta) * 2 ** (l + 5)),
        )


def generated(c, p, step, position, amplitude_word):
    """Phase to octant, Correction, Amplitude."""
    l = -(-c // 2)  # noqa: E741
    t_bits = min(p, c + 11)
    r, m, b = c + 4, c + 3, l + 5
    e = b + t_bits - 3
    phase = position * step % 2**p
    t = phase >> (p - t_bits)
    quadrant = t >> (t_bits - 2)
    odd = t >> (t_bits - 3) & 1
    place = t % 2 ** (t_bits - 3)
    folded = 2 ** (t_bits - 3) - place if odd else place
    cell_bits = t_bits - 3 - l
    k = min(folded >> cell_bits, 2**l - 1)
    delta = folded - k * 2**cell_bits - 2 ** (cell_bits - 1)
    s_word, v_word, g_word, h_word = rom_word(c, k)
    sine = (s_word * 2 ** (e - r) + g_word * delta + 2 ** (e - m - 1)) >> (e - m)
    versine = (v_word * 2 ** (e - r) + h_word * delta + 2 ** (e - m - 1)) >> (e - m)
    cosine = 2**m - versine
    if odd:
        sine, cosine = cosine, sine
    assert 0 <= sine <= 2**m
    assert 0 <= cosine <= 2**m
    largest = 2**c - 1
    return (
        quadrant,
        min((amplitude_word * cosine + 2**20) >> 21, largest),
        min((amplitude_word * sine + 2**20) >> 21, largest),
    )


def tabled(c, frequency, position, amplitude):
    """Table source."""
    with mpmath.workdps(DIGITS):
        angle = mpmath.mpf(frequency) * position
        quarters = mpmath.floor(angle / (mpmath.pi / 2))
        rest = angle - quarters * mpmath.pi / 2
        words = [nearest(mpmath.mpf(amplitude) * f(rest) * 2 ** (c - 1)) for f in (mpmath.cos, mpmath.sin)]
    return int(quarters) % 4, *(min(word, 2**c - 1) for word in words)


def rotated(w, c, x, y, entry, inverse):
    """Row entries, Rotation."""
    quadrant, cosine, sine = entry
    full_cosine = (cosine, -sine, -cosine, sine)[quadrant]
    full_sine = (sine, cosine, -sine, -cosine)[quadrant]
    if inverse:
        full_sine = -full_sine
    sums = x * full_cosine - y * full_sine, x * full_sine + y * full_cosine
    return [max(-(2 ** (w - 1)), min(2 ** (w - 1) - 1, (total + 2 ** (c - 2)) >> (c - 1))) for total in sums]


FREQUENCIES = st.one_of(
    st.just(0.0),
    st.floats(min_value=1e-9, max_value=8.0),
    st.integers(0, 63).map(lambda i: 1e4 ** (-i / 64)),
)
POSITIONS = st.one_of(st.integers(0, 2**24 - 1), st.sampled_from([0, 1, 2**24 - 1]))


@settings(max_examples=400)
@example(
    c=18, p=48, w=16, frequencies=[1.0, 0.5], amplitude=1.0, source="synth",
    positions=[0, 1, 2**24 - 1], inverse=False, unit=False, data=None,
)  # fmt: skip
@given(
    c=st.integers(8, 24),
    p=st.integers(16, 48),
    w=st.integers(4, 32),
    frequencies=st.lists(FREQUENCIES, min_size=1, max_size=4),
    amplitude=st.one_of(st.just(1.0), st.floats(min_value=2**-17, max_value=2 - 2**-17)),
    source=st.sampled_from(["synth", "synth", "table"]),
    positions=st.lists(POSITIONS, min_size=1, max_size=6),
    inverse=st.booleans(),
    unit=st.booleans(),
    data=st.data(),
)
def test_two_models_agree_in_every_bit(c, p, w, frequencies, amplitude, source, positions, inverse, unit, data):
    if source == "table" and unit:
        amplitude = 1.0
    geometry = RotaryGeometry(
        model_type="test",
        head_dim=2 * len(frequencies),
        rotary_dim=2 * len(frequencies),
        rotary_start=0,
        query_heads=1,
        key_heads=1,
        pairing="interleaved",
        output_pairing="interleaved",
        layers=None,
        variants=(Variant(name="one", inverse_frequency=tuple(frequencies), amplitude=amplitude, max_position=2**16),),
    )
    design = Design(geometry=geometry, lanes=1, data_width=w, coefficient_width=c, phase_bits=p, source=source)
    made = rows(design, 0, positions, unit_amplitude=unit)
    with mpmath.workdps(DIGITS):
        word = 2**17 if unit else nearest(mpmath.mpf(amplitude) * 2**17)
    expected = [
        [
            tabled(c, frequency, position, amplitude)
            if source == "table"
            else generated(c, p, step_of(frequency, p), position, word)
            for frequency in frequencies
        ]
        for position in positions
    ]
    assert made.tolist() == [[list(entry) for entry in row] for row in expected]

    low, high = -(2 ** (w - 1)), 2 ** (w - 1) - 1
    element = st.one_of(st.integers(low, high), st.sampled_from([low, low + 1, 0, high]))
    count = 2 * len(positions) * len(frequencies)
    values = data.draw(st.lists(element, min_size=count, max_size=count)) if data else [low, high] * (count // 2)
    x = np.array(values).reshape(len(positions), len(frequencies), 2)
    result = rotate(design, x, made, inverse=inverse)
    for i, row in enumerate(expected):
        for j, entry in enumerate(row):
            assert result[i, j].tolist() == rotated(w, c, *x[i, j].tolist(), entry, inverse)


def table_under(heading, columns):
    """Rows of the document's first table with ``columns`` columns below ``heading``, as lists of cells."""
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [cells for cells in lines if len(cells) == columns and not cells[0].startswith("--")]


def test_the_widths_of_the_document_are_those_of_the_design():
    letters, *examples = table_under("Widths", 10)
    assert letters == ["C", "P", "L", "T", "n", "B", "R", "M", "E", "ROM word"]
    assert len(examples) == 5
    for cells in examples:
        c, p, *expected = map(int, cells)
        fmt = SineFormat(coefficient_width=c, phase_bits=p)
        assert expected == [
            fmt.index_bits,
            fmt.reduced_phase_bits,
            fmt.cell_bits,
            fmt.slope_bits,
            fmt.rom_fraction_bits,
            fmt.magnitude_fraction_bits,
            fmt.correction_fraction_bits,
            fmt.word_bits,
        ]


def test_the_worked_example_of_the_document():
    step = step_of(0.5, 48)
    phase = 12345 * step % 2**48
    t = phase >> 19
    place = t % 2**26
    folded = 2**26 - place
    k = folded >> 17
    delta = folded - k * 2**17 - 2**16
    s, v, g, h = rom_word(18, k)
    sine, versine = ((word * 2**18 + slope * delta + 2**18) >> 19 for word, slope in ((s, g), (v, h)))

    def entry(word):
        q, cosine, sine = generated(18, 48, step, 12345, word)
        return f"q = {q}, cos = {cosine}, sin = {sine}; packed {q | cosine << 2 | sine << 20:#x}"

    def turned(word):
        made = generated(18, 48, step, 12345, word)
        ways = (tuple(rotated(16, 18, 20000, -12345, made, inverse)) for inverse in (False, True))
        return "{}; the other way {}".format(*ways)

    expected = [
        str(step),
        str(phase),
        f"{t}; {t >> 27}, {t >> 26 & 1}, {place}",
        f"{folded}, {k}, {delta}",
        f"{s}, {v}, {g}, {h}",
        f"{s | v << 22 | g << 43 | h << 57:#x}",
        f"{sine}, {versine}, {2**21 - versine}",
        entry(131072),
        turned(131072),
        entry(149242),
        turned(149242),
    ]
    assert [value for _, value in table_under("A worked example", 2)[1:]] == expected
    exact = mpmath.mpc(20000, -12345) * mpmath.expj(0.5 * 12345)
    printed = re.search(r"exact rotation at amplitude 1 is \((\S+), (\S+)\)", DOCUMENT.read_text(encoding="utf-8"))
    assert printed is not None
    assert printed.groups() == (f"{float(exact.real):.3f}", f"{float(exact.imag):.3f}")
