"""The model: exact identities, and errors against a rotation computed here from the papers."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.model import rotate, rows, signed_cos_sin, unit_row
from ropewalk_sim.statistics import ErrorStatistics, error_statistics

HEAD = 256
PAIRS = HEAD // 2
LAST = (1 << 24) - 1
EDGES = [0, 1, 2, 255, 256, 1 << 20, (1 << 23) - 1, 1 << 23, LAST - 1, LAST]
YARN = 0.1 * math.log(4) + 1


def paper_frequencies(base):
    """theta_i = base ** (-2 i / d), RoFormer (arXiv 2104.09864), section 3.2.2."""
    with mpmath.workprec(200):
        return [mpmath.power(base, mpmath.mpf(-2 * i) / HEAD) for i in range(PAIRS)]


def exact_angles(frequencies, positions):
    """Angles modulo a turn in radians, ``[positions, pairs]``: integers of 128 bits until the last step."""
    with mpmath.workprec(300):
        steps = [int(mpmath.nint(frequency / (2 * mpmath.pi) * 2**128)) for frequency in frequencies]
    # The step's own rounding is 2**24 * 2**-129 turns at most.
    turns = [[(step * position % 2**128 >> 64) / 2**64 for step in steps] for position in positions]
    return np.array(turns) * (2 * math.pi)


def make(frequencies, amplitude=1.0, **choices):
    variant = Variant(
        name="default",
        inverse_frequency=tuple(float(value) for value in frequencies),
        amplitude=amplitude,
        max_position=1 << 24,
    )
    dim = 2 * len(frequencies)
    geometry = RotaryGeometry(
        model_type="test",
        head_dim=dim,
        rotary_dim=dim,
        rotary_start=0,
        query_heads=1,
        key_heads=1,
        pairing="interleaved",
        output_pairing="interleaved",
        layers=None,
        variants=(variant,),
    )
    return Design(geometry=geometry, lanes=1, **choices)


def exact_rotation(x, angles, amplitude):
    cosine, sine = amplitude * np.cos(angles), amplitude * np.sin(angles)
    first, second = x[..., 0], x[..., 1]
    return np.stack([first * cosine - second * sine, first * sine + second * cosine], axis=-1)


def measure(base, amplitude, seed, tokens=8000, bound=22937, **choices):
    """Errors of ``tokens`` random positions, all pairs of a head, inputs to 70 % of full scale."""
    rng = np.random.default_rng(seed)
    frequencies = paper_frequencies(base)
    design = make(frequencies, amplitude, **choices)
    found = ErrorStatistics()
    positions = np.concatenate([EDGES, rng.integers(0, LAST + 1, tokens)])
    for some in np.array_split(positions, 8):
        x = rng.integers(-bound, bound + 1, (len(some), PAIRS, 2))
        # A corner of the box in every token: the largest vectors that are asked for.
        x[:, ::16] = rng.choice([-bound, bound], (len(some), PAIRS // 16, 2))
        exact = exact_rotation(x, exact_angles(frequencies, some.tolist()), amplitude)
        found += error_statistics(rotate(design, x, rows(design, 0, some)), exact, design.data)
    return found


@pytest.mark.parametrize("base", [1e4, 1e6])
def test_a_million_pairs_at_amplitude_one(base):
    found = measure(base, 1.0, seed=20261130)
    assert found.count >= 2_000_000
    assert found.worst_lsb <= 0.70
    assert abs(found.bias_lsb) <= 0.01
    assert found.rms_lsb < 0.30  # rounding alone gives 1/sqrt(12) = 0.289


@pytest.mark.parametrize("base", [1e4, 1e6])
def test_a_million_pairs_with_the_amplitude_of_yarn(base):
    found = measure(base, YARN, seed=4)
    assert found.count >= 2_000_000
    assert found.worst_lsb <= 0.80
    assert abs(found.bias_lsb) <= 0.01


@pytest.mark.parametrize("source", ["synth", "table"])
def test_random_positions_of_either_source(source):
    # The table's limit stands in the design, but its rows can be asked for anywhere.
    found = measure(1e4, 1.0, seed=5, tokens=400, source=source, positions=64)
    assert found.worst_lsb <= 0.70


def test_the_model_tells_a_wrong_constant():
    """One LSB in one step is far outside the bounds: the measurement has teeth."""
    frequencies = paper_frequencies(1e4)
    design = make(frequencies)
    wrong = make([*frequencies[:-1], float(frequencies[-1]) + 2 * math.pi / 2**40])
    x = np.full((1, PAIRS, 2), 22937)
    exact = exact_rotation(x, exact_angles(frequencies, [LAST]), 1.0)
    assert error_statistics(rotate(design, x, rows(design, 0, [LAST])), exact).worst_lsb <= 0.70
    assert error_statistics(rotate(wrong, x, rows(wrong, 0, [LAST])), exact).worst_lsb > 1.5


@pytest.mark.parametrize("phase_bits", [16, 24, 32, 48])
@pytest.mark.parametrize("width", range(8, 25))
def test_position_zero_is_the_identity(width, phase_bits):
    design = make([1.0, 0.0, 0.3], coefficient_width=width, phase_bits=phase_bits)
    row = rows(design, 0, [0])
    assert row.tolist() == [[[0, 1 << (width - 1), 0]] * 3]
    assert np.array_equal(row[0], unit_row(design, 0))
    words = np.array([-32768, -32767, -1, 0, 1, 12345, 32766, 32767])
    x = np.stack(np.meshgrid(words, words), axis=-1).reshape(-1, 1, 2).repeat(3, axis=1)
    assert np.array_equal(rotate(design, x, row), x)


def quarter_turn_design(width, phase_bits, **choices):
    """Two steps of exactly a quarter turn and of one unit of the phase: position p is phase p, or p quarter turns."""
    unit = 2 * math.pi / 2**phase_bits
    return make([unit, math.pi / 2], coefficient_width=width, phase_bits=phase_bits, **choices)


@pytest.mark.parametrize("amplitude", [1.0, 1.9])
@pytest.mark.parametrize("width", [10, 18])
def test_every_phase_of_sixteen_bits(width, amplitude):
    """All 65,536 phases: within an LSB of the truth, quadrants exactly alike, and the first of them monotone."""
    design = quarter_turn_design(width, 16, amplitude=amplitude)
    row = rows(design, 0, np.arange(1 << 16))[:, 0]
    cosine, sine = signed_cos_sin(row, design)
    angle = np.arange(1 << 16) * (2 * math.pi / 2**16)
    one = amplitude * 2 ** (width - 1)
    # The corrected value is within 0.07; the rounding adds 1/2, the amplitude's word up to 2**-18 of 1.
    limit = 0.5 + 0.07 * amplitude + abs(round(amplitude * 2**17) / 2**17 - amplitude) * 2 ** (width - 1)
    assert np.abs(cosine - one * np.cos(angle)).max() <= limit
    assert np.abs(sine - one * np.sin(angle)).max() <= limit
    quarter = 1 << 14
    for times in range(4):
        assert (row[times * quarter : (times + 1) * quarter, 0] == times).all()
        assert np.array_equal(row[times * quarter : (times + 1) * quarter, 1:], row[:quarter, 1:])
    assert np.array_equal(np.roll(cosine, -quarter), -sine)
    assert np.array_equal(np.roll(sine, -quarter), cosine)
    # Mirrored about the eighth turn, phase 0 aside (its mirror, a quarter turn, is in the next quadrant).
    assert np.array_equal(row[1:quarter, 1], row[1:quarter, 2][::-1])
    assert (np.diff(row[:quarter, 1]) <= 0).all()
    assert (np.diff(row[:quarter, 2]) >= 0).all()


@pytest.mark.parametrize("width", range(8, 25))
def test_a_quarter_turn_more_swaps_and_negates_exactly(width):
    """Two variants, the second a quarter turn per position ahead of the first: exact at any P."""
    rng = np.random.default_rng(width)
    for phase_bits in (16, 31, 48):
        design = quarter_turn_design(width, phase_bits)
        positions = rng.integers(0, min(1 << 24, 1 << phase_bits), 200)
        base = signed_cos_sin(rows(design, 0, positions)[:, 1], design)
        turned = signed_cos_sin(rows(design, 0, (positions + 1) & 0xFFFFFF)[:, 1], design)
        assert np.array_equal(turned[0], -base[1])
        assert np.array_equal(turned[1], base[0])
        assert {*np.abs(base[0])} <= {0, 1 << (width - 1)}


@pytest.mark.parametrize("data_width", [4, 16, 24, 32])
def test_the_largest_negative_word_and_saturation(data_width):
    design = quarter_turn_design(18, 48, data_width=data_width)
    low, high = -(1 << (data_width - 1)), (1 << (data_width - 1)) - 1
    row = rows(design, 0, [0, 1, 2, 3])[:, 1]
    assert row.tolist() == [[quadrant, 1 << 17, 0] for quadrant in range(4)]
    x = np.array([[low, low]])
    results = [rotate(design, x, entry[None])[0].tolist() for entry in row]
    # (x, y) -> (-y, x) -> (-x, -y) -> (y, -x); -low does not fit and saturates, it never wraps to low
    assert results == [[low, low], [high, low], [high, high], [low, high]]
    x = np.array([[low, high]])
    assert [rotate(design, x, entry[None])[0].tolist() for entry in row] == [
        [low, high],
        [-high, low],
        [high, -high],
        [high, high],
    ]
    assert np.array_equal(rotate(design, x, row[1:2], inverse=True), [[high, high]])
    # The row of an eighth turn: sqrt(2) times full scale, on both sides.
    eighth = np.array([[0, 92682, 92682]])
    assert rotate(design, [[high, high]], eighth).tolist() == [[0, high]]
    assert rotate(design, [[low, low]], eighth).tolist() == [[0, low]]


def test_inverse_turns_back():
    rng = np.random.default_rng(9)
    design = make(paper_frequencies(1e4))
    positions = rng.integers(0, LAST + 1, 50)
    x = rng.integers(-16000, 16001, (50, PAIRS, 2))
    row = rows(design, 0, positions)
    back = rotate(design, rotate(design, x, row), row, inverse=True)
    assert np.abs(back - x).max() <= 1


def test_long_inputs_are_worked_on_in_stretches_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(10)
    design = make(paper_frequencies(1e4))
    positions = rng.integers(0, 1000, 64)
    x = rng.integers(-32768, 32768, (64, 3, PAIRS, 2))
    row = rows(design, 0, positions)
    whole = rotate(design, x, row[:, None])
    monkeypatch.setattr("ropewalk_sim.model.CHUNK_PAIRS", 1)
    assert np.array_equal(rows(design, 0, positions), row)
    assert np.array_equal(rotate(design, x, row[:, None]), whole)
    assert np.array_equal(whole[5, 1], rotate(design, x[5, 1], row[5]))


def test_unit_amplitude_leaves_the_amplitude_out():
    frequencies = paper_frequencies(1e4)
    plain, scaled = make(frequencies), make(frequencies, YARN)
    positions = [0, 7, LAST]
    assert np.array_equal(rows(scaled, 0, positions, unit_amplitude=True), rows(plain, 0, positions))
    assert not np.array_equal(rows(scaled, 0, positions), rows(plain, 0, positions))
    table = make(frequencies, YARN, source="table", positions=16)
    with pytest.raises(ValueError, match="the table of slot 0 has no rows of unit amplitude"):
        rows(table, 0, [1], unit_amplitude=True)
    one = make(frequencies, source="table", positions=16)
    assert np.array_equal(rows(one, 0, [1], unit_amplitude=True), rows(one, 0, [1]))


@pytest.mark.parametrize(
    ("slot", "positions", "message"),
    [
        (1, [0], "slot 1 is empty: the design has 1 variants"),
        (-1, [0], "slot -1 is empty"),
        (0, [1 << 24], r"positions must be from 0 to 2\*\*24 - 1"),
        (0, [-1], r"positions must be from 0 to 2\*\*24 - 1"),
        (0, [0.5], "positions must be integers, not float64"),
        (0, [[1, 1]], r"positions must be \[n\] or \[n, 1\], not of shape \(1, 2\)"),
    ],
)
def test_what_has_no_row_is_refused(slot, positions, message):
    with pytest.raises(ValueError, match=message):
        rows(make([1.0]), slot, positions)


def test_an_entry_of_another_width_is_refused():
    with pytest.raises(ValueError, match="a row entry is a quadrant and two words of"):
        rotate(make([1.0], coefficient_width=8), [[1, 1]], [[0, 256, 0]])
    with pytest.raises(ValueError, match="a row entry is a quadrant and two words of"):
        rotate(make([1.0]), [[1, 1]], [[4, 5, 0]])


def test_no_tokens_give_no_rows():
    design = make([1.0])
    assert rows(design, 0, []).shape == (0, 1, 3)
    assert rotate(design, np.zeros((0, 1, 2), int), np.zeros((0, 1, 3), int)).shape == (0, 1, 2)


@pytest.mark.parametrize("source", ["synth", "table"])
def test_each_slot_has_rows_of_its_own_pairs(source):
    """Two slices in one design: the rows are those of each alone, and within an LSB of the exact cosine and sine."""
    few, many = paper_frequencies(1e4)[::37], paper_frequencies(1e6)[::16]
    alone = [make(few, 1.0, source=source, positions=99), make(many, 1.1, source=source, positions=99)]
    wide, narrow = alone[1].geometry.of(0), alone[0].geometry.of(0)
    shapes = replace(narrow, head_dim=wide.head_dim, rotary_start=6), wide
    variants = alone[0].variants[0], replace(alone[1].variants[0], name="many")
    geometry = replace(alone[1].geometry, variants=variants).with_shapes(shapes)
    design = Design(geometry=geometry, lanes=1, source=source, positions=99)
    positions = [0, 1, 50, 98]
    for slot, (frequencies, amplitude) in enumerate(((few, 1.0), (many, 1.1))):
        found = rows(design, slot, positions)
        assert found.shape == (4, len(frequencies), 3)
        assert unit_row(design, slot).shape == found.shape[1:]
        np.testing.assert_array_equal(found, rows(alone[slot], 0, positions))
        cosine, sine = signed_cos_sin(found, design)
        angles = exact_angles(frequencies, positions)
        assert np.abs(cosine - amplitude * np.cos(angles) * design.coefficient.one).max() < 1
        assert np.abs(sine - amplitude * np.sin(angles) * design.coefficient.one).max() < 1
