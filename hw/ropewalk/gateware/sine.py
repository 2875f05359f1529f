"""Sine and cosine of a phase: an octant ROM with first-order correction.

Arithmetic: ``docs/number-contract.md``, sections "Phase to octant", "Sine ROM" and "Correction". Latency
:attr:`SineGenerator.latency`, one phase per clock. One ROM of ``2**L`` words and two multipliers.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib.wiring import In, Out

from ..sine_format import SineFormat
from .component import Component
from .contents import sine_contents
from .multiply import WideMultiplier
from .pipeline import delayed
from .primitives import BlockRom


class SineGenerator(Component):
    """Magnitudes in the first quadrant, and the quadrant, of a reduced phase.

    Parameters
    ----------
    fmt
        The widths.
    way
        A clock more, for the way from the DSP blocks of the correction to the adders behind them.

    Members
    -------
    phase : In
        T bits, turns.
    quadrant : Out
        Which quarter turn.
    cosine, sine : Out
        M fraction bits, 0 to 1.0 inclusive, never corrected past either by more than one unit.
    """

    def __init__(self, fmt: SineFormat, *, way: bool = False):
        self._fmt = fmt
        self._way = int(way)
        self._rom = BlockRom(sine_contents(fmt), name="sine")
        self._correction = {
            name: WideMultiplier(fmt.delta.shape, unsigned(fmt.slope_bits)) for name in ("sine", "versine")
        }
        magnitude = fmt.magnitude_fraction_bits + 1
        super().__init__(
            {"phase": In(fmt.reduced_phase_bits), "quadrant": Out(2), "cosine": Out(magnitude), "sine": Out(magnitude)}
        )

    @property
    def latency(self) -> int:
        """Clocks from phase to magnitudes: fold, ROM, correction, the way from it, sum."""
        return 1 + self._rom.latency + self._to_sum + 1

    @property
    def _to_sum(self) -> int:
        """Clocks from a word of the ROM to what is added to it."""
        return self._correction["sine"].latency + self._way

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        fmt = self._fmt
        cell = fmt.cell_bits

        # Fold the octant: in odd octants the angle is measured from the other end.
        place = self.phase[: fmt.octant_bits]
        odd = self.phase[fmt.octant_bits]
        folded = Signal(fmt.octant_bits + 1, reset_less=True)
        m.d.sync += folded.eq(Mux(odd, (1 << fmt.octant_bits) - place, place))

        # The far end of the octant is the end of its last cell.
        far = folded[fmt.octant_bits]
        half = 1 << (cell - 1)
        delta = Signal(fmt.delta.shape)
        m.d.comb += [
            self._rom.address.eq(folded[cell : fmt.octant_bits] | far.replicate(fmt.index_bits)),
            delta.eq(Mux(far, half, folded[:cell].as_unsigned() - half)),
        ]

        m.submodules.rom = rom = self._rom
        bits = fmt.rom_fraction_bits, fmt.rom_fraction_bits - 1, fmt.slope_bits, fmt.slope_bits
        fields = []
        low = 0
        for width in bits:
            fields.append(rom.data[low : low + width])
            low += width
        sine, versine, sine_slope, versine_slope = fields
        delta_at_rom = delayed(m, delta, rom.latency, name="delta").as_signed()
        drop = fmt.correction_fraction_bits - fmt.rom_fraction_bits
        products = {}
        for name, slope in (("sine", sine_slope), ("versine", versine_slope)):
            multiplier = self._correction[name]
            m.submodules[f"correct_{name}"] = multiplier
            m.d.comb += [multiplier.a.eq(delta_at_rom), multiplier.b.eq(slope)]
            products[name] = delayed(m, multiplier.p >> drop, self._way, name=f"{name}_product")

        # (word * 2**(E-R) + product + half) >> (E-M), where half is exactly one unit of the word's LSB (R = M + 1):
        # only the product's bits from E-R up can matter. The cosine is 1 minus the corrected versine.
        wait = self._to_sum
        complement = Signal(fmt.rom_fraction_bits + 1, reset_less=True)
        m.d.sync += complement.eq(Cat(delayed(m, ~versine, 1, name="versine"), Const(1, 1)) + 1)
        sine_word = delayed(m, sine, wait, name="sine_word")
        cosine_word = delayed(m, complement, wait - 2, name="cosine_word")
        magnitude = len(self.sine)
        near = Signal(magnitude, reset_less=True)
        across = Signal(magnitude, reset_less=True)
        m.d.sync += [
            near.eq((sine_word + 1 + products["sine"]) >> 1),
            across.eq((cosine_word - products["versine"]) >> 1),
        ]

        to_sum = self.latency
        octant = delayed(m, self.phase[fmt.octant_bits :], to_sum, name="octant")
        m.d.comb += [
            self.quadrant.eq(octant[1:]),
            self.sine.eq(Mux(octant[0], across, near)),
            self.cosine.eq(Mux(octant[0], near, across)),
        ]
        return m
