"""The row generator at a lower pace: a pair in some clocks, with multipliers that are shared.

    step ROM -> position x step -> fold -> sine ROM -> correction -> amplitude

The bits are those of :class:`~ropewalk.gateware.generator.RowGenerator`. Each of the three products has multipliers of
its own, as many as its tiles take in the clocks that there are, and its operands stand still meanwhile. Most registers
between the stages are those words that stand.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib.wiring import In

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .contents import step_contents
from .generator import of_row, source_members
from .paced import Pace
from .primitives import BlockRam, BlockRom
from .shared_issue import SharedIssue
from .shared_products import Product, SharedProducts
from .shared_sine import SharedSine
from .slots import entry_address_bits, entry_bits, pair_bits


class SharedRowGenerator(Component):
    """A source of rows, with the members of :class:`~ropewalk.gateware.generator.RowGenerator`.

    A row takes ``design.clocks_per_pair`` clocks, 2 or more, for each of its pairs. Rows follow each other without a
    gap, but for a clock now and then in which a scan reads.
    """

    def __init__(self, design: Design):
        self._design = design
        clocks = design.clocks_per_pair
        contents = step_contents(design)
        if design.loadable:
            self._steps = BlockRam(width=contents.width, depth=contents.depth, name="steps", words=contents.words)
        else:
            self._steps = BlockRom(contents, name="steps")
        phase = Product(a=unsigned(POSITION_BITS), b=unsigned(design.phase_bits), result_bits=design.phase_bits)
        self._phase = SharedProducts({"phase": phase}, clocks=clocks, stands=clocks)
        fraction_bits = design.sine.magnitude_fraction_bits
        # Rounding adds half a unit of the coefficient.
        half = fraction_bits + AMPLITUDE.fraction_bits - design.coefficient.fraction_bits - 1
        amplified = Product(a=unsigned(fraction_bits + 1), b=AMPLITUDE.shape, half=half)
        self._amplitude = SharedProducts({"cosine": amplified, "sine": amplified}, clocks=clocks, stands=1)
        self._kept = half + 1
        self._sine = SharedSine(design.sine, clocks=clocks, stands=self._amplitude.turns)
        super().__init__(
            {
                **source_members(design),
                "load": In(1),
                "load_address": In(entry_address_bits(design)),
                "load_data": In(entry_bits(design)),
            }
        )

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return self._phase.multipliers + self._sine.multipliers + self._amplitude.multipliers

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 2 + self._to_end + 1

    @property
    def _to_sine(self) -> int:
        """Clocks from a pair's number to its phase."""
        return self._steps.latency + self._phase.latency

    @property
    def _to_amplitude(self) -> int:
        """Clocks from a pair's number to its magnitudes."""
        return self._to_sine + self._sine.latency

    @property
    def _to_end(self) -> int:
        """Clocks from a pair's number to its coefficients before they are limited."""
        return self._to_amplitude + self._amplitude.latency

    @property
    def _rows_in_flight(self) -> int:
        """Rows that have been begun and whose last pair has not passed the last stage, at most: a power of two."""
        design = self._design
        pairs = 1 if design.loadable else min(shape.pairs for shape in design.shapes)
        rows = 2 + -(-(self.latency + design.clocks_per_pair) // (pairs * design.clocks_per_pair))
        return min(design.row_banks, 1 << (rows - 1).bit_length())

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        clocks = design.clocks_per_pair
        m.submodules.steps = steps = self._steps
        if isinstance(steps, BlockRam):
            m.d.comb += [
                steps.write_enable.eq(self.load),
                steps.write_address.eq(self.load_address),
                steps.write_data.eq(self.load_data),
            ]
        m.submodules.phase = phase = self._phase
        m.submodules.sine = sine = self._sine
        m.submodules.amplitude = amplified = self._amplitude

        # Issue: the number of a pair stands for all of its clocks, and so do its row and its step.
        m.submodules.rows = rows = SharedIssue(design)
        row = self.row.payload
        pair = Signal(pair_bits(design), reset_less=True)
        fresh = Signal(reset_less=True)
        begun, loaded, issued = Signal(), Signal(), Signal()
        m.d.comb += [
            rows.valid.eq(self.request.valid),
            rows.pairs.eq(self.request.payload.pairs),
            self.request.ready.eq(rows.ready),
            rows.read.eq(self.read),
            self.row.ready.eq(rows.ending),
            self.idle.eq(~rows.busy),
            steps.address.eq(Mux(self.granted, self.read_address, Cat(pair, row.place))),
            self.read_data.eq(steps.data),
        ]
        m.d.sync += [
            begun.eq(self.request.valid & self.request.ready),
            loaded.eq(begun),
            issued.eq(rows.issue),
            self.granted.eq(rows.granted),
        ]
        with m.If(rows.issue):
            m.d.sync += [pair.eq(Mux(fresh, 0, pair + 1)), fresh.eq(0)]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += fresh.eq(1)

        # The stages, from the clock in which a pair's number is there.
        pace = Pace(m, issued, clocks=clocks, name="valid")
        at_step, at_sine, at_amplitude, at_end = steps.latency, self._to_sine, self._to_amplitude, self._to_end
        position = [
            pace.carried(row.position[axis], 0, at_step, stands=phase.turns, name=f"position_{axis}")
            for axis in range(design.axes)
        ]
        m.d.comb += [
            phase.start.eq(pace.strobe(at_step)),
            phase.phase_a.eq(Array(position)[steps.data[48:]] if design.axes > 1 else position[0]),
            phase.phase_b.eq(steps.data),
            sine.start.eq(pace.strobe(at_sine)),
            sine.phase.eq(phase.phase_p[design.phase_bits - design.sine.reduced_phase_bits :]),
            amplified.start.eq(pace.strobe(at_amplitude)),
        ]

        # What the row is that a pair belongs to. Its amplitude goes as the last pair has stood for its clocks.
        at_change = at_amplitude + clocks - 2
        change = pace.strobe(at_change) & pace.carried(rows.last, 0, at_change, name="last_at_amplitude")
        last = pace.carried(rows.last, 0, at_end, name="last")
        end = pace.strobe(at_end)
        in_flight = self._rows_in_flight
        amplitude = of_row(m, row.amplitude, loaded, change, rows=in_flight, name="amplitude")
        start = of_row(m, row.start, loaded, end & last, rows=in_flight, name="start")
        first = Signal(init=1)
        m.d.sync += [self.write.eq(end), self.last.eq(last)]
        with m.If(end):
            m.d.sync += [first.eq(last), self.place.eq(Mux(first, start, self.place + 1))]

        quadrant = pace.carried(sine.quadrant, at_amplitude, at_end, name="quadrant")
        m.d.sync += self.entry.quadrant.eq(quadrant)
        for place, name in enumerate(("cosine", "sine")):
            rounded = getattr(amplified, f"{name}_p") >> self._kept
            limit = Signal(design.coefficient.shape, name=f"limit_{name}")
            with m.Switch(quadrant):
                for number, limits in enumerate(design.magnitude_limits):
                    with m.Case(number):
                        m.d.comb += limit.eq(limits[place])
            m.d.comb += [
                getattr(amplified, f"{name}_a").eq(getattr(sine, name)),
                getattr(amplified, f"{name}_b").eq(amplitude),
            ]
            m.d.sync += getattr(self.entry, name).eq(Mux(rounded > limit, limit, rounded))
        return m
