"""The sine generator at every phase of a small width, against the sine itself."""

import math

import pytest
from ropewalk.gateware.sine import SineGenerator
from ropewalk.sine_format import SineFormat


@pytest.mark.parametrize(
    ("coefficient_width", "phase_bits", "stride"),
    [(8, 16, 1), (10, 16, 7), (18, 16, 7), (24, 16, 7), (9, 18, 13), (18, 48, 1 << 16)],
)
def test_every_phase(coefficient_width, phase_bits, stride, drive) -> None:
    fmt = SineFormat(coefficient_width=coefficient_width, phase_bits=phase_bits)
    turns = 1 << fmt.reduced_phase_bits
    eighths = [max(0, min(turns - 1, k * turns // 8 + d)) for k in range(9) for d in (-1, 0, 1)]
    phases = [*range(0, turns, stride), *eighths]
    dut = SineGenerator(fmt)
    seen = drive(dut, [{"phase": phase} for phase in phases], ["quadrant", "cosine", "sine"], dut.latency)
    one = 1 << fmt.magnitude_fraction_bits
    worst = 0.0
    for phase, (quadrant, cosine, sine) in zip(phases, seen, strict=True):
        assert quadrant == phase * 4 // turns
        place = phase - quadrant * turns // 4
        angle = 2 * math.pi * place / turns
        worst = max(worst, abs(sine - one * math.sin(angle)), abs(cosine - one * math.cos(angle)))
    # Half a unit of rounding, a quarter of the ROM's, and the rest of the series.
    assert worst < 1.1


def test_quarter_turns_are_exact(drive) -> None:
    fmt = SineFormat(coefficient_width=18, phase_bits=48)
    quarter = 1 << fmt.reduced_phase_bits - 2
    dut = SineGenerator(fmt)
    seen = drive(dut, [{"phase": k * quarter} for k in range(4)], ["quadrant", "cosine", "sine"], dut.latency)
    assert seen == [(k, 1 << fmt.magnitude_fraction_bits, 0) for k in range(4)]
