"""The row descriptor port: takes descriptors, checks them, and has the next row's numbers ready when it begins.

    descriptor -> taken -> checked -> measured -> row
                              |           |
                              +-----------+--> framer

The stages are registers that move on when there is room, and need no memory. They hold what the bias is made from, and
what the framer must know to tell where a row ends. The framer takes that one clock before the row's registers are
loaded, so all enables of the wide stages come from registers.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ...designs.alibi import DISTANCE_BITS, AlibiDesign
from ..component import Component
from .layouts import ABSOLUTE, MPT, SYMMETRIC, descriptor_layout, frame_layout, row_layout, slope_address_bits

STAGES = 3
"""Descriptors that wait in registers; one more is taken by the framer without any data."""


class RowPort(Component):
    """Turns descriptors into rows.

    Latency :attr:`latency` clocks from a descriptor to a frame that can be taken; one row per clock.

    Members
    -------
    descriptor : In stream
        Descriptors as on the port.
    frame : Out stream
        Rows for the framer, in order.
    row : Out
        The row that the framer took, from two clocks later on until two clocks after it takes the next.
    next_address, loading_row : Out
        The slope's address of the row that will be in ``row`` in the next clock, under ``loading_row``.
    mode, heads, bank : In
        Sampled with each descriptor.
    taken : Out
        A descriptor is taken in this clock.
    position_error, head_error, count_error : Out
        High for a clock for each row that has it.
    """

    latency = 2

    def __init__(self, design: AlibiDesign):
        self._design = design
        super().__init__(
            {
                "descriptor": In(stream.Signature(descriptor_layout())),
                "frame": Out(stream.Signature(frame_layout(design))),
                "row": Out(row_layout(design)),
                "next_address": Out(slope_address_bits(design)),
                "loading_row": Out(1),
                "mode": In(2),
                "heads": In(range(design.capacity + 1)),
                "bank": In(1),
                "taken": Out(1),
                "position_error": Out(1),
                "head_error": Out(1),
                "count_error": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design

        # Which stages hold a row, and which move on in this clock.
        valid = [Signal(name=f"valid_{stage}") for stage in range(STAGES)]
        move = [Signal(name=f"move_{stage}") for stage in range(STAGES)]
        popped = Signal()
        for stage in reversed(range(STAGES)):
            room = popped if stage == STAGES - 1 else ~valid[stage + 1] | move[stage + 1]
            m.d.comb += move[stage].eq(valid[stage] & room)
        accept = Signal()
        m.d.comb += [
            self.descriptor.ready.eq(~valid[0] | move[0]),
            accept.eq(self.descriptor.valid & self.descriptor.ready),
            self.taken.eq(accept),
        ]

        # Stage 0: as it was taken.
        taken = Signal(descriptor_layout(), reset_less=True)
        mode = Signal(2, reset_less=True)
        heads = Signal(self.heads.shape(), reset_less=True)
        bank = Signal(reset_less=True)
        with m.If(accept):
            m.d.sync += [
                taken.eq(self.descriptor.payload),
                mode.eq(self.mode),
                heads.eq(self.heads),
                bank.eq(self.bank),
            ]
        with m.If(accept | move[0]):
            m.d.sync += valid[0].eq(accept)

        # A row without keys, or with more than there are positions, takes no data: it ends here.
        no_count = Signal()
        enter = Signal()
        m.d.comb += [
            no_count.eq(
                (taken.count == 0)
                | (taken.count[DISTANCE_BITS + 1 :] != 0)
                | (taken.count[DISTANCE_BITS] & (taken.count[:DISTANCE_BITS] != 0))
            ),
            enter.eq(move[0] & ~no_count),
            self.count_error.eq(move[0] & no_count),
        ]
        frame, made = self._frame(taken)
        m.d.comb += made

        # Stage 1: the checks, and the number of the row's last key.
        checked = Signal(row_layout(design), reset_less=True)
        checked_frame = Signal(frame_layout(design), reset_less=True)
        is_mpt, is_absolute = Signal(reset_less=True), Signal(reset_less=True)
        last_key = Signal(DISTANCE_BITS, reset_less=True)
        outside, too_long, no_slope = (Signal(name=n, reset_less=True) for n in ("outside", "too_long", "no_slope"))
        before_end = Signal(DISTANCE_BITS + 1)
        top_of_first = taken.first[DISTANCE_BITS:]
        m.d.comb += before_end.eq(taken.length[: DISTANCE_BITS + 1] - 1)
        with m.If(move[0]):
            m.d.sync += [
                checked.address.eq(Cat(taken.head[: slope_address_bits(design) - 1], bank)),
                checked.query.eq(taken.query),
                checked.first.eq(taken.first),
                checked.causal.eq(taken.causal),
                checked.symmetric.eq(mode == SYMMETRIC),
                checked_frame.eq(frame),
                is_mpt.eq(mode == MPT),
                is_absolute.eq(mode == ABSOLUTE),
                last_key.eq(before_end),
                outside.eq((taken.query[DISTANCE_BITS:] != 0) | (top_of_first.any() & ~top_of_first.all())),
                # A length of 0 borrows into the top bit.
                too_long.eq(before_end[-1] | (taken.length[DISTANCE_BITS + 1 :] != 0)),
                no_slope.eq(taken.head >= heads),
            ]
        with m.If(enter | move[1]):
            m.d.sync += valid[1].eq(enter)

        # Stage 2: what keys are measured from.
        measured = Signal(row_layout(design), reset_less=True)
        measured_frame = Signal(frame_layout(design), reset_less=True)
        misplaced = Signal()
        m.d.comb += [
            misplaced.eq(outside | (is_mpt & too_long)),
            self.position_error.eq(move[1] & misplaced),
            self.head_error.eq(move[1] & no_slope),
        ]
        with m.If(move[1]):
            m.d.sync += [
                measured.eq(checked),
                measured_frame.eq(checked_frame),
                measured.origin.eq(Mux(is_mpt, last_key, checked.query) & (~is_absolute).replicate(DISTANCE_BITS)),
                measured.error.eq(misplaced | no_slope),
            ]
        with m.If(move[1] | move[2]):
            m.d.sync += valid[2].eq(move[1])

        # On offer is the frame whose row will be in the last stage one clock later.
        staying, take = Signal(), Signal()
        m.d.comb += [
            staying.eq(valid[2] & ~popped),
            self.frame.payload.eq(Mux(staying, measured_frame, checked_frame)),
            self.frame.valid.eq(valid[1] | staying),
            take.eq(self.frame.valid & self.frame.ready),
        ]
        m.d.sync += popped.eq(take)

        # The row at work.
        row = Signal(row_layout(design), reset_less=True)
        with m.If(popped):
            m.d.sync += row.eq(measured)
        m.d.comb += [self.row.eq(row), self.next_address.eq(measured.address), self.loading_row.eq(popped)]
        return m

    def _frame(self, taken) -> tuple[data.View, list]:
        """What the framer needs to know of a descriptor, and the assignments that make it."""
        design = self._design
        frame = Signal(frame_layout(design))
        left = Signal(signed(DISTANCE_BITS + 2))
        return frame, [
            left.eq(taken.count[: DISTANCE_BITS + 1] - (design.lanes + 1)),
            frame.tail.eq(left),
            frame.before_last.eq(left >> design.lane_bits),
            frame.single.eq(left < 0),
            frame.tag.eq(taken.tag),
        ]
