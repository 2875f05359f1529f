"""A generator: the sine and cosine of a row's angle, rounded to the LSB of the elements, one pair per clock.

    step memory -> row x step (modulo one turn) -> octant, sine ROM, correction -> quarter turn -> amplitude
                -> round -> sign

The phase and the magnitudes are those of ``docs/number-contract.md``; the rest is in ``docs/sinusoidal.md``.
"""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...design import AMPLITUDE
from ...designs.sinusoidal import ROW_BITS, SinusoidalDesign
from ..component import Component
from ..multiply import WideMultiplier
from ..pipeline import delayed
from ..primitives import BlockRam
from ..sine import SineGenerator
from .contents import STEP_BITS, step_contents, steps_name


class PairGenerator(Component):
    """Sine and cosine of ``row * step``, :attr:`latency` clocks later; one pair per clock, nothing can hold it up.

    Members
    -------
    address, row, place : In
        Of the step memory; the row; the place of its steps, which chooses the amplitude.
    amplitudes : In
        The amplitude of each place. Must hold still while a pair of that place is on its way.
    sine, cosine : Out
        Words of ``design.encoding``.
    step : Out
        What the step memory holds at ``address``, :attr:`step_latency` clocks later.
    load, load_address, load_step : In
        Writes a step.
    """

    step_latency = 1 + BlockRam.latency
    """The address goes through a register, for it is chosen among those of rows and of scans."""

    def __init__(self, design: SinusoidalDesign, generator: int):
        self._design = design
        contents = step_contents(design, generator)
        self._steps = BlockRam(
            width=contents.width, depth=contents.depth, name=steps_name(generator), words=contents.words
        )
        self._phase = WideMultiplier(unsigned(ROW_BITS), unsigned(design.phase_bits), result_bits=design.phase_bits)
        self._sine = SineGenerator(design.sine)
        magnitude = unsigned(design.sine.magnitude_fraction_bits + 1)
        self._amplitude = (
            {name: WideMultiplier(magnitude, AMPLITUDE.shape) for name in ("sine", "cosine")} if design.scaled else {}
        )
        super().__init__(
            {
                "address": In(range(contents.depth)),
                "row": In(ROW_BITS),
                "place": In(1),
                "amplitudes": In(data.ArrayLayout(AMPLITUDE.shape, 2)),
                "sine": Out(design.encoding.shape),
                "cosine": Out(design.encoding.shape),
                "step": Out(STEP_BITS),
                "load": In(1),
                "load_address": In(range(contents.depth)),
                "load_step": In(STEP_BITS),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from an address to the sine: steps, phase, magnitudes, quarter turn, amplitude, rounding, sign."""
        return self._to_amplitude + (self._amplitude["sine"].latency if self._amplitude else 0) + 2

    @property
    def _to_amplitude(self) -> int:
        return self.step_latency + self._phase.latency + self._sine.latency + 1

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        fmt = design.sine
        m.submodules.steps = steps = self._steps
        m.submodules.phase = phase = self._phase
        m.submodules.sine = sine = self._sine
        m.d.comb += [
            steps.address.eq(delayed(m, self.address, self.step_latency - steps.latency, name="address")),
            steps.write_enable.eq(self.load),
            steps.write_address.eq(self.load_address),
            steps.write_data.eq(self.load_step),
            self.step.eq(steps.data),
            phase.a.eq(delayed(m, self.row, self.step_latency, name="row")),
            phase.b.eq(steps.data),
            sine.phase.eq(phase.p[design.phase_bits - fmt.reduced_phase_bits :]),
        ]

        # Odd quarters exchange sine and cosine; the sine is negative in quarters 2 and 3, the cosine in 1 and 2.
        quadrant = sine.quadrant
        magnitudes = {
            name: Signal(fmt.magnitude_fraction_bits + 1, name=f"magnitude_{name}", reset_less=True)
            for name in ("sine", "cosine")
        }
        negative = {name: Signal(name=f"negative_{name}", reset_less=True) for name in magnitudes}
        m.d.sync += [
            magnitudes["sine"].eq(Mux(quadrant[0], sine.cosine, sine.sine)),
            magnitudes["cosine"].eq(Mux(quadrant[0], sine.sine, sine.cosine)),
            negative["sine"].eq(quadrant[1]),
            negative["cosine"].eq(quadrant[0] ^ quadrant[1]),
        ]

        fraction_bits = fmt.magnitude_fraction_bits + (AMPLITUDE.fraction_bits if design.scaled else 0)
        drop = fraction_bits - design.encoding.fraction_bits
        half = design.encoding.rounding_word(fraction_bits)
        place = delayed(m, self.place, self._to_amplitude if design.scaled else 0, name="place")
        for name, magnitude in magnitudes.items():
            value, wait = magnitude, 0
            if design.scaled:
                multiplier = self._amplitude[name]
                m.submodules[f"amplitude_{name}"] = multiplier
                m.d.comb += [
                    multiplier.a.eq(magnitude),
                    multiplier.b.eq(Mux(place, self.amplitudes[1], self.amplitudes[0])),
                ]
                value, wait = multiplier.p, multiplier.latency
            sign = delayed(m, negative[name], wait, name=f"sign_{name}")
            # Half up of the signed value: a negative one rounds half down in magnitude.
            rounded = Signal(len(value) + 1 - drop, name=f"rounded_{name}", reset_less=True)
            result = Signal(design.encoding.shape, name=f"result_{name}", reset_less=True)
            late = Signal(name=f"late_{name}", reset_less=True)
            m.d.sync += [
                rounded.eq((value + Mux(sign, max(half - 1, 0), half)) >> drop),
                late.eq(sign),
                result.eq(Mux(late, -rounded, rounded)),
            ]
            m.d.comb += getattr(self, name).eq(result)
        return m
