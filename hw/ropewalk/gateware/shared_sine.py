"""Sine and cosine of a phase at a lower pace: :mod:`.sine` with one multiplier or two that both corrections share.

Arithmetic: that of :mod:`.sine`, bit for bit. Latency :attr:`SharedSine.latency`, one phase in ``clocks`` clocks.
"""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib.wiring import In, Out

from ..sine_format import SineFormat
from .component import Component
from .contents import sine_contents
from .paced import Pace
from .primitives import BlockRom
from .shared_products import Product, SharedProducts


class SharedSine(Component):
    """Magnitudes in the first quadrant, and the quadrant, of a reduced phase.

    Parameters
    ----------
    clocks
        Clocks from one phase to the next, 2 or more.
    stands
        For how many clocks, at least, the magnitudes shall stand.

    Members
    -------
    start : In
        There is a new phase in this clock.
    phase : In
        T bits, turns. It stands for ``clocks`` clocks.
    quadrant : Out
        Which quarter turn. It stands for ``clocks`` clocks.
    cosine, sine : Out
        M fraction bits, 0 to 1.0 inclusive, never corrected past either by more than one unit.
    """

    def __init__(self, fmt: SineFormat, *, clocks: int, stands: int):
        self._fmt = fmt
        self._clocks = clocks
        self._stands = stands
        self._rom = BlockRom(sine_contents(fmt), name="sine")
        # Of a word and its correction the lowest bit that is kept is that above a unit of the word (R = M + 1).
        words = {"sine": fmt.rom_fraction_bits, "versine": fmt.rom_fraction_bits - 1}
        drop = fmt.correction_fraction_bits - fmt.rom_fraction_bits
        self._correction = SharedProducts(
            {
                name: Product(a=fmt.delta.shape, b=unsigned(fmt.slope_bits), half=drop, c=unsigned(bits))
                for name, bits in words.items()
            },
            clocks=clocks,
            stands=stands,
        )
        magnitude = fmt.magnitude_fraction_bits + 1
        super().__init__(
            {
                "start": In(1),
                "phase": In(fmt.reduced_phase_bits),
                "quadrant": Out(2),
                "cosine": Out(magnitude),
                "sine": Out(magnitude),
            }
        )

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return self._correction.multipliers

    @property
    def _to_correction(self) -> int:
        """Clocks from a phase to the words of its cell: fold and ROM."""
        return 1 + self._rom.latency

    @property
    def latency(self) -> int:
        """Clocks from phase to magnitudes."""
        return self._to_correction + self._correction.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        fmt = self._fmt
        cell = fmt.cell_bits
        pace = Pace(m, self.start, clocks=self._clocks, name="started")

        # Fold the octant, and find the cell and the place in it, as :class:`~.sine.SineGenerator` does.
        place = self.phase[: fmt.octant_bits]
        odd = self.phase[fmt.octant_bits]
        folded = Signal(fmt.octant_bits + 1, reset_less=True)
        m.d.sync += folded.eq(Mux(odd, (1 << fmt.octant_bits) - place, place))
        far = folded[fmt.octant_bits]
        half = 1 << (cell - 1)
        delta = Signal(fmt.delta.shape)
        m.submodules.rom = rom = self._rom
        m.d.comb += [
            rom.address.eq(folded[cell : fmt.octant_bits] | far.replicate(fmt.index_bits)),
            delta.eq(Mux(far, half, folded[:cell].as_unsigned() - half)),
        ]

        m.submodules.correction = correction = self._correction
        at_rom = self._to_correction
        delta_at_rom = pace.carried(delta, 1, at_rom, stands=correction.turns, name="delta")
        m.d.comb += [correction.start.eq(pace.strobe(at_rom))]
        low = 0
        for port in ("sine_c", "versine_c", "sine_b", "versine_b"):
            width = len(getattr(correction, port))
            m.d.comb += getattr(correction, port).eq(rom.data[low : low + width])
            low += width
        for port in ("sine_a", "versine_a"):
            m.d.comb += getattr(correction, port).eq(delta_at_rom)

        # The cosine is 1 minus the corrected versine.
        kept = 1 + fmt.correction_fraction_bits - fmt.rom_fraction_bits
        magnitude = len(self.sine)
        near, versine, across = (Signal(magnitude, name=name) for name in ("near", "versine", "across"))
        octant = pace.carried(self.phase[fmt.octant_bits :], 0, self.latency, stands=self._clocks, name="octant")
        m.d.comb += [
            near.eq(correction.sine_p >> kept),
            versine.eq(correction.versine_p >> kept),
            across.eq((1 << fmt.magnitude_fraction_bits) - versine),
            self.quadrant.eq(octant[1:]),
            self.sine.eq(Mux(octant[0], across, near)),
            self.cosine.eq(Mux(octant[0], near, across)),
        ]
        return m
