"""The token descriptor port: from a position to the row it reads, and to where that row is.

All 32 bits of a position are added to the signed offset, and the whole sum is compared with the number of rows: no
position reads a wrapped or neighbouring row. Offset, masked row, base and stride are those of the clock in which the
descriptor is taken.
"""

from amaranth.hdl import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ...designs.learned import PREFETCH_BEATS, LearnedDesign
from ..capacity import CAPACITY
from ..component import Component
from ..multiply import WideMultiplier
from ..pipeline import delayed
from ..units.layouts import descriptor_layout
from ..units.queue import queue_before
from .layouts import place_bits, token_layout

STRIDE_BITS = 24
"""Bits of a row stride in beats of the bus."""


class RowPlace(Component):
    """The first memory word of a row, ``row * words per row``: shifted rows summed in a registered tree, no multiplier.

    Latency :attr:`latency` clocks, a row per clock.
    """

    def __init__(self, design: LearnedDesign):
        factor = design.beats_per_token
        self._shifts = [bit for bit in range(factor.bit_length()) if factor >> bit & 1]
        self._bits = place_bits(design)
        rows = max(1, (design.geometry.rows - 1).bit_length())
        super().__init__({"row": In(rows), "place": Out(self._bits)})

    @property
    def latency(self) -> int:
        """Levels of the tree."""
        return (len(self._shifts) - 1).bit_length()

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        terms: list[Value] = [self.row << shift for shift in self._shifts]
        for level in range(self.latency):
            sums = []
            for index in range(0, len(terms), 2):
                partial = Signal(self._bits, name=f"sum_{level}_{index}", reset_less=True)
                m.d.sync += partial.eq(sum(terms[index + 1 : index + 2], terms[index]))
                sums.append(partial)
            terms = sums
        m.d.comb += self.place.eq(terms[0])
        return m


class DescriptorPort(Component):
    """Checks descriptors and queues them as tokens.

    Latency :attr:`latency` clocks to a token at the head of the empty queue; one descriptor per clock until the queue
    is full.

    Members
    -------
    descriptor : In stream
        Descriptors as on the port.
    token : Out stream
        Checked tokens, for the framer.
    request : Out stream
        The places of the rows to be read, for the read master; only where the table is outside.
    offset, masked_row : In
        What is added to positions; the row of masked tokens.
    base, stride : In
        Where row 0 is, and how far it is from row to row, in beats of the bus; only where the table is outside.
    position_error : Out
        High for a clock for each token without a row.
    """

    def __init__(self, design: LearnedDesign):
        self._design = design
        members = {
            "descriptor": In(stream.Signature(descriptor_layout())),
            "token": Out(stream.Signature(token_layout(design))),
            "offset": In(signed(32)),
            "masked_row": In(32),
            "position_error": Out(1),
        }
        rows = max(1, (design.geometry.rows - 1).bit_length())
        if design.storage == "external":
            place = place_bits(design)
            members |= {
                "request": Out(stream.Signature(place)),
                "base": In(place),
                "stride": In(STRIDE_BITS),
            }
            self._place = WideMultiplier(unsigned(rows), unsigned(STRIDE_BITS), result_bits=place)
            self._place_latency = self._place.latency + 1
        else:
            self._place = RowPlace(design)
            self._place_latency = max(1, self._place.latency)
        self._row_bits = rows
        super().__init__(members)

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to its token at the head of the queue."""
        return 1 + self._place_latency + 1

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.place = place = self._place

        # Clock 0: a descriptor is taken, and its row worked out.
        arriving = self.descriptor.payload
        taken = Signal()
        row = Signal(signed(34), reset_less=True)
        m.d.sync += [
            taken.eq(self.descriptor.valid & self.descriptor.ready),
            row.eq(Mux(arriving.flags.masked, self.masked_row, arriving.position + self.offset)),
        ]
        passed = delayed(m, arriving.flags.pass_, 2, name="passed")
        tag = delayed(m, arriving.tag, 1 + self._place_latency, name="tag")

        # Clock 1: the row is compared, and its place worked out meanwhile.
        outside = Signal(reset_less=True)
        checked = Signal()
        m.d.sync += [outside.eq((row < 0) | (row >= design.geometry.rows)), checked.eq(taken)]
        wait = self._place_latency - 1
        token = Signal(token_layout(design))
        valid = checked
        for clock in range(wait):
            later = Signal(name=f"valid_{clock + 1}")
            m.d.sync += later.eq(valid)
            valid = later
        missing = Signal()
        m.d.comb += missing.eq(outside & ~passed)
        m.d.comb += [
            token.add.eq(delayed(m, ~outside & ~passed, wait, name="add")),
            token.error.eq(delayed(m, missing, wait, name="error")),
            token.tag.eq(tag),
            self.position_error.eq(checked & missing),
        ]
        if isinstance(place, RowPlace):
            spare = self._place_latency - place.latency
            m.d.comb += [
                place.row.eq(row),
                token.place.eq(delayed(m, place.place, spare, name="spare")),
            ]
        else:
            base = delayed(m, self.base, self._place_latency, name="base")
            stride = delayed(m, self.stride, 1, name="stride")
            first = Signal(place_bits(design), reset_less=True)
            m.d.comb += [place.a.eq(row[: self._row_bits]), place.b.eq(stride), token.place.eq(first)]
            m.d.sync += first.eq(place.p + base)

        # Descriptors can be on their way when the queue is seen to fill. Rows outside are read ahead: as many tokens
        # wait as have rows in the prefetch buffer.
        ahead = PREFETCH_BEATS // design.beats_per_token if design.storage == "external" else 0
        depth = 1 << (max(CAPACITY, ahead) + self.latency).bit_length()
        queues = [queue_before(m, self.token, name="queue", depth=depth, payload=token, valid=valid)]
        if design.storage == "external":
            wanted = valid & token.add
            queues.append(
                queue_before(m, self.request, name="requests", depth=depth, payload=token.place, valid=wanted)
            )
        room, full = Signal(), Signal()
        m.d.sync += room.eq(~full)
        m.d.comb += [
            self.descriptor.ready.eq(room),
            full.eq(sum(queue.w_level > depth - self.latency - 1 for queue in queues) != 0),
        ]
        return m
