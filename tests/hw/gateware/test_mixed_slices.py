"""Variants that rotate different parts of a head, in one engine, the slot changing from token to token."""

import zlib
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.gateware.slots import table_bases, table_lengths
from ropewalk.gateware.top import RotaryPorts
from ropewalk.geometry.shape import Shape
from ropewalk.tables.slot_words import slot_crcs, slot_load_words
from ropewalk_sim.beats import INVERSE, Script, Stalls, StreamInput, StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.model import rotate, rows
from ropewalk_sim.registers import read_crcs
from ropewalk_sim.scenarios import random_words

HEAD_DIM = 16
SLICES = ((16, 0), (6, 2), (4, 12))
"""rotary_dim and rotary_start: all of the head, the middle of it from mid-beat to mid-beat, its end."""
LIMITS = (21, 13, 7)

Make = Callable[..., Design]


def mixed(make_design: Make, *, slices=SLICES, limits=LIMITS, **options) -> Design:
    """A design with one variant per slice; the second is loud."""
    plain = make_design(head_dim=HEAD_DIM, lanes=1)
    shape = plain.geometry.of(0)
    variants, shapes = [], []
    for slot, ((rotary_dim, rotary_start), limit) in enumerate(zip(slices, limits, strict=True)):
        variants.append(
            replace(
                plain.variants[0],
                name=f"slice{slot}",
                inverse_frequency=tuple(10.0 ** (-pair / (slot + 1)) for pair in range(rotary_dim // 2)),
                amplitude=1.25 if slot == 1 else 1.0,
                max_position=limit,
            )
        )
        shapes.append(replace(shape, rotary_dim=rotary_dim, rotary_start=rotary_start))
    geometry = replace(plain.geometry, variants=tuple(variants)).with_shapes(tuple(shapes))
    return Design(geometry=geometry, **options)


def random_stream(design: Design, tokens: int, seed: int) -> tuple[StreamInput, np.ndarray, np.ndarray, np.ndarray]:
    """Tokens of all slots and an empty one, at positions up to the limit and at it, some like the one before."""
    rng = np.random.default_rng(seed)
    limits = np.array([*design.limits, 1])
    slot = rng.integers(0, len(limits), tokens)
    position = rng.integers(0, limits[slot] + 1)
    flags = rng.choice([0, INVERSE], tokens)
    for array in (slot, position, flags):
        array[1::6] = array[::6][: len(array[1::6])]
    descriptors = descriptor_words(slot, position, flags=flags, tag=np.arange(tokens) & 255)
    return whole_tokens(design, descriptors, random_words(design, rng, tokens)), slot, position, flags


def expected(design: Design, stream: StreamInput, slot: np.ndarray, position: np.ndarray, flags: np.ndarray):
    """Elements and error bits: each token by its own rows and its own slice, straight from the arithmetic's model."""
    shift = 64 - design.data_width
    data = (stream.data << shift >> shift).reshape(len(slot), sum(design.heads), HEAD_DIM).copy()
    error = np.ones(len(slot), bool)
    turned = design.heads[0] + design.heads[1]
    for token, (mine, where) in enumerate(zip(slot, position, strict=True)):
        if mine < len(design.variants) and where < design.limits[mine]:
            shape: Shape = design.shapes[mine]
            row = rows(design, mine, np.array([where]))[0]
            heads = data[token, :turned, shape.rotary_start : shape.rotary_start + shape.rotary_dim]
            result = rotate(design, heads.reshape(turned, -1, 2), row, inverse=bool(flags[token]))
            heads[:] = result.reshape(heads.shape)
            error[token] = False
    return data.reshape(-1, design.elements), np.repeat(error, design.beats_per_token)


def check(output: StreamOutput, data: np.ndarray, error: np.ndarray) -> None:
    np.testing.assert_array_equal(output.data, data)
    np.testing.assert_array_equal(output.error, error)


@pytest.mark.parametrize(("source", "lanes"), [("synth", 1), ("synth", 4), ("table", 2), ("table", 4)])
def test_each_token_is_turned_in_its_own_slice(make_design, source, lanes) -> None:
    design = mixed(make_design, lanes=lanes, source=source, value_heads=1, slots=4)
    stream, *tokens = random_stream(design, 40, seed=lanes)
    data, error = expected(design, stream, *tokens)
    assert {*tokens[0]} == {0, 1, 2, 3} and error.any() and not error.all()
    check(simulate(RotaryPorts(replace(design, registers=False)), design, stream), data, error)
    stalls = Stalls(seed=7, data=0.3, token=0.3, output=0.3, registers=0.2)
    output = simulate(RotaryPorts(design), design, stream, stalls, Script(meanwhile=read_crcs(range(4))))
    check(output, data, error)
    assert [answer.value for answer in output.answers[-4:]] == [*slot_crcs(design), 0]


@pytest.mark.parametrize(
    ("slices", "limits"),
    [
        (((4, 0), (16, 0)), (9, 5)),  # no bit of the numbers of pairs in common: 2 and 8
        (((14, 2), (10, 4), (2, 14)), (5, 16, 3)),  # one in all, others in some: 7, 5 and 1
        (((8, 8), (8, 0)), (4, 4)),  # the same number, elsewhere in the head
    ],
)
def test_a_table_finds_the_rows_of_any_numbers_of_pairs(make_design, slices, limits) -> None:
    design = mixed(make_design, slices=slices, limits=limits, lanes=2, source="table", registers=False)
    stream, *tokens = random_stream(design, 30, seed=3)
    output = simulate(RotaryPorts(design), design, stream, Stalls(seed=1, data=0.2, token=0.2, output=0.2))
    check(output, *expected(design, stream, *tokens))


def test_the_tables_follow_each_other_without_gaps(make_design) -> None:
    design = mixed(make_design, lanes=1, source="table")
    assert table_lengths(design) == [21 * 8, 13 * 3, 7 * 2]
    assert table_bases(design) == [0, 168, 207]


@pytest.mark.parametrize("source", ["synth", "table"])
def test_the_words_of_a_slot_are_those_of_its_own_slice(make_design, source) -> None:
    """Word by word as docs/number-contract.md has it, but for the entries, which other tests cover."""
    design = mixed(make_design, lanes=1, source=source)
    lengths = [(8, 3, 2), (21 * 8, 13 * 3, 7 * 2)][source == "table"]
    starts, amplitudes = (0, 1, 6), (1 << 17, 5 << 15, 1 << 17)
    for slot, (dim, _) in enumerate(SLICES):
        words = slot_load_words(design, slot)
        assert words[:4] == [starts[slot] | dim // 2 << 16, 0, LIMITS[slot], amplitudes[slot]]
        assert len(words) == 4 + 2 * lengths[slot]
        assert slot_crcs(design)[slot] == zlib.crc32(b"".join(word.to_bytes(4, "little") for word in words))


def test_short_rows_keep_the_pace_beside_long_ones(make_design) -> None:
    """Two variants that alternate, one row limited by its pairs and one by the beats of the token, without stalls."""
    design = mixed(make_design, slices=((16, 0), (2, 0)), limits=(1 << 20, 1 << 20), lanes=4)
    assert design.rates == (0.75, 1.0) and design.beats_per_clock == 0.75
    rates = []
    for slots in ([0], [1], [0, 1]):
        for tokens in (30, 70):
            number = np.arange(tokens)
            words = random_words(design, np.random.default_rng(1), tokens)
            descriptors = descriptor_words(np.array(slots)[number % len(slots)], number, tag=number & 255)
            stream = whole_tokens(design, descriptors, words)
            output = simulate(RotaryPorts(replace(design, registers=False)), design, stream)
            rates.append((output.beats, output.last_output_clock))
    (long, short, both) = (
        (rates[i + 1][0] - rates[i][0]) / (rates[i + 1][1] - rates[i][1]) for i in range(0, len(rates), 2)
    )
    assert long == pytest.approx(0.75, abs=0.01)
    assert short == pytest.approx(1.0, abs=0.01)
    assert 0.75 <= both <= 1.0
