"""The learned-table adder in Amaranth's simulator against the model: streams, rows, framing, rate, latency."""

import numpy as np
import pytest
from ropewalk.gateware.learned.top import LearnedPorts
from ropewalk_sim.beats import Stalls
from ropewalk_sim.learned.amaranth import simulate
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.scenarios import random_stream
from ropewalk_sim.learned.stream import Memory, Session, descriptors_of, whole_tokens
from ropewalk_sim.registers import Access, address_of

RESTS = Stalls(seed=3, data=0.3, token=0.3, output=0.4, registers=0.3)
SHAPES = [
    {"dimension": 24},
    {"dimension": 22, "table_width": 4, "data_width": 8},
    {"dimension": 3, "table_width": 9, "data_width": 18},
    {"dimension": 5, "lanes": 2, "data_width": 4},
    {"dimension": 3, "lanes": 1, "data_width": 32, "fraction_bits": 20},
    {"dimension": 8, "lanes": 8, "table_width": 8},
    {"dimension": 1, "lanes": 1, "rows": 3},
]


def write(register: str, value: int, *, start: int = 0, strobes: int = 15) -> Access:
    return Access(address=address_of(register, "learned"), write=value & 0xFFFFFFFF, start=start, strobes=strobes)


def read(register: str) -> Access:
    return Access(address=address_of(register, "learned"))


@pytest.mark.parametrize(("options", "stalls"), [(SHAPES[1], Stalls()), *((shape, RESTS) for shape in SHAPES)])
def test_a_table_inside_gives_what_the_model_gives(options, stalls, make) -> None:
    design, words = make(**options)
    stream = random_stream(design, 45, seed=options["dimension"], faults=0.3)
    assert simulate(design, words, stream, stalls).same(run_model(design, words, stream))


@pytest.mark.parametrize(("options", "stalls"), [(SHAPES[1], Stalls()), *((shape, RESTS) for shape in SHAPES)])
def test_a_table_outside_gives_what_the_model_gives(options, stalls, make) -> None:
    """Rows over 4 KiB boundaries, gaps between rows, random latency, a memory that rests, and beats that fail."""
    design, words = make(storage="external", **options)
    stream = random_stream(design, 45, seed=options["dimension"], faults=0.3)
    memory = Memory(
        base=3 * 4096 - 8 * design.bus_bytes, stride=design.row_stride + design.bus_bytes, latency=(1, 40), stall=0.1,
        unreadable=((1, 0), (2, design.beats_per_token - 1)),
    )  # fmt: skip
    registers = (write("base_low", memory.base), write("row_stride", memory.stride or 0))
    output = simulate(design, words, stream, stalls, Session(registers=registers, memory=memory))
    expected = run_model(design, words, stream, unreadable=memory.errors(design))
    assert output.same(expected)
    assert [answer.response for answer in output.answers] == [0, 0]


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_rows_at_and_past_the_ends(storage, make) -> None:
    """4096 rows: the last one is read, the one after it and everything beyond is an error with x unchanged."""
    design, words = make(rows=4096, row_offset=0, dimension=4, storage=storage)
    position = np.array([0, 4095, 4096, 4097, 8191, 8192, (1 << 24) - 1, 1 << 24, 1 << 31, (1 << 32) - 1, 4095])
    x = np.arange(44).reshape(11, 4) * 3
    stream = whole_tokens(design, descriptors_of(position, tag=np.arange(11)), x)
    output = simulate(
        design,
        words,
        stream,
        session=Session(meanwhile=(write("control", 2, start=150), read("position_errors"), read("status"))),
    )
    bad = np.isin(np.arange(11), [0, 1, 10], invert=True)
    assert output.error.tolist() == bad.tolist()
    assert np.array_equal(output.data[bad], x[bad])
    rounded = (words[[0, 4095, 4095]].astype(int) + (1 << design.rounded_bits - 1)) >> design.rounded_bits
    assert np.array_equal(output.data[~bad], x[[0, 1, 10]] + rounded)
    assert [answer.value for answer in output.answers] == [0, 8, 1]


def test_offset_and_masked_row_are_registers(make) -> None:
    """A negative offset, one that makes rows wrap 32 bits in a careless adder, and a masked row past the table."""
    design, words = make()
    position = np.array([0, 1, 2, 20, 22, 23, (1 << 32) - 1])
    for offset, masked_row in ((-2, 20), (0, 21), (1, 0), (2**31 - 1, 5), (-(2**31), 5)):
        for flags in (0, 1):
            stream = whole_tokens(design, descriptors_of(position, flags=flags), np.zeros((7, 10), int))
            registers = (write("offset", offset), write("masked_row", masked_row), read("offset"))
            output = simulate(design, words, stream, session=Session(registers=registers))
            assert output.same(run_model(design, words, stream, offset=offset, masked_row=masked_row))
            assert output.answers[2].value == offset & 0xFFFFFFFF
            row = [masked_row if flags else int(one) + offset for one in position]
            assert output.error[2::3].tolist() == [not 0 <= one < 21 for one in row]


def test_a_register_written_between_descriptors_concerns_later_ones_only(make) -> None:
    """Four descriptors are taken before the offset changes and data comes: they keep the offset of their own clock."""
    design, words = make(dimension=4, row_offset=0)
    stream = whole_tokens(design, descriptors_of(np.full(60, 3)), np.zeros((60, 4), int))
    session = Session(data_start=60, meanwhile=(write("offset", 1, start=30),))
    output = simulate(design, words, stream, session=session)
    outputs = [run_model(design, words, stream, offset=offset).data for offset in (0, 1)]
    changed = [int(np.array_equal(row, outputs[1][0])) for row in output.data]
    assert output.early_tokens >= 4
    assert changed == sorted(changed)
    assert changed[output.early_tokens - 1] == 0
    assert changed[-1] == 1


@pytest.mark.parametrize(
    ("storage", "dimension"), [("block-ram", 24), ("block-ram", 3), ("external", 24), ("external", 12)]
)
def test_one_beat_per_clock_without_a_bubble(storage, dimension, make) -> None:
    """Outside, at 64 clocks of latency and from three beats per row on; inside, once the scan after reset is over."""
    design, words = make(rows=3, dimension=dimension, storage=storage, row_offset=0)
    tokens = 300 // design.beats_per_token
    position = np.random.default_rng(1).integers(0, 3, tokens)
    stream = whole_tokens(design, descriptors_of(position), np.zeros((tokens, dimension), int))
    memory = Memory(latency=(64, 64))
    output = simulate(design, words, stream, session=Session(data_start=300, memory=memory))
    assert output.beats_per_clock == 1.0
    assert output.data_waits == 0
    if storage == "external":
        assert max(under_way for _, _, under_way in output.bursts) >= 4


@pytest.mark.parametrize("dimension", [4, 24, 22, 28])
def test_the_first_beat_comes_after_the_stated_latency(dimension, make) -> None:
    design, words = make(dimension=dimension)
    stream = whole_tokens(design, descriptors_of(np.zeros(1)), np.zeros((1, dimension), int))
    ports = LearnedPorts(design, words)
    output = simulate(design, words, stream, ports=ports)
    # Nothing is taken in the clock after reset.
    assert output.first_output_clock == 1 + ports.latency


def test_long_rows_are_read_in_bursts_that_stay_in_their_page(make) -> None:
    design, words = make(rows=6, dimension=200, storage="external", row_offset=0)
    base = 2 * 4096 - 40
    stream = whole_tokens(design, descriptors_of(np.arange(6)), np.zeros((6, 200), int))
    session = Session(registers=(write("base_low", base),), memory=Memory(base=base))
    output = simulate(design, words, stream, session=session)
    assert output.same(run_model(design, words, stream))
    assert all(address % 4096 + beats * 8 <= 4096 and beats <= 16 for address, beats, _ in output.bursts)
    assert sum(beats for _, beats, _ in output.bursts) == 6 * 50
    assert output.bursts[0] == (base, 5, 1)


def test_counters_status_and_identity(make) -> None:
    design, words = make(dimension=6)
    x = np.full((4, 6), 32767)
    stream = whole_tokens(design, descriptors_of(np.array([0, 1, 19, 2]), tag=7), x)
    names = ("tokens", "beats", "saturations", "position_errors", "read_errors", "framing_errors", "status")
    meanwhile = (write("control", 2, start=60), *(read(name) for name in names), write("status", 9), read("status"))
    output = simulate(design, words, stream, session=Session(meanwhile=meanwhile))
    expected = run_model(design, words, stream)
    addend = (words[[2, 3, 4]].astype(int) + (1 << design.rounded_bits - 1)) >> design.rounded_bits
    saturated = int((addend > 0).sum())
    values = [answer.value for answer in output.answers]
    assert output.same(expected)
    assert saturated > 0
    assert values[1:8] == [4, 8, saturated, 1, 0, 0, 0b1001]
    assert values[9] == 0
    session = Session(registers=tuple(read(name) for name in ("identity", "widths", "scale", "dimension", "rows")))
    identity, widths, scale, dimension, rows = (
        one.value for one in simulate(design, words, stream, session=session).answers
    )
    assert identity.to_bytes(4, "little") == b"LEAR"
    assert widths == 4 | 16 << 8 | 16 << 16
    assert scale == 8 | design.table_fraction_bits << 8
    assert (dimension, rows) == (6, 21)
