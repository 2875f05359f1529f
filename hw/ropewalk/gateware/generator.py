"""The row generator: makes the row of a position, one pair per clock, without a table that grows with the context.

    step ROM -> position x step (modulo one turn) -> fold into an octant -> sine ROM -> first-order correction
             -> amplitude -> round, saturate

Latency is the sum of those stages (:attr:`RowGenerator.latency`); throughput is one pair per clock with no bubble
between rows. At 18-bit coefficients and 48-bit phases it takes 5 + 2 + 4 multiplier tiles and one wide ROM. The
arithmetic is that of ``docs/number-contract.md``, sections "Steps and phases" to "Amplitude".
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .contents import step_contents
from .layouts import entry_layout, request_layout
from .multiply import WideMultiplier
from .primitives import BlockRam, BlockRom, delayed
from .sine import SineGenerator
from .slots import entry_address_bits, entry_bits, pair_bits

SCAN_SHARE = 64
"""A scan of the step memory waits at most so many clocks for its turn, and takes at most that share of them."""


def source_members(design: Design) -> dict[str, wiring.Member]:
    """The members that every source of rows has."""
    return {
        "request": In(stream.Signature(request_layout(design))),
        "write": Out(1),
        "entry": Out(entry_layout(design)),
        "place": Out(range(max(2, design.geometry.head_dim // 2))),
        "last": Out(1),
        "idle": Out(1),
        "begun": Out(1),
        "read": In(1),
        "read_address": In(entry_address_bits(design)),
        "granted": Out(1),
        "read_data": Out(entry_bits(design)),
    }


class RowGenerator(Component):
    """A source of rows.

    Members
    -------
    request : In stream
        Rows to make. A row takes as many clocks as it has pairs; the next request is taken in the last of them.
    write, entry, place, last : Out
        The entries of the rows, in order, the pair of a head that each belongs to, and whether it ends its row. Nothing
        can hold them up: the planner asks only for rows that have a bank.
    idle, begun : Out
        No row is being read from the step memory; a row was begun in this clock.
    read, read_address, granted, read_data : In, In, Out, Out
        Reads a word of the step memory for a scan, two clocks after ``granted``.
    load, load_address, load_data : In
        Writes a step with its axis.
    """

    def __init__(self, design: Design):
        self._design = design
        contents = step_contents(design)
        if design.loadable:
            self._steps = BlockRam(width=contents.width, depth=contents.depth, name="steps", words=contents.words)
        else:
            self._steps = BlockRom(contents, name="steps")
        self._phase = WideMultiplier(
            unsigned(POSITION_BITS), unsigned(design.phase_bits), result_bits=design.phase_bits
        )
        self._sine = SineGenerator(design.sine)
        magnitude = unsigned(design.sine.magnitude_fraction_bits + 1)
        self._amplitude = {name: WideMultiplier(magnitude, AMPLITUDE.shape) for name in ("cosine", "sine")}
        super().__init__(
            {
                **source_members(design),
                "load": In(1),
                "load_address": In(entry_address_bits(design)),
                "load_data": In(entry_bits(design)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 1 + self._to_amplitude + self._amplitude["sine"].latency + 1

    @property
    def _to_amplitude(self) -> int:
        """Clocks from a pair's number to its magnitudes at the amplitude multiplier."""
        return self._steps.latency + self._phase.latency + self._sine.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        fmt = design.sine
        m.submodules.steps = self._steps
        m.submodules.phase = phase = self._phase
        if isinstance(self._steps, BlockRam):
            m.d.comb += [
                self._steps.write_enable.eq(self.load),
                self._steps.write_address.eq(self.load_address),
                self._steps.write_data.eq(self.load_data),
            ]
        m.submodules.sine = sine = self._sine

        # Issue: one pair of the held request per clock, but for those in which a scan reads.
        busy = Signal()
        pair = Signal(pair_bits(design))
        held = Signal(request_layout(design), reset_less=True)
        at_last = Signal()
        turn = Signal(range(SCAN_SHARE))
        m.d.sync += turn.eq(turn + 1)
        m.d.comb += [
            at_last.eq(pair == (held.pairs - 1)[: len(pair)]),
            self.granted.eq(self.read & (~busy | (turn == 0))),
            self.request.ready.eq(~busy | (at_last & ~self.granted)),
            self.idle.eq(~busy),
            self.begun.eq(self.request.valid & self.request.ready),
        ]
        with m.If(busy & ~self.granted):
            m.d.sync += pair.eq(pair + 1)
        with m.If(self.request.ready):
            m.d.sync += [busy.eq(self.request.valid), pair.eq(0), held.eq(self.request.payload)]

        # The step, and the position on its axis.
        position = [
            delayed(m, held.position[axis], self._steps.latency, name=f"position_{axis}") for axis in range(design.axes)
        ]
        m.d.comb += [
            self._steps.address.eq(Mux(self.granted, self.read_address, Cat(pair, held.place))),
            self.read_data.eq(self._steps.data),
            phase.a.eq(Array(position)[self._steps.data[48:]] if design.axes > 1 else position[0]),
            phase.b.eq(self._steps.data),
            sine.phase.eq(phase.p[design.phase_bits - fmt.reduced_phase_bits :]),
        ]

        # Which clocks carry a pair, and which of those is the last of its row: index = clocks since the issue.
        valid, last = [Signal()], [Signal()]
        m.d.comb += [valid[0].eq(busy & ~self.granted), last[0].eq(at_last)]
        for clock in range(1, self.latency):
            valid.append(Signal(name=f"valid_{clock}"))
            last.append(Signal(name=f"last_{clock}", reset_less=True))
            m.d.sync += [valid[clock].eq(valid[clock - 1]), last[clock].eq(last[clock - 1])]

        # What the row is that a pair belongs to. Rows are in flight at most one per bank.
        banks = range(design.row_banks)
        amplitudes = Array(Signal(AMPLITUDE.shape, name=f"amplitude_{bank}", reset_less=True) for bank in banks)
        starts = Array(Signal(self.place.shape(), name=f"start_{bank}", reset_less=True) for bank in banks)
        newest, at_amplitude, at_end = Signal(banks), Signal(banks), Signal(banks)
        with m.If(self.begun):
            m.d.sync += [
                amplitudes[newest].eq(self.request.payload.amplitude),
                starts[newest].eq(self.request.payload.start),
                newest.eq(newest + 1),
            ]
        with m.If(valid[self._to_amplitude] & last[self._to_amplitude]):
            m.d.sync += at_amplitude.eq(at_amplitude + 1)
        number = Signal(len(pair))
        with m.If(self.write):
            m.d.sync += number.eq(Mux(self.last, 0, number + 1))
            with m.If(self.last):
                m.d.sync += at_end.eq(at_end + 1)
        m.d.comb += self.place.eq(starts[at_end] + number)

        coefficient = design.coefficient
        product_fraction_bits = fmt.magnitude_fraction_bits + AMPLITUDE.fraction_bits
        dropped = product_fraction_bits - coefficient.fraction_bits
        for name, multiplier in self._amplitude.items():
            m.submodules[f"amplitude_{name}"] = multiplier
            rounded = Signal(len(multiplier.p) + 1 - dropped, name=f"rounded_{name}", reset_less=True)
            m.d.comb += [
                multiplier.a.eq(getattr(sine, name)),
                multiplier.b.eq(amplitudes[at_amplitude]),
            ]
            m.d.sync += rounded.eq((multiplier.p + coefficient.rounding_word(product_fraction_bits)) >> dropped)
            limit = Signal(coefficient.shape, name=f"limit_{name}")
            with m.Switch(self.entry.quadrant):
                for quadrant, (cosine, sine_limit) in enumerate(design.magnitude_limits):
                    with m.Case(quadrant):
                        m.d.comb += limit.eq(cosine if name == "cosine" else sine_limit)
            m.d.comb += getattr(self.entry, name).eq(Mux(rounded > limit, limit, rounded))
        after_sine = self._amplitude["sine"].latency + 1
        m.d.comb += [
            self.entry.quadrant.eq(delayed(m, sine.quadrant, after_sine, name="quadrant")),
            self.write.eq(valid[self.latency - 1]),
            self.last.eq(last[self.latency - 1]),
        ]
        return m
