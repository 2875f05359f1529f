"""Tables in banks: a small table in banks of a few words, which a family would have only of a large one.

Its 21 rows of 10 elements in 4 lanes take 63 words.
"""

import numpy as np
import pytest
from ropewalk.emit.learned import learned_files, read_table
from ropewalk.errors import InputError
from ropewalk.gateware.families import FORMS
from ropewalk.gateware.families.form import Form
from ropewalk.gateware.learned.table_rows import Banks, rows_latency
from ropewalk.gateware.learned.top import LearnedPorts
from ropewalk_sim.beats import Stalls
from ropewalk_sim.learned.amaranth import simulate
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.scenarios import random_stream
from ropewalk_sim.learned.stream import Session, descriptors_of, whole_tokens

from .test_loads import CRC, crc_of, write

RESTS = Stalls(seed=3, data=0.3, token=0.3, output=0.4, registers=0.3)


@pytest.fixture(params=[8, 16, 32], ids=lambda words: f"banks of {words}")
def banks(request, monkeypatch) -> int:
    """Words of a bank: 8 banks, 4 or 2."""
    monkeypatch.setattr(Form, "bank_words", lambda self, width, depth: min(request.param, depth))
    return request.param


def test_a_table_in_banks_gives_what_the_model_gives(banks, make) -> None:
    design, words = make()
    assert Banks(design).count == 64 // banks
    stream = random_stream(design, 45, seed=8, faults=0.3)
    assert simulate(design, words, stream, RESTS).same(run_model(design, words, stream))


def test_the_first_beat_of_a_table_in_banks_comes_after_the_stated_latency(banks, make) -> None:
    design, words = make()
    stream = whole_tokens(design, descriptors_of(np.zeros(1)), np.zeros((1, design.dimension), int))
    ports = LearnedPorts(design, words)
    assert rows_latency(design) == 2 + 2 + {8: 3, 16: 2, 32: 1}[banks]
    assert simulate(design, words, stream, ports=ports).first_output_clock == 1 + ports.latency


def test_a_table_in_banks_is_loaded_and_its_crc_known(banks, make) -> None:
    design, words = make()
    new = words.copy()
    new[4:20] = np.random.default_rng(3).integers(-256, 256, (16, design.dimension))
    load = (
        write("load_begin", 4), *(write("load_data", word) for word in new[4:20].reshape(-1)),
        write("load_commit", 0), *CRC,
    )  # fmt: skip
    stream = whole_tokens(design, descriptors_of(np.arange(21) - 2), np.zeros((21, design.dimension), int))
    output = simulate(design, words, stream, session=Session(registers=load))
    assert output.same(run_model(design, new, stream))
    assert output.answers[-2].value == crc_of(new)


def test_the_file_of_a_table_in_banks_gives_it_back(banks, make, tmp_path) -> None:
    design, words = make()
    files = learned_files(design, words)
    lines = files["rows.hex"].split()
    count = Banks(design).count
    assert len(lines) == banks
    assert {len(line) for line in lines} == {16 * count}
    assert f"write_enable[{count - 1}]" in files["ropewalk.v"]
    (tmp_path / "rows.hex").write_text("\n".join(lines))
    assert np.array_equal(read_table(design, tmp_path), words)
    # Bank 1 stands above bank 0: its first word is beat `banks` of the table.
    row, beat = divmod(banks, design.beats_per_token)
    assert int(lines[0], 16) >> 64 & 0xFFFF == int(words[row, 4 * beat]) & 0xFFFF
    lines[-1] = f"{int(lines[-1], 16) ^ 1 << 64 * count - 1:x}"  # past the table's last word
    (tmp_path / "rows.hex").write_text("\n".join(lines))
    with pytest.raises(InputError, match="zeros past"):
        read_table(design, tmp_path)


@pytest.mark.parametrize(
    ("width", "depth", "bank"),
    [(64, 49_152, 16_384), (64, 10_000, 2048), (64, 300, 300), (8, 5000, 2048), (18, 1024, 1024), (1, 40_000, 16_384)],
)
def test_a_bank_of_an_ecp5_is_a_block_deep(width, depth, bank) -> None:
    """As few blocks as there can be; of those divisions, the one with the fewest banks."""
    assert FORMS["ecp5"].bank_words(width, depth) == bank
    assert FORMS["generic"].bank_words(width, depth) == depth
