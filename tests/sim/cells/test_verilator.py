"""Some of the other tests once more in Verilator, whose time stands still while the clock rises."""

from collections.abc import Callable, Sequence

import pytest

from . import test_ecp5_block_ram, test_ecp5_multiplier, test_gowin_block_ram, test_gowin_dsp
from .bench import Job, Row, read_seen, verilator, write_bench

CHECKS = {
    "ecp5-multiplier": test_ecp5_multiplier.test_every_set_of_registers,
    "ecp5-dual-port": test_ecp5_block_ram.test_every_pair_of_widths_and_every_write_mode,
    "ecp5-resets": test_ecp5_block_ram.test_output_registers_and_resets,
    "gowin-36-by-36": test_gowin_dsp.test_36_by_36_bits,
    "gowin-dual-port": lambda run: test_gowin_block_ram.test_two_ports_that_read_and_write("X9", run),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_what_icarus_shows_verilator_shows(name, tmp_path):
    def run(jobs: Sequence[Job]) -> list[list[Row]]:
        assert not verilator(tmp_path, write_bench(tmp_path, jobs), 2 * max(len(job.rows) for job in jobs) + 1)
        return read_seen(tmp_path, jobs)

    check: Callable = CHECKS[name]
    check(run)
