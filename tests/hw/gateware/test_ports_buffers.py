"""Sentences of the port contract on the reorder buffers: which there are, how deep, and what a short packet costs."""

import numpy as np
import pytest
from amaranth.hdl import Fragment
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import Script, StreamInput, descriptor_words
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.registers import wait

ODD = {"head_dim": 24, "rotary_dim": 12, "rotary_start": 6}
WHOLE = {"head_dim": 24}


@pytest.mark.parametrize(
    ("shape", "orders", "buffers"),
    [
        (WHOLE, ("interleaved", "interleaved"), (False, False)),
        (WHOLE, ("half", "interleaved"), (True, False)),
        (WHOLE, ("interleaved", "half"), (False, True)),
        (WHOLE, ("half", "half"), (True, True)),
        (WHOLE, ("paired", "interleaved"), (False, False)),
        (WHOLE, ("paired", "half"), (False, True)),
        (WHOLE, ("both", "interleaved"), (True, False)),
        (WHOLE, ("interleaved", "both"), (False, True)),
        (ODD, ("interleaved", "interleaved"), (False, False)),
        (ODD, ("half", "interleaved"), (True, True)),
        (ODD, ("interleaved", "half"), (True, True)),
        (ODD, ("paired", "interleaved"), (False, True)),
        (ODD, ("paired", "paired"), (False, False)),
    ],
    ids=str,
)
def test_there_is_a_buffer_where_the_order_asks_for_one(shape, orders, buffers, make_design) -> None:
    design = make_design(input_pairing=orders[0], output_pairing=orders[1], **shape)
    assert (design.input_buffer, design.output_buffer) == buffers


@pytest.mark.parametrize(("head_dim", "lanes"), [(16, 2), (64, 4), (128, 1), (96, 4)])
def test_buffers_are_as_deep_as_stated(head_dim, lanes, make_design) -> None:
    """1.5 heads and 16 beats, 2 heads and about 25 beats, each rounded up to a power of two."""
    design = make_design(head_dim=head_dim, lanes=lanes, pairings=("half", "half"))
    beats = head_dim // (2 * lanes)
    ports = RotaryPorts(design)
    Fragment.get(ports, None)  # or it would be said that it is never used
    entry, output = ports._engine._entry.depth, ports._engine._output.depth
    assert entry == 1 << (int(1.5 * beats) + 16 - 1).bit_length()
    assert output in {1 << (2 * beats + some - 1).bit_length() for some in range(23, 28)}


@pytest.mark.parametrize("came", [1, 5, 11])
def test_a_short_packet_takes_up_to_a_heads_beats_of_clocks_longer(came, make_design) -> None:
    """Twenty tokens, each cut off after ``came`` beats of its first head."""
    design = make_design(head_dim=48, rotary_dim=16, lanes=2, heads=(2, 1), pairings=("half", "half"))
    beats, tokens = design.beats_per_head, 20
    data = np.random.default_rng(1).integers(-9, 9, (tokens * came, design.elements))
    stream = StreamInput(
        descriptors=descriptor_words(0, np.arange(tokens)),
        data=data,
        tid=np.zeros(tokens * came, np.uint8),
        last=np.tile(np.arange(came) == came - 1, tokens),
    )
    output = simulate(RotaryPorts(design), design, stream, script=Script(registers=(wait("load_state", 4, 0),)))
    assert output.beats == tokens * came
    assert output.first_output_clock is not None and output.last_output_clock is not None
    clocks = output.last_output_clock - output.first_output_clock + 1
    # A head takes as many clocks as a whole one would at most, and no more: what is missing is stood in for.
    assert clocks <= tokens * max(beats, design.shapes[0].pairs) + beats
    assert clocks >= tokens * came
