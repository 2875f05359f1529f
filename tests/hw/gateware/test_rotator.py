"""One lane, exhaustively at a small width, against the rotation written out in integers."""

import itertools

import pytest
from amaranth.hdl import Fragment
from ropewalk.family import FAMILIES, MULTIPLIER_BITS
from ropewalk.gateware.rotator import RotatorLane


def rotated(
    x: int, y: int, quadrant: int, cosine: int, sine: int, inverse: int, width: int, fraction: int, floors: bool = False
):
    """Turn by whole quarters, then by the rest; one rounding (half up, or down), then saturation."""
    cos = (cosine, -sine, -cosine, sine)[quadrant]
    sin = (sine, cosine, -sine, -cosine)[quadrant]
    if inverse:
        sin = -sin
    half, low, high = 0 if floors else 1 << fraction - 1, -(1 << width - 1), (1 << width - 1) - 1
    return tuple(max(low, min(high, value + half >> fraction)) for value in (x * cos - y * sin, x * sin + y * cos))


@pytest.fixture(params=["operands", "products", "products of look-up tables", "in the sum", "in the blocks"])
def negated(request, monkeypatch) -> str:
    """Each form of the lane: at tiles of 4 bits a negated operand of 5 bits takes one more."""
    if request.param == "products":
        monkeypatch.setitem(MULTIPLIER_BITS, "generic", 4)
    return request.param


@pytest.mark.parametrize("rounding", ["half-up", "floor"])
@pytest.mark.parametrize("inverse", [0, 1])
def test_every_pair_at_a_small_width(inverse, rounding, negated, make_design, drive) -> None:
    multipliers = "luts" if "tables" in negated else "dsp"
    design = make_design(
        data_width=4,
        coefficient_width=8,
        rounding=rounding,
        lane_multipliers=multipliers,
        family={"in the sum": "ecp5", "in the blocks": "ice40"}.get(negated, "generic"),
    )
    coefficients = [(128, 0), (0, 128), (91, 91), (255, 255), (127, 16), (1, 128), (200, 77)]
    words = range(-8, 8)
    cases = [
        (x, y, quadrant, *pair)
        for quadrant, pair in itertools.product(range(4), coefficients)
        for x in words
        for y in words
    ]
    dut = RotatorLane(design)
    forms = dut._negates_operands, dut._signs_sums, dut._adds_products
    assert forms == (negated == "operands", negated == "in the sum", negated == "in the blocks")
    inputs = [
        {"x": x, "y": y, "rotated": 1, "inverse": inverse, "entry": {"quadrant": q, "cosine": c, "sine": s}}
        for x, y, q, c, s in cases
    ]
    seen = drive(dut, inputs, ["out0", "out1"], dut.latency)
    assert seen == [rotated(*case, inverse, 4, 7, rounding == "floor") for case in cases]


@pytest.mark.parametrize(
    ("family", "multipliers"),
    [("generic", "dsp"), ("generic", "luts"), ("ecp5", "dsp"), ("ice40", "dsp"), ("gowin", "dsp")],
)
@pytest.mark.parametrize(("data_width", "coefficient_width"), [(16, 18), (18, 18), (32, 24), (20, 16), (16, 16)])
def test_the_ends_of_the_range(data_width, coefficient_width, family, multipliers, make_design, drive) -> None:
    design = make_design(
        data_width=data_width, coefficient_width=coefficient_width, family=family, lane_multipliers=multipliers
    )
    low, high = -(1 << data_width - 1), (1 << data_width - 1) - 1
    one, most = 1 << coefficient_width - 1, (1 << coefficient_width) - 1
    cases = list(
        itertools.product(
            (low, low + 1, -1, 0, 1, high), (low, 0, high), range(4), (0, one, most), (0, one, most), (0, 1)
        )
    )
    dut = RotatorLane(design)
    inputs = [
        {"x": x, "y": y, "rotated": 1, "inverse": inverse, "entry": {"quadrant": q, "cosine": c, "sine": s}}
        for x, y, q, c, s, inverse in cases
    ]
    seen = drive(dut, inputs, ["out0", "out1"], dut.latency)
    assert seen == [rotated(*case, data_width, coefficient_width - 1) for case in cases]
    # Half a turn of the largest negative word saturates; it does not wrap.
    assert seen[cases.index((low, 0, 2, one, 0, 0))] == (high, 0)


def test_a_pair_that_is_not_rotated_ignores_its_entry(make_design, drive) -> None:
    design = make_design(data_width=8, coefficient_width=8)
    dut = RotatorLane(design)
    cases = [(x, -x - 1, q) for x in range(-128, 128, 5) for q in range(4)]
    inputs = [
        {"x": x, "y": y, "rotated": 0, "inverse": x & 1, "entry": {"quadrant": q, "cosine": 255, "sine": 255}}
        for x, y, q in cases
    ]
    assert drive(dut, inputs, ["out0", "out1"], dut.latency) == [(x, y) for x, y, _ in cases]


@pytest.mark.parametrize("data_width", [4, 8, 11, 16, 17, 18, 24, 32])
@pytest.mark.parametrize("coefficient_width", [8, 16, 18, 24])
def test_no_clock_depends_on_the_form(data_width, coefficient_width, make_design) -> None:
    latencies = set()
    for family, multipliers in itertools.product(FAMILIES, ("dsp", "luts")):
        lane = RotatorLane(
            make_design(
                data_width=data_width,
                coefficient_width=coefficient_width,
                lane_multipliers=multipliers,
                family=family,
            )
        )
        Fragment.get(lane, None)  # what is made must be used
        latencies.add(lane.latency)
    assert len(latencies) == 1
