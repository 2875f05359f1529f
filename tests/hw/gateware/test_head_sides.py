"""What accompanies a beat comes out as it came, and beats that stand in for missing ones are told from others."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.head_sides import HeadSides


def accompanied(beats: int, seed: int) -> list[dict[str, int]]:
    """Whole heads: of tokens of some heads each, of which some get an error on the way and some stop within a head."""
    source = np.random.default_rng(seed)
    found = []
    for token in range(60):
        heads = int(source.integers(1, 4))
        last = heads * beats - 1 if source.random() < 0.6 else int(source.integers(0, heads * beats))
        error_from = int(source.integers(0, 2 * heads * beats))
        for beat in range((last // beats + 1) * beats):
            found.append(
                {
                    "word": beat % beats, "absent": int(beat > last), "kind": int(min(beat // beats, 2)),
                    "tag": token * 37 % 256, "error": int(beat >= error_from), "last": int(beat == last),
                }
            )  # fmt: skip
    return found


@pytest.mark.parametrize("beats", [1, 2, 5, 8])
@pytest.mark.parametrize("pace", [1.0, 0.6])
def test_beats_go_with_what_they_came_with(beats, pace, make_design) -> None:
    design = make_design(head_dim=4 * beats, rotary_dim=4, lanes=2, pairings=("half", "half"))
    most = 24
    dut: Any = HeadSides(design, beats=most)
    sent = accompanied(beats, seed=beats)
    source = np.random.default_rng(7)
    seen = []

    async def testbench(ctx: Any) -> None:
        came: list[int] = []
        gone = 0
        pipeline: list[int | None] = [None] * dut.latency
        for clock in range(4 * len(sent) + 50):
            number = len(came)
            comes = number < len(sent) and number - gone < most and source.random() < pace
            beat = sent[min(number, len(sent) - 1)]
            ctx.set(dut.came, int(comes))
            ctx.set(dut.word, beat["word"])
            ctx.set(dut.absent, beat["absent"])
            # What comes with a beat that stands in for another is not to be looked at.
            names = ("kind", "tag", "error", "last")
            side = dict.fromkeys(names, 1) if beat["absent"] else {name: beat[name] for name in names}
            ctx.set(dut.arrival, side)
            goes = gone < number and came[gone] <= clock - 3 and source.random() < pace
            ctx.set(dut.goes, int(goes))
            if pipeline[-1] is not None:
                side = ctx.get(dut.side)
                expected = sent[pipeline[-1]]
                assert (ctx.get(dut.stays), ctx.get(dut.drops)) == (1 - expected["absent"], expected["absent"])
                if not expected["absent"]:
                    assert {name: side[name] for name in names} == {name: expected[name] for name in names}
                seen.append(pipeline[-1])
            else:
                assert not ctx.get(dut.stays) and not ctx.get(dut.drops)
            pipeline = [gone if goes else None, *pipeline[:-1]]
            gone += goes
            if comes:
                came.append(clock)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen == list(range(len(sent)))
