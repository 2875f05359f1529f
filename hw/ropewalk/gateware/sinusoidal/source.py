"""The source of rows: generators, and the queues in which a row waits in the order in which the beats need it.

A generator makes the sine and the cosine of a pair in one clock. Interleaved, a beat takes both; in halves, it takes
the sines of twice as many pairs, and the cosines half a row later. So with halves sines and cosines have a queue each:
the generators run half a row ahead, at most one row of cosines waits, and a beat of two elements per generator is made
in every clock all the same. Queues hold elements already rounded to the LSB of the data.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ...design import AMPLITUDE
from ...designs.sinusoidal import SinusoidalDesign
from ..component import Component
from ..pipeline import delayed
from .assembler import Assembler, Plan, follow
from .contents import PLACES, STEP_BITS, group_bits
from .generator import PairGenerator
from .layouts import request_layout

SCAN_SHARE = 64
"""A scan of the step memory waits at most so many clocks for its turn, and takes at most that share of them."""

_ROUND_TRIP = 5
"""Clocks from taking a word until its place is used again, beside the pipeline: counted, seen, held, queued."""

_LATE = 3
"""Words that may be begun while it is found that there is no room for them."""

_ASKED = 4
"""Rows that wait to be begun: so many that none is late, however short they are."""


class RowSource(Component):
    """Rows as words of ``design.lanes`` encodings, in one queue (interleaved) or two (sines and cosines).

    Throughput: a group of ``design.generators`` pairs per clock, without a bubble between rows.

    Members
    -------
    request : In stream
        Rows to make.
    words, ready, take : Out, Out, In
        Of each queue the word at its head, whether there is one, and whether it is taken in this clock.
    amplitudes : In
        The amplitude of each place.
    pending : Out
        Of each place, whether a row that was asked for is yet to be issued, or is being issued.
    read, read_place, read_pair, granted, step : In, In, In, Out, Out
        Reads a step for a scan, :attr:`PairGenerator.step_latency` clocks after ``granted``.
    load, load_place, load_pair, load_step : In
        Writes a step.
    """

    def __init__(self, design: SinusoidalDesign):
        self._design = design
        self._generators = [PairGenerator(design, number) for number in range(design.generators)]
        encoding, group = design.encoding.shape, design.generators
        n, size = design.pairs, design.lanes
        if design.half:
            start = n % size
            self._plans = [
                Plan(size=size, group=group, start=0, count=n, wanted=-(-n // size)),
                Plan(size=size, group=group, start=start, count=n, wanted=-(-(start + design.cosines) // size)),
            ]
            item = encoding
        else:
            self._plans = [Plan(size=size // 2, group=group, start=0, count=n, wanted=-(-n // (size // 2)))]
            item = data.ArrayLayout(encoding, 2)
        self._assemblers = [Assembler(item, plan) for plan in self._plans]
        super().__init__(
            {
                "request": In(stream.Signature(request_layout())),
                "words": Out(data.ArrayLayout(data.ArrayLayout(encoding, design.lanes), len(self._plans))),
                "ready": Out(len(self._plans)),
                "take": In(len(self._plans)),
                "amplitudes": In(data.ArrayLayout(AMPLITUDE.shape, PLACES)),
                "pending": Out(PLACES),
                "read": In(1),
                "read_place": In(1),
                "read_pair": In(16),
                "granted": Out(1),
                "step": Out(STEP_BITS),
                "load": In(1),
                "load_place": In(1),
                "load_pair": In(16),
                "load_step": In(STEP_BITS),
            }
        )

    @property
    def pipeline(self) -> int:
        """Clocks from a group's issue to its word at an assembler's output."""
        return self._generators[0].latency + 1

    @property
    def latency(self) -> int:
        """Clocks from a request to the first word at the head of its queue, where one group fills it.

        The request waits for a clock, and is held for one before its first group is issued; the queue takes two.
        """
        return 2 + self.pipeline + 2

    @property
    def first_groups(self) -> int:
        """Groups that the row's first beat needs."""
        design = self._design
        pairs = design.lanes if design.half else design.lanes // 2
        return -(-min(pairs, design.pairs) // design.generators)

    @property
    def depths(self) -> tuple[int, ...]:
        """Words that each queue holds.

        Half a row of sines and a whole one of cosines wait at the full rate. (A whole row of cosines is also what the
        end of its sines waits for.) Beside that there must be places for what is on the way, or the rate would suffer.
        """
        waiting = [-(-self._plans[0].wanted // 2), self._plans[-1].wanted] if self._design.half else [0]
        clocks = self.pipeline + _ROUND_TRIP
        return tuple(words + plan.most(clocks) + _LATE for words, plan in zip(waiting, self._plans, strict=True))

    @property
    def memory_bits(self) -> int:
        """Bits of the queues."""
        return sum(self.depths) * self._design.lanes * self._design.encoding.width

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        generators = self._generators

        # Requests wait in a queue, so that who asks sees nothing of what holds them up.
        asked = m.submodules.asked = SyncFIFO(width=request_layout().size, depth=_ASKED)
        room_to_ask = Signal()
        next_row = data.View(request_layout(), asked.r_data)
        m.d.comb += [
            asked.w_data.eq(self.request.payload),
            asked.w_en.eq(self.request.valid & self.request.ready),
            self.request.ready.eq(room_to_ask),
        ]
        # One may come while the level is looked at, and one more by what was seen.
        m.d.sync += room_to_ask.eq(asked.w_level < _ASKED - 1)

        # Issue: one group of the held request per clock, but for those in which a scan reads, or no room is left.
        room = Signal()
        busy = Signal()
        group = Signal(group_bits(design))
        held = Signal(request_layout(), reset_less=True)
        at_last = Signal()
        issue, begin = Signal(), Signal()
        turn, mine = Signal(range(SCAN_SHARE)), Signal()
        m.d.sync += [turn.eq(turn + 1), mine.eq(self.read & (turn == 0))]
        m.d.comb += [
            self.granted.eq(self.read & (~busy | mine)),
            issue.eq(busy & room & ~mine),
            begin.eq(~busy | (at_last & issue)),
            asked.r_en.eq(begin),
        ]
        with m.If(issue):
            m.d.sync += [group.eq(group + 1), at_last.eq(group == design.groups - 2)]
        with m.If(begin):
            m.d.sync += [busy.eq(asked.r_rdy), group.eq(0), at_last.eq(design.groups == 1), held.eq(next_row)]
        for place in range(PLACES):
            rows = Signal(range(_ASKED + 2), name=f"rows_{place}")
            more = self.request.valid & self.request.ready & (self.request.payload.place == place)
            fewer = at_last & issue & (held.place == place)
            with m.If(more & ~fewer):
                m.d.sync += rows.eq(rows + 1)
            with m.If(~more & fewer):
                m.d.sync += rows.eq(rows - 1)
            m.d.comb += self.pending[place].eq(rows != 0)

        # Pair i belongs to generator i modulo their number.
        share = (design.generators - 1).bit_length()
        chosen = delayed(m, self.read_pair[:share], PairGenerator.step_latency, name="chosen") if share else 0
        m.d.comb += self.step.eq(Array(generator.step for generator in generators)[chosen])
        for number, generator in enumerate(generators):
            m.submodules[f"generator_{number}"] = generator
            mine = self.load_pair[:share] == number if share else 1
            m.d.comb += [
                generator.address.eq(
                    Mux(
                        self.granted,
                        Cat((self.read_pair >> share)[: len(group)], self.read_place),
                        Cat(group, held.place),
                    )
                ),
                generator.row.eq(held.row),
                generator.place.eq(held.place),
                generator.amplitudes.eq(self.amplitudes),
                generator.load.eq(self.load & mine),
                generator.load_address.eq(Cat((self.load_pair >> share)[: len(group)], self.load_place)),
                generator.load_step.eq(self.load_step),
            ]

        # Which clocks carry a group, and which of those is the last of its row.
        valid, last = issue, at_last
        for clock in range(1, generators[0].latency + 1):
            valid_after, last_after = Signal(name=f"valid_{clock}"), Signal(name=f"last_{clock}", reset_less=True)
            m.d.sync += [valid_after.eq(valid), last_after.eq(last)]
            valid, last = valid_after, last_after

        # A group is issued only when there is a place for the word that it ends.
        limits = []
        for number, (plan, assembler, depth) in enumerate(zip(self._plans, self._assemblers, self.depths, strict=True)):
            m.submodules[f"assembler_{number}"] = assembler
            m.d.comb += [assembler.valid.eq(valid), assembler.last.eq(last)]
            for place, generator in enumerate(generators):
                both = generator.sine, generator.cosine
                m.d.comb += assembler.items[place].eq(both[number] if design.half else Cat(*both))
            queue = SyncFIFOBuffered(width=design.lanes * design.encoding.width, depth=depth)
            m.submodules[f"queue_{number}"] = queue
            _, promised = follow(m, plan, valid=issue, last=at_last, name=f"issue_{number}")
            used = Signal(range(depth + 1), name=f"used_{number}")
            taken = self.take[number]
            m.d.comb += [
                queue.w_data.eq(assembler.word),
                queue.w_en.eq(assembler.done),
                self.words[number].eq(queue.r_data),
                self.ready[number].eq(queue.r_rdy),
                queue.r_en.eq(taken),
            ]
            with m.If(promised & ~taken):
                m.d.sync += used.eq(used + 1)
            with m.If(~promised & taken):
                m.d.sync += used.eq(used - 1)
            limits.append(used <= depth - _LATE)
        m.d.sync += room.eq(Cat(limits).all())
        return m
