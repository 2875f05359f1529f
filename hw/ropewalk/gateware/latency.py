"""When the first rotated beat of an idle engine comes out: its way through the engine, clock by clock.

Clock 0 is the one in which the descriptor is taken; data are waiting, and the output is ready. A beat enters the core
when the beat before it has, when its elements have come, and when its row entries have been made.
"""

from ..design import Design
from ..order import working_chunks
from .descriptor import DescriptorPort
from .entrance import Entrance
from .framer import Framer
from .input_buffer import ReorderedInput
from .input_order import DirectInput
from .output_buffer import ReorderedOutput
from .planner import RowPlanner
from .queue import Queue


def first_beat_clock(design: Design, slot: int, source_latency: int, core_latency: int) -> int:
    """The clock in which the first beat with rotated elements is offered, of a token of ``slot``."""
    order, lanes, beats = design.order(slot), design.lanes, design.beats_per_head
    first_data = DescriptorPort.latency + RowPlanner.tag_latency + Framer.latency
    # Written in the clock in which the memory takes it, and there in the next.
    first_entry = DescriptorPort.latency + RowPlanner.latency + source_latency + 1 + Entrance.latency
    arrives = [first_data + beat for beat in range(beats)]
    if design.input_buffer:
        chunks = working_chunks(order, lanes, beats, split=order.split_in)
        arrives = [
            max(arrives[beat] + ReorderedInput.beat_latency, arrives[high // 2] + ReorderedInput.write_latency)
            for beat, (_, high) in enumerate(chunks)
        ]
    else:
        arrives = [clock + DirectInput.beat_latency for clock in arrives]
    enters: list[int] = []
    for beat, arrival in enumerate(arrives):
        # The entries of a beat's lanes are made one by one, those of the lanes before it too.
        made = min((beat + 1) * lanes - order.first, order.pairs)
        inside = (beat + 1) * lanes > order.first and beat * lanes < order.first + order.pairs
        row = first_entry + (made - 1) * design.clocks_per_pair if inside else 0
        enters.append(max(arrival, row, enters[-1] + 1 if enters else 0))
    first_rotated = order.first // lanes
    if not design.output_buffer:
        return enters[first_rotated] + core_latency + Queue.latency
    chunks = working_chunks(order, lanes, beats, split=order.split_out)
    beat_of = {chunk: beat for beat, pair in enumerate(chunks) for chunk in pair}
    leaves = 0
    for beat in range(first_rotated + 1):
        there = max(enters[beat_of[2 * beat]], enters[beat_of[2 * beat + 1]])
        leaves = max(leaves + 1, there + core_latency + ReorderedOutput.latency)
    return leaves + Queue.latency
