"""A lane of each form, emitted, in Icarus with the models of the cells: against the rotation in plain integers."""

import itertools
import random
from dataclasses import replace

import pytest
from amaranth.hdl import Cat, Module
from ropewalk.gateware.rotator import RotatorLane

from .bench import Bench, outputs

FORMS = [(family, multipliers) for family in ("generic", "ecp5", "ice40") for multipliers in ("dsp", "luts")]
FORMS += [("gowin", "dsp"), ("xilinx", "dsp")]


class Lane(Bench):
    """A lane between one word and another."""

    def __init__(self, design):
        self.lane = RotatorLane(design)
        self._inputs = (
            self.lane.x, self.lane.y, self.lane.entry.as_value(), self.lane.rotated, self.lane.inverse,
        )  # fmt: skip
        super().__init__(sum(len(one) for one in self._inputs), 2 * design.data_width + 2)

    def elaborate(self, platform):
        m = Module()
        m.submodules.lane = lane = self.lane
        at = 0
        for one in self._inputs:
            m.d.comb += one.eq(self.row[at : at + len(one)])
            at += len(one)
        m.d.comb += self.out.eq(Cat(lane.out0, lane.out1, lane.saturated))
        return m


def rotated(x, y, quadrant, cosine, sine, turned, inverse, *, width, fraction, floors):
    """Turn by whole quarters, then by the rest; one rounding (half up, or down), then saturation; and where it was."""
    cos = (cosine, -sine, -cosine, sine)[quadrant] if turned else 1 << fraction
    sin = (sine, cosine, -sine, -cosine)[quadrant] if turned else 0
    sin = -sin if inverse else sin
    half, low, high = 0 if floors else 1 << fraction - 1, -(1 << width - 1), (1 << width - 1) - 1
    exact = [value + half >> fraction for value in (x * cos - y * sin, x * sin + y * cos)]
    kept = [max(low, min(high, value)) for value in exact]
    return (*kept, sum((one != other) << place for place, (one, other) in enumerate(zip(exact, kept, strict=True))))


def check(design, cases, family, folder) -> None:
    width, other = design.data_width, design.coefficient_width
    lane = Lane(replace(design, family=family))
    rows = []
    for case in cases:
        row, at = 0, 0
        for value, bits in zip(case, (width, width, 2, other, other, 1, 1), strict=True):
            row |= (value & (1 << bits) - 1) << at
            at += bits
        rows.append(row)
    latency = lane.lane.latency
    seen = outputs(lane, [*rows, *[0] * latency], family=family, folder=folder)
    for case, bits in zip(cases, seen[latency - 1 :], strict=False):
        word = int(bits[::-1], 2)
        out = [word >> place & (1 << width) - 1 for place in (0, width)]
        found = (*(one - (1 << width) * (one >> width - 1) for one in out), word >> 2 * width)
        floors = design.rounding == "floor"
        assert found == rotated(*case, width=width, fraction=other - 1, floors=floors), case


@pytest.mark.parametrize("rounding", ["half-up", "floor"])
@pytest.mark.parametrize(("family", "multipliers"), FORMS)
def test_every_pair_at_a_small_width(family, multipliers, rounding, make_design, tmp_path):
    design = make_design(lanes=1, data_width=4, coefficient_width=8, rounding=rounding, lane_multipliers=multipliers)
    coefficients = [(0, 128), (91, 91), (255, 255), (200, 77)]
    words = range(-8, 8)
    cases = [
        (x, y, quadrant, *pair, 1, inverse)
        for quadrant, pair, inverse, x, y in itertools.product(range(4), coefficients, (0, 1), words, words)
    ]
    check(design, cases, family, tmp_path)


WIDTHS = [(8, 18), (16, 18), (20, 24)]
BLOCKS = [(family, "dsp", width, other) for family, other in (("ice40", 16), ("xilinx", 18)) for width in (8, 16, 17)]
"""Where the blocks add the products, and a bit more, where they may not."""


@pytest.mark.parametrize(
    ("family", "multipliers", "width", "other"),
    # 20 x 24 bits are as many tiles for iCE40 as for the others, and slow to simulate.
    [*BLOCKS, *((*form, *widths) for form in FORMS[:6] for widths in (WIDTHS[:2] if form[0] == "ice40" else WIDTHS))],
)
def test_ends_and_random_words(width, other, family, multipliers, make_design, tmp_path):
    design = make_design(lanes=1, data_width=width, coefficient_width=other, lane_multipliers=multipliers)
    low, high = -(1 << width - 1), (1 << width - 1) - 1
    one, most = 1 << other - 1, (1 << other) - 1
    source = random.Random(9)
    cases = list(itertools.product((low, -1, high), (low, 0, high), range(4), (0, one, most), (0, most), (1,), (0, 1)))
    cases += [
        (
            source.randint(low, high), source.randint(low, high), source.randrange(4), source.randint(0, most),
            source.randint(0, most), source.randrange(8) > 0, source.randrange(2),
        )
        for _ in range(600)
    ]  # fmt: skip
    check(design, cases, family, tmp_path)
