"""The row descriptor port: takes descriptors, checks them, and has the next row's numbers ready when it begins.

    descriptor -> taken -> checked -> measured -> row
                              |           |
                              +-----------+--> framer

The stages are registers that move on when there is room, and need no memory. They hold what the bias is made from, and
what the framer must know to tell where a row ends. The framer takes that one clock before the row's registers are
loaded, so no enable of a wide stage depends on it. A stage without a row takes whatever is there.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ...designs.alibi import DISTANCE_BITS, AlibiDesign
from ..component import Component
from .layouts import ABSOLUTE, MPT, SYMMETRIC, descriptor_layout, frame_layout, row_layout, slope_address_bits


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
    awake : In
        Without it ``descriptor`` is not taken.
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
                "awake": In(1),
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

        taken = Signal(descriptor_layout(), reset_less=True)
        # Which stages hold a row. In the last one it either stays, or leaves for the row at work in this clock.
        is_taken, is_checked, leaves = (Signal(name=name) for name in ("is_taken", "is_checked", "leaves"))
        none_stays = Signal(init=1)
        # A row without keys, or with more than there are positions, takes no data: it ends in stage 1.
        dropped = Signal(reset_less=True)
        # Unless stages 1 and 2 hold rows that stay. In the clock after a reset it may say so, and no row is there.
        moves = Signal(init=1, reset_less=True)
        free = Signal()
        m.d.comb += [
            free.eq(~is_taken | moves),
            self.descriptor.ready.eq(free & self.awake),
            self.taken.eq(self.descriptor.valid & self.descriptor.ready),
            self.count_error.eq(is_checked & dropped),
        ]
        will_be_checked = Mux(moves, is_taken, is_checked & ~dropped)
        m.d.sync += [
            is_checked.eq(will_be_checked),
            none_stays.eq(self.frame.ready | ~self.frame.valid),
            leaves.eq(self.frame.valid & self.frame.ready),
            moves.eq(~(will_be_checked & self.frame.valid)),
        ]
        # A synchronous set of the register, since it comes late.
        with m.If(self.frame.ready):
            m.d.sync += moves.eq(1)
        with m.If(free):
            m.d.sync += is_taken.eq(self.descriptor.valid & self.awake)

        # Stage 0: as it was taken.
        mode = Signal(2, reset_less=True)
        heads = Signal(self.heads.shape(), reset_less=True)
        bank = Signal(reset_less=True)
        count = self.descriptor.payload.count
        middle = DISTANCE_BITS // 2
        # Of the count: whether it is anything, in two halves, and whether it has bits above those of the largest.
        some_low, some_high, too_many = (
            Signal(name=name, reset_less=True) for name in ("some_low", "some_high", "too_many")
        )
        with m.If(free):
            m.d.sync += [
                some_low.eq(count[:middle].any()),
                some_high.eq(count[middle:DISTANCE_BITS].any()),
                too_many.eq(count[DISTANCE_BITS + 1 :].any()),
                taken.eq(self.descriptor.payload),
                mode.eq(self.mode),
                heads.eq(self.heads),
                bank.eq(self.bank),
            ]
        # Stage 1: the checks, and the number of the row's last key.
        checked = Signal(row_layout(design), reset_less=True)
        checked_frame = Signal(frame_layout(design), reset_less=True)
        few = Signal(reset_less=True)
        left = Signal(DISTANCE_BITS + 1)
        is_mpt, is_absolute = Signal(reset_less=True), Signal(reset_less=True)
        last_key = Signal(DISTANCE_BITS, reset_less=True)
        bad_query, bad_first, bad_length, too_long, no_slope = (
            Signal(name=name, reset_less=True)
            for name in ("bad_query", "bad_first", "bad_length", "too_long", "no_slope")
        )
        before_end = Signal(DISTANCE_BITS + 1)
        top_of_first = taken.first[DISTANCE_BITS:]
        m.d.comb += [
            left.eq(taken.count[: DISTANCE_BITS + 1] - (2 * design.lanes + 1)),
            before_end.eq(taken.length[: DISTANCE_BITS + 1] - 1),
        ]
        with m.If(moves):
            m.d.sync += [
                dropped.eq(too_many | (taken.count[DISTANCE_BITS] == (some_low | some_high))),
                checked.address.eq(Cat(taken.head[: slope_address_bits(design) - 1], bank)),
                checked.query.eq(taken.query),
                checked.first.eq(taken.first),
                checked.causal.eq(taken.causal),
                checked.symmetric.eq(mode == SYMMETRIC),
                # Without the last score and two beats: then a row of one or two beats is below 0.
                Cat(checked_frame.tail, checked_frame.third, few).eq(left),
                checked.tag.eq(taken.tag),
                is_mpt.eq(mode == MPT),
                is_absolute.eq(mode == ABSOLUTE),
                last_key.eq(before_end),
                bad_query.eq(taken.query[DISTANCE_BITS:].any()),
                bad_first.eq(top_of_first.any() & ~top_of_first.all()),
                # A length of 0 borrows into the top bit, and the longest one less 1 does not reach it.
                bad_length.eq(before_end[-1]),
                too_long.eq(taken.length[DISTANCE_BITS + 1 :].any()),
                no_slope.eq(taken.head >= heads),
            ]

        # Stage 2: what keys are measured from.
        measured = Signal(row_layout(design), reset_less=True)
        measured_frame = Signal(frame_layout(design), reset_less=True)
        offered = Signal(frame_layout(design))
        misplaced = Signal()
        enters = Signal()
        m.d.comb += [
            misplaced.eq(bad_query | bad_first | (is_mpt & (bad_length | too_long))),
            enters.eq(is_checked & ~dropped & none_stays),
            self.position_error.eq(enters & misplaced),
            self.head_error.eq(enters & no_slope),
        ]
        with m.If(none_stays):
            m.d.sync += [
                measured.eq(checked),
                measured_frame.eq(offered),
                measured.origin.eq(Mux(is_mpt, last_key, checked.query) & (~is_absolute).replicate(DISTANCE_BITS)),
                measured.error.eq(misplaced | no_slope),
            ]

        row = Signal(row_layout(design), reset_less=True)
        # On offer is the frame whose row will be in the last stage one clock later.
        m.d.comb += [
            offered.eq(checked_frame),
            offered.single.eq(few & ~checked_frame.third[0]),
            offered.double.eq(few & checked_frame.third[0]),
            self.frame.payload.eq(Mux(none_stays, offered, measured_frame)),
            self.frame.payload.tag.eq(Mux(none_stays, checked.tag, measured.tag)),
            self.frame.valid.eq(enters | ~none_stays),
        ]

        # The row at work.
        with m.If(leaves):
            m.d.sync += row.eq(measured)
        m.d.comb += self.row.eq(row)
        return m
