"""The queue at the exit: results, and what accompanies them, which is known earlier and waits here for them."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..component import Component
from ..pipeline import delayed
from .layouts import result_layout, side_layout


class OutputQueue(Component):
    """Beats that wait to leave.

    A beat is on offer one clock after its scores came. The queue never fills, because the entrance gives out no more
    credits than it has places; it is distributed RAM with one read pointer for both parts.

    Parameters
    ----------
    depth
        Places, a power of two.
    lag
        Clocks from what accompanies a beat to its scores.

    Members
    -------
    side, side_valid : In
        What accompanies a beat.
    scores, scores_valid : In
        Its scores, ``lag`` clocks later.
    result : Out stream
        Beats in order.
    """

    def __init__(self, design: AlibiDesign, *, depth: int, lag: int):
        assert depth & (depth - 1) == 0
        self._depth = depth
        self._lag = lag
        layout = result_layout(design)
        super().__init__(
            {
                "side": In(side_layout(design)),
                "side_valid": In(1),
                "scores": In(layout["scores"].shape),
                "scores_valid": In(1),
                "result": Out(stream.Signature(layout)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        bits = (self._depth - 1).bit_length()
        # A bit more than an address has: equal pointers are an empty queue, never a full one.
        taken, after, second = (Signal(bits + 1, name=n, init=k) for k, n in enumerate(("taken", "after", "second")))
        valid, leave, single = Signal(), Signal(), Signal()
        # The place of a beat goes along with it.
        place = Signal(bits + 1)
        with m.If(self.side_valid):
            m.d.sync += place.eq(_next(place))
        given = delayed(m, place, self._lag, name="given")
        self._part(m, "side", place, taken)
        self._part(m, "scores", given, taken)
        m.d.comb += [self.result.valid.eq(valid), leave.eq(valid & self.result.ready)]
        # ``single``: there is one beat, in all. When one leaves there is one if there were two.
        m.d.sync += valid.eq(self.scores_valid | (valid & ~(self.result.ready & single)))
        with m.If(self.scores_valid ^ leave):
            m.d.sync += single.eq(Mux(leave, given == second, ~valid))
        with m.If(leave):
            m.d.sync += [taken.eq(after), after.eq(second), second.eq(_next(second))]
        return m

    def _part(self, m: Module, name: str, given: Signal, taken: Signal) -> None:
        """The memory of one part of a beat."""
        value, valid = getattr(self, name), getattr(self, f"{name}_valid")
        width = value.shape().size
        memory = Memory(shape=width, depth=self._depth, init=[])
        m.submodules[f"{name}_storage"] = memory
        write, read = memory.write_port(), memory.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(given[:-1]),
            write.data.eq(value),
            write.en.eq(valid),
            read.addr.eq(taken[:-1]),
            getattr(self.result.payload, name).as_value().eq(read.data),
        ]


def _next(pointer: Signal) -> Value:
    """One more, modulo the width: for so few bits look-up tables are smaller than a carry chain with its ends."""
    return Cat(pointer[place] ^ pointer[:place].all() for place in range(len(pointer)))
