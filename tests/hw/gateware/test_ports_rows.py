"""Sentences of the port contract on rows: when one is made, when it is used again, how far ahead they are made."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_load_words
from ropewalk_sim.beats import INVERSE, PASS, UNIT_AMPLITUDE, Script, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.registers import load_words, wait, write
from ropewalk_sim.scenarios import random_words
from ropewalk_sim.stream_model import run_model

SETTLED = wait("load_state", 6, 0)


def rows_made(design: Any, descriptors: np.ndarray, script: Script | None = None) -> int:
    """How many rows the engine makes for whole tokens with ``descriptors``; what comes out is the model's."""
    ports: Any = RotaryPorts(design)
    request = ports._engine._source.request
    made = []

    async def watch(ctx: Any) -> None:
        async for _, _, asked in ctx.tick().sample(request.valid & request.ready):
            if asked:
                made.append(True)

    stream = whole_tokens(design, descriptors, random_words(design, np.random.default_rng(1), len(descriptors)))
    output = simulate(ports, design, stream, script=script, processes=[watch])
    np.testing.assert_array_equal(output.data, run_model(design, stream).data)
    return len(made)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
def test_no_row_is_made_for_a_position_error_an_empty_slot_or_a_token_to_pass(layout, make_design) -> None:
    design = make_design(lanes=4, positions=100, slots=3, pairings=(layout, layout))
    slot = np.array([0, 0, 2, 255, 1, 0, 1, 1])
    position = np.array([3, 100, 3, 3, 1 << 24, 5, 6, 7])
    flags = np.array([0, 0, 0, 0, 0, PASS, PASS | INVERSE, 0])
    assert rows_made(design, descriptor_words(slot, position, flags=flags)) == 2


def test_a_token_like_the_one_before_uses_its_row_again(make_design) -> None:
    """Slot, position and flags count, the tag does not; only the token just before is looked at."""
    design = make_design(lanes=4)
    slot = np.array([0, 0, 1, 1, 0, 0, 0, 0, 0])
    position = np.array([5, 5, 5, 5, 5, 6, 6, 6, 5])
    flags = np.array([0, 0, 0, 0, 0, 0, INVERSE, UNIT_AMPLITUDE, UNIT_AMPLITUDE])
    tag = np.arange(9)
    #                  new  -  new -  new new new     new             new
    assert rows_made(design, descriptor_words(slot, position, flags=flags, tag=tag)) == 7
    # Nothing but a write in between, which the next test does, parts so many of them.
    assert rows_made(design, descriptor_words(1, np.full(60, 9))) == 1


@pytest.mark.parametrize(
    "between",
    [write("offset[0]", 0), write("query_heads", 2), write("key_heads", 1), "commit"],
    ids=["offset", "query heads", "key heads", "commit"],
)
def test_a_commit_or_a_write_of_head_counts_or_offset_in_between_makes_a_new_row(between, make_design) -> None:
    """The same values are written, so that nothing but the row is made anew."""
    design = make_design(lanes=4, slots=2)
    accesses = load_words(0, slot_load_words(design, 0)) if between == "commit" else (between,)
    first = accesses[0]
    start = replace(first, start=60)
    script = Script(registers=(SETTLED,), meanwhile=(start, *accesses[1:]))
    descriptors = descriptor_words(1, np.full(200, 9))
    assert rows_made(design, descriptors, script) == 2


@pytest.mark.parametrize("head_dim", [16, 64])
def test_rows_are_made_as_far_ahead_of_the_data_as_there_are_banks_but_one(head_dim, make_design) -> None:
    """No data come at all. Of short heads there are more banks, and as many tokens go ahead to the framer."""
    design = make_design(lanes=4, head_dim=head_dim)
    assert design.row_banks == {16: 32, 64: 8}[head_dim]
    ports: Any = RotaryPorts(design)

    async def testbench(ctx: Any) -> None:
        ctx.set(ports.s_axis_token_tvalid, 1)
        for position in range(600):
            ctx.set(ports.s_axis_token_tdata, position << 32)
            await ctx.tick()
        assert ctx.get(ports._engine._memory.writing) == design.row_banks - 1
        made.append(True)

    made: list[bool] = []
    simulator = Simulator(ports)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert made
