"""The memory of each unit, as its page states it in a formula, against the memories that Yosys finds in the Verilog.

The formulas are written out here again, from the parameters alone: (words, bits of a word) of every memory.
"""

import json
from collections import Counter
from math import ceil, log2
from typing import Any

import numpy as np
import pytest
from ropewalk.boards.memories import BLOCK, LOGIC, find_memories
from ropewalk.boards.synthesis import synthesise
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.learned import learned_design
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.emit.folder import design_files
from ropewalk.geometry.alibi import AlibiGeometry, AlibiMode, alibi_slopes
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.geometry.sinusoidal import SinusoidalGeometry, paper_frequencies, timescale_frequencies

BLOCK_BITS = 18 * 1024


def memories(design, words=None) -> Counter[tuple[int, int]]:
    """How often each (words, bits of a word) is there. Small logic that Yosys calls a ROM is none."""
    found = find_memories(design_files(design, words))
    assert sum(memory.bits for memory in found if memory.kind == LOGIC) < 100
    return Counter((memory.words, memory.width) for memory in found if memory.kind != LOGIC)


def bits(counted):
    return sum(words * width * times for (words, width), times in counted.items())


def container(width):
    return 8 if width <= 8 else 16 if width <= 16 else 32


# --- ALiBi: docs/alibi.md, "Memory"


def alibi(heads=2, mode: AlibiMode = "relative", **options):
    geometry = AlibiGeometry(model_type="test", heads=heads, slopes=alibi_slopes(heads), mode=mode)
    return AlibiDesign(geometry=geometry, **options)


COUNTERS = Counter({(16, 32): 2})
"""The totals of the counters, and the copies of them that are shown."""

FEW_COUNTERS = Counter({(8, 32): 2})
"""The same of no more than eight."""


def alibi_memory(lanes=4, width=16, fraction=8, capacity=256, counters=COUNTERS):
    places = 32 if lanes >= 8 else 16
    return Counter([(2 * capacity, fraction + 30), (places, lanes * width), (places, lanes + 10)]) + counters


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, {}),
        (
            {"lanes": 16, "data_width": 8, "fraction_bits": 0, "capacity": 2},
            {"lanes": 16, "width": 8, "fraction": 0, "capacity": 2},
        ),
        (
            {"heads": 64, "lanes": 1, "data_width": 32, "fraction_bits": 24, "capacity": 64, "registers": False},
            {"lanes": 1, "width": 32, "fraction": 24, "capacity": 64, "counters": Counter()},
        ),
    ],
)
def test_alibi_has_slopes_and_an_output_queue_and_nothing_else(options, parameters):
    assert memories(alibi(**options)) == alibi_memory(**parameters)


def test_alibi_stores_nothing_for_its_heads_queries_and_keys():
    """256 heads take what 2 do, at positions to 2^24. Of queries and keys the unit is told nothing but by its rows."""
    assert memories(alibi(256, "mpt")) == memories(alibi(2)) == alibi_memory()
    assert bits(alibi_memory()) == 19_456 + 16 * (4 * 16 + 14) + 2 * 16 * 32 == 21_728


# --- Learned tables: docs/learned.md, "Memory, latency, area"


def learned(rows, dimension, *, storage="external", **options):
    geometry = LearnedGeometry(model_type="test", rows=rows, row_offset=0, dimension=dimension)
    table = np.random.default_rng(1).normal(size=(rows, dimension))
    return learned_design(geometry, table, storage=storage, **options)


def row_queues(lanes, width):
    """What the queues of beats and tokens take at most, in learned and sinusoidal units alike."""
    return 20 * (lanes * (width + 1 + container(width) // 8) + 40)


def prefetch(dimension, *, lanes, table, address=32) -> Counter[tuple[int, int]]:
    """The prefetch buffer, and the tokens and places of rows that wait for it."""
    beats = ceil(dimension / lanes)
    place = address - int(log2(lanes * (8 if table <= 8 else 16) // 8))
    ahead = max(4, 128 // beats) + 7
    places = 2 ** (int(log2(ahead)) + 1)
    return Counter([(127, lanes * table + 2), (places, place + 10), (places, place)])


@pytest.mark.parametrize(
    ("rows", "dimension", "lanes", "table", "width", "address"),
    [(30, 62, 4, 6, 12, 32), (5000, 5, 1, 16, 32, 64), (12, 70, 32, 9, 4, 40), (12, 4, 4, 16, 16, 32)],
)
def test_a_table_outside_takes_what_is_fetched_ahead(rows, dimension, lanes, table, width, address):
    design, words = learned(
        rows, dimension, lanes=lanes, table_width=table, data_width=width, fraction_bits=2, address_width=address
    )
    found = memories(design, words)
    ahead = prefetch(dimension, lanes=lanes, table=table, address=address)
    assert ahead <= found
    queues = found - ahead - COUNTERS - FEW_COUNTERS
    assert max(words for words, _ in queues) <= 16
    assert bits(queues) <= row_queues(lanes, width)
    assert design.memory_bits == 128 * (lanes * table + 2)  # its last beat stands in a register


def test_the_rows_of_a_table_outside_take_no_memory():
    """16 times the rows, 16 times the table; a row of the same length."""
    few, many = learned(64, 24), learned(1024, 24)
    assert memories(*few) == memories(*many)


@pytest.mark.parametrize(
    ("rows", "dimension", "lanes", "table", "width"), [(64, 62, 4, 8, 12), (40, 70, 32, 9, 4), (300, 5, 1, 16, 32)]
)
def test_a_table_inside_takes_its_words(rows, dimension, lanes, table, width):
    design, words = learned(
        rows, dimension, storage="block-ram", lanes=lanes, table_width=table, data_width=width, fraction_bits=2
    )
    found = memories(design, words)
    stored = Counter([(rows * ceil(dimension / lanes), lanes * table)])
    assert stored <= found
    assert bits(stored) == design.memory_bits
    queues = found - stored - COUNTERS - FEW_COUNTERS
    assert max(words for words, _ in queues) <= 16
    assert bits(queues) <= row_queues(lanes, width)


def test_the_table_inside_lies_in_block_rams_and_nothing_else_does():
    design, words = learned(64, 62, storage="block-ram", lanes=4, table_width=8, data_width=12)
    found = synthesise(design_files(design, words))
    assert found.memory_bits(BLOCK) == 64 * 16 * 4 * 8
    assert found.block_rams == ceil(64 * 16 * 4 * 8 / BLOCK_BITS) == 2


# --- Sinusoids: docs/sinusoidal.md, "Memory"


def sinusoidal(dimension, layout, *, max_position=1 << 20, timescale=False, **options):
    frequencies = timescale_frequencies(dimension) if timescale else paper_frequencies(dimension)
    geometry = SinusoidalGeometry(
        model_type="test", dimension=dimension, layout=layout, max_position=max_position, inverse_frequency=frequencies
    )
    return SinusoidalDesign(geometry=geometry, **options)


def words_ended(pairs, size, start, generators, clocks):
    """The most words of ``size`` items that end in so many clocks, of rows that follow each other without a gap."""
    groups = ceil(pairs / generators)
    ends = [
        row * groups + pair // generators
        for row in range(clocks + 2)
        for pair in range(pairs)
        if (start + pair + 1) % size == 0 or pair == pairs - 1
    ]
    return max(sum(first <= end < first + clocks for end in ends) for first in range(groups))


def sinusoidal_memory(dimension, layout, *, pairs, lanes, generators, fraction=8, width=18, scaled=False):
    """Steps, sines, and the queues of encodings, whose last words stand in registers."""
    element = fraction + (3 if scaled else 2)
    half_bits = ceil(width / 2)
    clocks = 29 if scaled else 25
    made = [(2 * 2 ** max(1, ceil(log2(pairs / generators))), 48)] * generators
    made += [(2**half_bits, 2 * width + 2 * half_bits + 16)] * generators
    if layout == "interleaved":
        made.append((words_ended(pairs, lanes // 2, 0, generators, clocks) + 2, lanes * element))
    else:
        cosines = min(pairs, dimension - pairs)
        start = pairs % lanes
        waiting = ceil(ceil(pairs / lanes) / 2), ceil((start + cosines) / lanes)
        for words, first in zip(waiting, (0, start), strict=True):
            made.append((words_ended(pairs, lanes, first, generators, clocks) + 2 + words, lanes * element))
    return Counter(made)


@pytest.mark.parametrize(
    ("dimension", "layout", "pairs", "lanes", "generators", "options", "parameters"),
    [
        (24, "interleaved", 12, 4, 2, {}, {}),
        (47, "interleaved", 24, 8, 1, {"coefficient_width": 12, "fraction_bits": 4}, {"width": 12, "fraction": 4}),
        (46, "half", 23, 4, 2, {"amplitude": 0.5}, {"scaled": True}),
        (2, "half", 1, 2, 1, {"coefficient_width": 12, "fraction_bits": 4}, {"width": 12, "fraction": 4}),
        (
            101,
            "half",
            50,
            2,
            1,
            {"coefficient_width": 9, "fraction_bits": 2, "timescale": True},
            {"width": 9, "fraction": 2},
        ),
    ],
)
def test_sinusoids_take_steps_and_sines_and_what_waits_of_a_row(
    dimension, layout, pairs, lanes, generators, options, parameters
):
    design = sinusoidal(dimension, layout, lanes=lanes, generators=generators, **options)
    assert design.pairs == pairs
    found = memories(design)
    stated = sinusoidal_memory(dimension, layout, pairs=pairs, lanes=lanes, generators=generators, **parameters)
    assert stated <= found
    encodings = list(stated.elements())[2 * generators :]
    derived = json.loads(design_files(design)["design.json"])["derived"]
    assert derived["queue_bits"] == sum((words + 1) * width for words, width in encodings)
    queues = found - stated - COUNTERS - FEW_COUNTERS
    assert max(words for words, _ in queues) <= 64
    assert bits(queues) <= row_queues(lanes, 16)


def test_sinusoids_store_nothing_for_their_positions():
    small: dict[str, Any] = {"lanes": 4, "coefficient_width": 9, "fraction_bits": 1}
    few, many = (sinusoidal(10, "half", max_position=positions, **small) for positions in (2, 1 << 24))
    assert memories(few) == memories(many)
