"""Counters in one small RAM with one adder.

What happens is counted in a few bits for each counter. At the beginning of a round all of these are taken over at one
moment, and in the round they are added to the totals, one after the other. A snapshot is what a round makes of the
totals, so all of it is of that moment.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .component import Component

TOTAL_BITS = 32


class Counters(Component):
    """Counters that stop at their largest value, and what they were at the last snapshot.

    A round is two clocks per counter, the number of counters rounded up to a power of two. A snapshot or a clear acts
    at the beginning of the next round, for all counters at once; ``waiting`` is low again when it can be read.

    Parameters
    ----------
    steps
        The bits of what each counter goes up by in a clock, by name.

    Members
    -------
    steps : In
        What each counter goes up by in this clock.
    snapshot, clear : In
        Copy all totals to where they can be read; set them all to 0. Both at once do both, in this order.
    waiting : Out
        A snapshot or a clear is under way, from the clock after it was asked for; so is that of reset.
    index : In
        The counter to be read, in the order of ``steps``.
    shown : Out
        Its total as of the last snapshot, two clocks after ``index``.
    """

    def __init__(self, steps: Mapping[str, int]):
        self._turn_bits = max(1, (len(steps) - 1).bit_length())
        super().__init__(
            {
                "steps": In(data.StructLayout(steps)),
                "snapshot": In(1),
                "clear": In(1),
                "waiting": Out(1),
                "index": In(self._turn_bits),
                "shown": Out(TOTAL_BITS),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # A round: for each counter a clock in which its total is read, and one in which its shown total may be. Reset
        # ends one.
        phase = Signal(self._turn_bits + 1, init=-1)
        second, turn = phase[0], phase[1:]
        at_end = Signal(init=1)
        m.d.sync += [phase.eq(phase + 1), at_end.eq(phase == (1 << len(phase)) - 2)]
        # Copies, so that no register drives too much.
        reading, writing = Signal(), Signal(init=1)
        m.d.sync += [reading.eq(second), writing.eq(reading)]

        step = self._steps(m, at_end, writing)
        result = Signal(TOTAL_BITS + 1, reset_less=True)
        written = Signal(self._turn_bits, reset_less=True)
        zero, enable, resetting = Signal(init=1), Signal(init=1), Signal(init=1)

        # Two clocks after its total was read, a counter's new total is written, and in the clock after that shown.
        new = Signal(TOTAL_BITS)
        m.d.comb += new.eq(Mux(zero, 0, result[:TOTAL_BITS] | result[TOTAL_BITS].replicate(TOTAL_BITS)))
        old, copy = self._memory(m, turn, written, second, new, enable)
        total, shown = Signal(TOTAL_BITS, reset_less=True), Signal(TOTAL_BITS, reset_less=True)
        m.d.comb += self.shown.eq(shown)
        with m.If(reading):
            m.d.sync += total.eq(old)
        with m.If(writing):
            m.d.sync += [result.eq(total + step), written.eq(turn), shown.eq(copy)]
        with m.If(resetting):
            m.d.sync += shown.eq(0)

        # What is asked for waits for the end of the round, and is then true of the totals that are written from the
        # third clock of the next one on. After reset, the first round makes all of them 0.
        asked, due, acting = (Signal(3, name=name, init=7) for name in ("asked", "due", "acting"))
        busy = Signal()
        m.d.sync += [
            asked.eq(asked | Cat(self.snapshot, self.clear)),
            busy.eq(asked.any() | due.any() | acting.any()),
            self.waiting.eq(self.snapshot | self.clear | asked.any() | busy),
        ]
        with m.If(at_end):
            m.d.sync += [due.eq(asked), asked.eq(Cat(self.snapshot, self.clear))]
        with m.If(phase == 0):
            m.d.sync += acting.eq(due)
        snapshot, clear, reset = acting
        m.d.sync += [
            zero.eq((clear & second) | reset),
            enable.eq(snapshot | second),
            resetting.eq(asked[2] | due[2] | reset),
        ]
        return m

    def _steps(self, m: Module, at_end: Signal, writing: Signal) -> Signal:
        """What the counters have gone up by in the round before, one after the other."""
        steps = Signal(self.steps.shape())
        m.d.sync += steps.eq(self.steps)
        before = []
        for name, _ in self.steps.shape():
            most = ((1 << len(steps[name])) - 1) << self._turn_bits + 1
            now = Signal(range(most + 1), name=f"now_{name}", reset_less=True)
            last = Signal(range(most + 1), name=f"last_{name}", reset_less=True)
            m.d.sync += now.eq(plus(now, steps[name]))
            with m.If(at_end):
                m.d.sync += [last.eq(now), now.eq(steps[name])]
            before.append(last)
        # Reset ends a round, so the last turn comes first.
        turns = 1 << self._turn_bits
        chosen = Signal(turns, init=1 << turns - 1)
        with m.If(writing):
            m.d.sync += chosen.eq(chosen.rotate_left(1))
        step = Signal(max(map(len, before)), reset_less=True)
        m.d.sync += step.eq(reduce(or_, (Mux(chosen[place], last, 0) for place, last in enumerate(before))))
        return step

    def _memory(
        self, m: Module, turn: Value, written: Value, second: Value, new: Value, enable: Value
    ) -> tuple[Value, Value]:
        """The total of ``turn``, in the first of two clocks, and in the second the copy at ``index``.

        ``new`` is written to the total of ``written`` in the first clock and to the copy of it in the second.
        """
        depth = 1 << self._turn_bits
        # Two memories, though one would have room for both: its address would be chosen in the clock of the reading.
        m.submodules.totals = totals = Memory(shape=unsigned(TOTAL_BITS), depth=depth, init=[])
        read, write = totals.read_port(domain="comb"), totals.write_port()
        m.d.comb += write.data.eq(new)
        m.submodules.copies = copies = Memory(shape=unsigned(TOTAL_BITS), depth=depth, init=[])
        look, copy = copies.read_port(domain="comb"), copies.write_port()
        m.d.comb += [
            read.addr.eq(turn),
            write.addr.eq(written),
            write.en.eq(enable & ~second),
            look.addr.eq(self.index),
            copy.addr.eq(written),
            copy.data.eq(new),
            copy.en.eq(enable & second),
        ]
        return read.data, look.data


def plus(value: Value, step: Value) -> Value:
    """``value + step`` in the bits of ``value``; for one bit as logic, which takes less than a carry chain."""
    if len(step) > 1:
        return (value + step)[: len(value)]
    total = []
    for bit in value:
        total.append(bit ^ step)
        step = bit & step
    return Cat(total)
