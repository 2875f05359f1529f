"""The registers of the unit: what they say, loading slopes under way, the CRC, soft reset and flush."""

import numpy as np
import pytest
from ropewalk.geometry.alibi import alibi_slopes
from ropewalk.tables.slopes import slope_crc, slope_words
from ropewalk_sim.alibi.random_rows import random_rows
from ropewalk_sim.alibi.registers import FLUSH, SOFT_RESET, load_slopes, read, read_crc, wait, write
from ropewalk_sim.alibi.streams import run_model
from ropewalk_sim.beats import Script, Stalls

BOTH = pytest.mark.parametrize("engine", ["amaranth", "verilator"])
BUSY, NO_SUCH_COUNT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(1, 6)
LOAD_REFUSED = 1 << 4


def values(answers):
    return [answer.value for answer in answers]


@BOTH
def test_what_the_unit_is(engine, unit, designs):
    design = designs["narrow"]
    names = ("identity", "widths", "capacity", "mode", "heads", "status")
    accesses = (*read_crc(), *(read(name) for name in names), write("identity", 0), read("load_data"))
    out = unit(engine, "narrow")(random_rows(design, 1, seed=1), script=Script(registers=accesses))
    crc, identity, widths, capacity, mode, heads, status = values(out.answers[1:-2])
    assert identity.to_bytes(4, "little") == b"ALIB"
    assert (widths & 255, widths >> 8 & 255, widths >> 16 & 255, widths >> 24) == (2, 8, 3, 30)
    assert (capacity, mode, heads, status) == (8, 0, 5, 0)
    assert crc == slope_crc(slope_words(alibi_slopes(5), 3))
    assert [answer.refused for answer in out.answers[-2:]] == [True, True]


@BOTH
def test_slopes_are_loaded(engine, unit, designs):
    design = designs["usual"]
    words = tuple(slope_words(alibi_slopes(7, 4.0), 8))
    stream = random_rows(design, 60, seed=2)
    script = Script(registers=(*load_slopes(words), *read_crc(), read("heads"), write("mode", 3)))
    out = unit(engine, "usual")(stream, script=script)
    assert out.answers[-4 - 1].response == 0
    assert values(out.answers[-3:-1]) == [slope_crc(words), 7]
    assert out.same_beats(run_model(design, stream, mode=3, words=words))
    # Another run begins with the model's own again, since the memory is filled anew.
    assert not out.same_beats(run_model(design, stream, mode=3))


@BOTH
def test_all_256_heads_have_slopes(engine, unit, designs):
    design = designs["usual"]
    words = tuple(slope_words(alibi_slopes(256), 8))
    stream = random_rows(design, 60, seed=12)
    stream.descriptors[:, 0] |= np.uint32(0xE0)
    out = unit(engine, "usual")(stream, script=Script(registers=(*load_slopes(words), *read_crc())))
    assert out.answers[-1].value == slope_crc(words)
    assert out.same_beats(run_model(design, stream, words=words))


@BOTH
def test_rows_keep_the_slopes_that_they_were_taken_with(engine, unit, designs):
    """A load is committed while rows run: each row has the old slopes or the new, and none a mixture."""
    design = designs["usual"]
    words = tuple(slope_words(alibi_slopes(12, 16.0), 8))
    stream = random_rows(design, 150 if engine == "amaranth" else 600, seed=3, errors=False)
    script = Script(
        meanwhile=(*load_slopes(words, start=50), *load_slopes(design.slope_words), *load_slopes(words), *read_crc())
    )
    out = unit(engine, "usual")(stream, stalls=Stalls(seed=2, data=0.5), script=script)
    assert not any(answer.refused for answer in out.answers)
    assert out.answers[-1].value == slope_crc(words)
    old, new = run_model(design, stream), run_model(design, stream, words=words)
    row = np.cumsum(old.last) - old.last
    is_old = (np.where(out.keep, out.data, 0) == np.where(old.keep, old.data, 0)).all(axis=1)
    is_new = (np.where(out.keep, out.data, 0) == np.where(new.keep, new.data, 0)).all(axis=1)
    assert out.beats == old.beats
    each = [(is_old[row == r].all(), is_new[row == r].all()) for r in range(stream.tokens)]
    assert all(a or b for a, b in each)
    # Old, new, old, new: among the rows that tell them apart there are three changes, if they are enough rows.
    kinds = [a for a, b in each if a != b]
    assert sum(x != y for x, y in zip(kinds, kinds[1:], strict=False)) == (1 if engine == "amaranth" else 3)


@BOTH
def test_loads_that_are_refused(engine, unit, designs):
    design = designs["usual"]
    state = read("load_state")
    accesses = (
        *read_crc(),
        write("load_commit", 0), state,
        write("load_data", 1), state,
        write("load_begin", 0), state,
        write("load_begin", 257), state,
        write("load_begin", 2), *(write("load_data", 5) for _ in range(3)), write("load_commit", 0), state,
        write("load_begin", 1), *(write("load_data", 5) for _ in range(3)), write("load_commit", 0), state,
        write("load_begin", 1), write("load_data", 5), write("load_data", 1 << 6), write("load_commit", 0), state,
        write("load_begin", 1, strobes=7),
        read("status"), read("slope_crc"), read("heads"),
        *load_slopes((1, 2)), write("load_begin", 1), state,
    )  # fmt: skip
    stream = random_rows(design, 3, seed=1)
    out = unit(engine, "usual")(stream, script=Script(registers=accesses))
    codes = [a.value >> 8 & 7 for a, access in zip(out.answers, accesses, strict=True) if access == state]
    assert codes == [
        NOT_BEGUN, NOT_BEGUN, NO_SUCH_COUNT, NO_SUCH_COUNT, WRONG_COUNT, WRONG_COUNT, OUT_OF_RANGE, BUSY,
    ]  # fmt: skip
    refused = [a.refused for a in out.answers[2:10:2]]
    assert refused == [True] * 4
    place = accesses.index(read("status"))
    assert out.answers[place].value == LOAD_REFUSED
    assert values(out.answers[place + 1 : place + 3]) == [slope_crc(design.slope_words), 12]


@BOTH
@pytest.mark.parametrize("how", ["soft reset", "flush", "reset"])
def test_a_unit_is_emptied(engine, how, unit, designs):
    """Whatever was under way is gone, and the next rows come out as from a new unit; the mode register stays."""
    design = designs["usual"]
    first, second = random_rows(design, 40, seed=5), random_rows(design, 20, seed=6)
    wanted = {"soft reset": (write("control", SOFT_RESET),), "flush": (write("control", FLUSH),), "reset": ()}[how]
    for clocks in (7, 30, 61):
        script = Script(
            interrupted=first,
            interrupted_clocks=clocks,
            interrupted_registers=(write("mode", 1),),
            reset_clocks=2 if how == "reset" else 0,
            registers=(*wanted, *(wait("load_state", 0, 0) for _ in range(3)), read("mode")),
        )
        out = unit(engine, "usual")(second, stalls=Stalls(seed=clocks, output=0.3), script=script)
        mode = out.answers[-1].value
        assert mode == (0 if how == "reset" else 1)
        assert out.same_beats(run_model(design, second, mode=mode))
