"""The rate of the shortest tokens, one head each: the formula of docs/ports.md holds for them too."""

import numpy as np
import pytest
from ropewalk.gateware.top import RotaryPorts
from ropewalk.tables.slot_words import slot_load_words
from ropewalk_sim.beats import Script, StreamInput, descriptor_words
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.registers import SCANNING, load_words, wait, write

# head_dim, pairs of the slot, order
CASES = [
    (16, 1, "interleaved"),
    (16, 8, "interleaved"),
    (32, 1, "interleaved"),
    (64, 2, "interleaved"),
    (16, 8, "half"),
    (32, 4, "half"),
]


def clocks_of_a_token(design, accesses, slot: int) -> float:
    """Between two runs of which one has 150 tokens more, so that filling and ending do not count."""
    ends = []
    for tokens in (50, 200):
        beats = tokens * design.beats_per_head
        stream = StreamInput(
            descriptors=descriptor_words(slot, np.arange(tokens)),
            data=np.zeros((beats, design.elements), np.int64),
            tid=np.zeros(beats, np.uint8),
            last=np.arange(beats) % design.beats_per_head == design.beats_per_head - 1,
        )
        settled = wait("load_state", SCANNING, 0)
        script = Script(registers=(*accesses, settled, write("query_heads", 1), write("key_heads", 0)))
        output = simulate(RotaryPorts(design), design, stream, script=script)
        assert output.beats == beats
        ends.append(output.last_output_clock - output.first_output_clock)
    return (ends[1] - ends[0]) / 150


@pytest.mark.parametrize(("head_dim", "pairs", "order"), CASES)
@pytest.mark.parametrize("loaded", [False, True], ids=["own slot", "loaded slot"])
def test_one_head_a_token_has_the_stated_rate(head_dim, pairs, order, loaded, make_design) -> None:
    own = {"head_dim": head_dim, "lanes": 4 if order == "interleaved" else 2, "pairings": (order, order), "slots": 2}
    short = make_design(rotary_dim=2 * pairs, **own)
    design, accesses, slot = short, (), 0
    if loaded:
        design, slot = make_design(**own), 1
        accesses = load_words(1, slot_load_words(short, 0))
    assert clocks_of_a_token(design, accesses, slot) == max(design.beats_per_head, pairs)
