"""Settings that every test shares, and which tests are long."""

import os
from fnmatch import fnmatchcase

import pytest
from hypothesis import settings

# The same examples on every machine and every run, and no time limit on a busy machine: a failure is a fault
# of the code, and can be repeated.
settings.register_profile("ropewalk", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("ropewalk")

# Most tests run a simulator for less time than it takes to compile it.
os.environ.setdefault("ROPEWALK_OPTIMISE", "1")

STALLED = "tests/sim/engines/test_element_orders.py::test_every_bit_under_every_kind_of_stall"
FAMILY = "tests/sim/engines/test_families.py::test_every_family_has_the_same_bits_and_clocks"
LONG = (
    # Every token in place of some: the demonstration shows that whenever it is called.
    "tests/scripts/test_demo.py::test_the_demo_with_every_token_through_every_engine",
    # What Amaranth and Icarus show of every family, and Verilator of one.
    f"{FAMILY}[[]verilator-ecp5-luts]",
    f"{FAMILY}[[]verilator-generic-luts]",
    f"{FAMILY}[[]icarus-ecp5-luts]",
    f"{FAMILY}[[]verilator-gowin-dsp]",
    f"{FAMILY}[[]verilator-xilinx-dsp]",
    f"{FAMILY}[[]verilator-ice40-dsp]",
    "tests/sim/cells/test_verilator.py::*",
    # More sizes of heads; those in mid-beat, at either end, of one beat and with rows that limit stay.
    f"{STALLED}[[]192]",
    f"{STALLED}[[]100]",
    f"{STALLED}[[]96]",
    f"{STALLED}[[]80 of which the first 20]",
    f"{STALLED}[[]192 of which the last 64]",
    # A netlist of one family, a build of one kind of bitstream, a small part and one board's designs stay.
    "tests/sim/test_netlist.py::test_a_rotary_engine_does_in_cells_what_its_model_does[[]ice40-cells1]",
    "tests/scripts/test_build.py::test_a_board_that_is_too_small_is_said_to_be",
    "tests/hw/boards/test_build.py::test_a_bitstream_for_a_board[[]tang-primer-20k]",
    "tests/sim/board/test_board.py::test_other_designs_on_a_sound_line*",
    # More of the same: 1 clock per pair, the rate of one benchmark, one software's angles, a soak of each layout stay.
    "tests/hw/gateware/test_engine.py::test_rows_go_through_at_the_stated_rate[[][248]]",
    "tests/sim/test_soak.py::test_nothing_is_wrong_for_some_thousand_beats[[]both-verilator]",
    "tests/scripts/test_bench_rate.py::test_a_fast_part_of_it[[]2]",
    "tests/scripts/test_angle_models.py::test_the_folder_is_self_contained_and_every_engine_agrees[[]llamacpp_f32]",
)
"""Tests marked ``long``: patterns of their names. What the others show in their place stands above each."""


@pytest.hookimpl(tryfirst=True)  # before those are left out that are not asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(fnmatchcase(item.nodeid, pattern) for pattern in LONG):
            item.add_marker(pytest.mark.long)
