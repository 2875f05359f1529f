"""The row generator: makes the row of a position, one pair per clock, without a table that grows with the context.

    step ROM -> position x step (modulo one turn) -> fold into an octant -> sine ROM -> first-order correction
             -> amplitude -> round, saturate

Latency is the sum of those stages (:attr:`RowGenerator.latency`); throughput is one pair per clock with no bubble
between rows. At 18-bit coefficients and 48-bit phases it takes 5 + 2 + 4 multiplier tiles and one wide ROM. The
arithmetic is that of ``docs/number-contract.md``, sections "Steps and phases" to "Amplitude".
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .contents import pair_bits, step_contents
from .layouts import entry_layout, request_layout
from .multiply import WideMultiplier
from .primitives import BlockRom, delayed
from .sine import SineGenerator


class RowGenerator(Component):
    """A source of rows.

    Members
    -------
    request : In stream
        Rows to make. A row takes as many clocks as it has pairs; the next request is taken in the last of them.
    write, entry : Out
        The entries of the rows, in order. Nothing can hold them up: the planner asks only for rows that have a bank.
    """

    def __init__(self, design: Design):
        self._design = design
        self._steps = BlockRom(step_contents(design), name="steps")
        self._phase = WideMultiplier(
            unsigned(POSITION_BITS), unsigned(design.phase_bits), result_bits=design.phase_bits
        )
        self._sine = SineGenerator(design.sine)
        magnitude = unsigned(design.sine.magnitude_fraction_bits + 1)
        self._amplitude = {name: WideMultiplier(magnitude, AMPLITUDE.shape) for name in ("cosine", "sine")}
        super().__init__(
            {
                "request": In(stream.Signature(request_layout(design))),
                "write": Out(1),
                "entry": Out(entry_layout(design)),
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
        m.submodules.sine = sine = self._sine

        # Issue: one pair of the held request per clock.
        busy = Signal()
        pair = Signal(max(1, pair_bits(design)))
        held = Signal(request_layout(design), reset_less=True)
        at_last = Signal()
        m.d.comb += [
            at_last.eq(pair == design.pairs - 1),
            self.request.ready.eq(~busy | at_last),
        ]
        with m.If(busy):
            m.d.sync += pair.eq(pair + 1)
        with m.If(self.request.ready):
            m.d.sync += [busy.eq(self.request.valid), pair.eq(0), held.eq(self.request.payload)]

        # Phase.
        m.d.comb += [
            self._steps.address.eq(Cat(pair[: pair_bits(design)], held.slot)),
            phase.a.eq(delayed(m, held.position, self._steps.latency, name="position")),
            phase.b.eq(self._steps.data),
            sine.phase.eq(phase.p[design.phase_bits - fmt.reduced_phase_bits :]),
        ]

        # Which clocks carry a pair, and which of those is the last of its row: index = clocks since the issue.
        valid, last = [Signal()], [Signal()]
        m.d.comb += [valid[0].eq(busy), last[0].eq(at_last)]
        for clock in range(1, self.latency):
            valid.append(Signal(name=f"valid_{clock}"))
            m.d.sync += valid[clock].eq(valid[clock - 1])
        for clock in range(1, self._to_amplitude + 1):
            last.append(Signal(name=f"last_{clock}", reset_less=True))
            m.d.sync += last[clock].eq(last[clock - 1])

        # Amplitude: that of the row the pair belongs to. Rows are in flight at most one per bank.
        amplitudes = Array(
            Signal(AMPLITUDE.shape, name=f"amplitude_{bank}", reset_less=True) for bank in range(design.row_banks)
        )
        newest = Signal(range(design.row_banks))
        oldest = Signal(range(design.row_banks))
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += [amplitudes[newest].eq(self.request.payload.source), newest.eq(newest + 1)]
        with m.If(valid[self._to_amplitude] & last[self._to_amplitude]):
            m.d.sync += oldest.eq(oldest + 1)
        coefficient = design.coefficient
        product_fraction_bits = fmt.magnitude_fraction_bits + AMPLITUDE.fraction_bits
        dropped = product_fraction_bits - coefficient.fraction_bits
        for name, multiplier in self._amplitude.items():
            m.submodules[f"amplitude_{name}"] = multiplier
            rounded = Signal(len(multiplier.p) + 1 - dropped, name=f"rounded_{name}", reset_less=True)
            m.d.comb += [
                multiplier.a.eq(getattr(sine, name)),
                multiplier.b.eq(amplitudes[oldest]),
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
        ]
        return m
