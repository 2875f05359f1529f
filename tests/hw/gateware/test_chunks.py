"""Where chunks belong: every beat of every slice against the pairing written out, and never two chunks in one bank."""

import itertools

import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.chunks import ChunkMap
from ropewalk.geometry.shape import Shape
from ropewalk.order import order_of

BASE = 5
"""Where the first beat of a head is put."""


def expected_chunks(start: int, half: int, beats: int, split: bool) -> list[tuple[int, int]]:
    """The chunks of each beat: the slice's own beats take its pairs, the rest of the head stays where it is."""
    halves = [(start + p, start + half + p) if split else (start + 2 * p, start + 2 * p + 1) for p in range(half)]
    others = [c for c in range(2 * beats) if not start <= c < start + 2 * half]
    rest = list(zip(others[::2], others[1::2], strict=True))
    before = start // 2
    if start % 2:
        # The two chunks that are left over at the slice's ends come behind it.
        assert rest[before] == (start - 1, start + 2 * half)
    return rest[:before] + halves + rest[before:]


def crossed(start: int, half: int, beat: int) -> bool:
    """Whether the chunks of a natural beat lie in each other's banks, of a slice whose beats are split."""
    return half % 2 == 0 and start // 2 + half // 2 <= beat < start // 2 + half


def slices(beats: int) -> list[tuple[int, int]]:
    """First chunk and chunks of a half, of every slice of a head."""
    return [(start, half) for half in range(1, beats + 1) for start in range(2 * beats - 2 * half + 1)]


@pytest.mark.parametrize("beats", [1, 2, 3, 4, 5, 6, 7, 8])
def test_every_slice_of_every_head(beats, make_design) -> None:
    lanes = 2
    design = make_design(head_dim=2 * lanes * beats, rotary_dim=2 * lanes, lanes=lanes, pairings=("half", "half"))
    dut = ChunkMap(design, place_bits=6)
    cases = list(itertools.product(slices(beats), (False, True)))
    found: dict = {}

    async def testbench(ctx) -> None:
        for (start, half), split in cases:
            shape = Shape(
                head_dim=2 * lanes * beats, rotary_dim=2 * half * lanes, rotary_start=start * lanes, query_heads=1,
                key_heads=1, pairing="half", output_pairing="half",
            )  # fmt: skip
            order = order_of(shape, lanes, "half", "half")
            assert (order.first, order.odd) == (start // 2 * lanes, bool(start % 2))
            ctx.set(dut.order, {"first": order.first, "pairs": order.pairs, "odd": int(order.odd)})
            ctx.set(dut.split, int(split))
            beats_found = []
            # One beat per clock.
            for clock in range(beats + dut.latency):
                ctx.set(dut.word, clock % beats)
                ctx.set(dut.base, BASE + clock % beats)
                if clock >= dut.latency:
                    word = clock - dut.latency
                    places = (ctx.get(place) - BASE - word for place in (dut.low, dut.high))
                    beats_found.append((*places, ctx.get(dut.second_bank), ctx.get(dut.inside)))
                await ctx.tick()
            found[start, half, split] = beats_found

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    for (start, half), split in cases:
        bank = {}
        chunks = expected_chunks(start, half, beats, split)
        seen = found[start, half, split]
        for (low, high), (low_place, high_place, low_bank, inside) in zip(chunks, seen, strict=True):
            assert low < high
            assert (low_place, high_place) == (low // 2, high // 2), (start, half, split)
            assert bool(inside) == (start <= low < start + 2 * half)
            # A beat of pairs is one access to each bank.
            bank |= {low: low_bank, high: 1 - low_bank}
        assert sorted(bank) == list(range(2 * beats)), "every chunk is in one beat"
        for beat in range(beats):
            assert bank[2 * beat] == (split and crossed(start, half, beat)), "chunks lie where natural beats put them"
            assert bank[2 * beat] != bank[2 * beat + 1], "a natural beat is one access to each bank"


@pytest.mark.parametrize("beats", [16, 24, 32])
def test_the_banks_of_long_heads(beats) -> None:
    """The same rule in Python, for more slices than a simulator could take."""

    for start, half in slices(beats):
        for low, high in expected_chunks(start, half, beats, True):
            banks = [chunk % 2 ^ crossed(start, half, chunk // 2) for chunk in (low, high)]
            assert banks[0] != banks[1], (start, half, low, high)
