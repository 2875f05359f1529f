"""Loading the table at run time, its CRC, soft reset and flush, in Amaranth's simulator."""

import zlib
from functools import partial

import numpy as np
import pytest
from ropewalk_sim import registers
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.learned.engines import run_engine
from ropewalk_sim.learned.memory import Memory
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.registers import Access, address_of
from ropewalk_sim.units.rows import RowInput, descriptors_of, to_unit, whole_tokens

simulate = partial(run_engine, "amaranth", None)
write = partial(registers.write, unit="learned")
read = partial(registers.read, unit="learned")

LOADING, SCANNING, KNOWN = 1, 2, 4
SLVERR = 2


def crc_of(words: np.ndarray) -> int:
    return zlib.crc32(words.astype("<i2").tobytes())


CRC = (
    Access(address=address_of("load_state", "learned"), mask=SCANNING, until=0),
    read("table_crc"),
    read("load_state"),
)


def nothing(lanes: int = 4) -> RowInput:
    none = np.zeros((0, lanes))
    return RowInput(
        descriptors=np.zeros((0, 2), np.uint32), data=none.astype(np.int64), tid=np.zeros(0, np.uint8),
        last=np.zeros(0, bool), keep=none.astype(bool),
    )  # fmt: skip


@pytest.mark.parametrize(("dimension", "lanes", "width"), [(10, 4, 16), (3, 1, 5), (7, 2, 8), (1, 1, 4), (8, 8, 12)])
def test_the_crc_is_of_what_the_memory_holds(dimension, lanes, width, make) -> None:
    design, words = make(rows=5, dimension=dimension, lanes=lanes, table_width=width)
    answers = simulate(design, words, nothing(lanes), script=Script(registers=CRC)).answers
    assert answers[1].value == crc_of(words)
    assert answers[2].value == KNOWN


@pytest.mark.parametrize(("dimension", "lanes"), [(10, 4), (3, 1), (7, 2), (1, 1), (12, 4)])
def test_a_loaded_table_is_used_and_its_crc_known(dimension, lanes, make) -> None:
    design, words = make(rows=5, dimension=dimension, lanes=lanes, table_width=9)
    new = np.random.default_rng(3).integers(-256, 256, words.shape).astype(np.int16)
    new[0] = words[0]  # rows 1 to 3 and then row 4 are loaded
    load = [
        write("load_begin", 1), *(write("load_data", word) for word in new[1:4].reshape(-1)),
        write("load_begin", 4), *(write("load_data", word) for word in new[4]), write("load_commit", 0), *CRC,
    ]  # fmt: skip
    stream = whole_tokens(design, descriptors_of(np.arange(3)), np.zeros((3, dimension), int))
    output = simulate(design, words, stream, Stalls(registers=0.3), Script(registers=tuple(load)))
    assert output.same(run_model(design, new, stream))
    assert all(answer.response == 0 for answer in output.answers)
    assert output.answers[-2].value == crc_of(new)


def test_what_a_load_refuses_and_why(make) -> None:
    design, words = make(rows=3, dimension=5, table_width=6)
    refused = [
        (write("load_data", 1), 3), (write("load_commit", 1), 3), (write("load_begin", 3), 2),
        (write("load_begin", 1 << 31), 2),
    ]  # fmt: skip
    after = [
        (write("load_begin", 2), 0), (write("load_data", 32), 5), (write("load_data", -33), 5),
        (write("load_data", 1), 0), (write("load_commit", 0), 4), *((write("load_data", -32), 0) for _ in range(4)),
        (write("load_data", 0), 2), (write("load_commit", 0), 0), (write("load_commit", 0), 3),
    ]  # fmt: skip
    accesses, reasons = [], []
    for access, reason in (*refused, *after):
        accesses += [access, read("load_state")]
        reasons.append(reason)
    short = [write("load_begin", 0, strobes=7), write("offset", 1, strobes=1), read("load_row"), read("status")]
    script = Script(registers=(*accesses, *short, *CRC))
    output = simulate(design, words, nothing(), script=script)
    answers = output.answers
    assert [one.value >> 8 & 7 for one in answers[1 : len(accesses) : 2]] == reasons
    assert [one.response for one in answers[: len(accesses) : 2]] == [SLVERR if reason else 0 for reason in reasons]
    assert [one.response for one in answers[len(accesses) : len(accesses) + 2]] == [SLVERR, SLVERR]
    assert answers[len(accesses) + 3].value == 0b10000
    changed = words.copy()
    changed[2] = [1, -32, -32, -32, -32]
    assert answers[-2].value == crc_of(changed)


def test_a_scan_of_a_table_in_use_takes_one_clock_in_64_and_harms_nothing(make) -> None:
    design, words = make(rows=9, dimension=8)
    stream = whole_tokens(design, descriptors_of(np.arange(120) % 7), np.zeros((120, 8), int))
    rescan = (write("control", 16, start=40), read("table_crc"))
    output = simulate(design, words, stream, script=Script(data_start=200, registers=CRC[:1], meanwhile=rescan))
    assert output.same(run_model(design, words, stream))
    assert output.beats_per_clock >= 63 / 64 - 0.01
    assert output.answers[-1].value == 0  # not known again yet


def test_the_outside_form_has_no_table_to_load(make) -> None:
    design, words = make(storage="external")
    registers = (
        write("load_begin", 0), read("load_state"), read("table_crc"), write("base_low", 4), write("base_low", 8),
        write("row_stride", 9), write("row_stride", 1 << 31), read("row_stride"), write("base_high", 0),
    )  # fmt: skip
    answers = simulate(design, words, nothing(), script=Script(registers=registers)).answers
    assert [one.response for one in answers] == [SLVERR, 0, 0, SLVERR, 0, SLVERR, SLVERR, 0, SLVERR]
    assert answers[1].value >> 8 == 1
    assert answers[7].value == design.row_stride


@pytest.mark.parametrize("storage", ["block-ram", "external"])
@pytest.mark.parametrize("control", [1, 8], ids=["soft reset", "flush"])
@pytest.mark.parametrize("moment", [9, 30, 47])
def test_nothing_of_the_stream_before_a_reset_or_flush_is_left(storage, control, moment, make) -> None:
    """Tokens before wait for data that never come whole; reads outside are under way. The next come out as if first."""
    design, words = make(dimension=24, storage=storage)
    before = whole_tokens(design, descriptors_of(np.arange(3, 6), tag=9), np.full((3, 24), 77))
    cut = 4  # as many as are taken while the memory has given nothing
    beats = {name: getattr(before, name)[:cut] for name in ("data", "tid", "last", "keep")}
    script = Script(
        interrupted=to_unit(design, RowInput(descriptors=before.descriptors, **beats)), interrupted_clocks=moment,
        reset_clocks=0, registers=(write("control", control), read("status")),
    )  # fmt: skip
    stream = whole_tokens(design, descriptors_of(np.arange(12)), np.arange(288).reshape(12, 24))
    output = simulate(design, words, stream, script=script, memory=Memory(latency=(20, 50), stall=0.3))
    assert output.same(run_model(design, words, stream))
