"""The widths of the sine generator, derived from those of the coefficients and the phase."""

from dataclasses import dataclass

from .formats import Format


@dataclass(frozen=True, kw_only=True)
class SineFormat:
    """Every width of the sine generator, derived from the coefficient width C and the phase bits P.

    The letters are those of ``docs/number-contract.md``.
    """

    coefficient_width: int
    phase_bits: int

    @property
    def index_bits(self) -> int:
        """L: the octant ROM has 2**L words."""
        return (self.coefficient_width + 1) // 2

    @property
    def reduced_phase_bits(self) -> int:
        """T: the phase is truncated to its T top bits."""
        return min(self.phase_bits, self.coefficient_width + 11)

    @property
    def octant_bits(self) -> int:
        """T - 3: bits of the place inside an octant."""
        return self.reduced_phase_bits - 3

    @property
    def cell_bits(self) -> int:
        """T - 3 - L: bits of the place inside one ROM cell."""
        return self.octant_bits - self.index_bits

    @property
    def delta(self) -> Format:
        """The signed distance from a cell's middle, in units of 2**-T turns: -2**(n-1) to +2**(n-1), n = cell_bits."""
        return Format(width=self.cell_bits + 1, fraction_bits=self.reduced_phase_bits, overflow="never")

    @property
    def rom_fraction_bits(self) -> int:
        """R: fraction bits of the sine (S, R bits) and versine (V, R - 1 bits) words of the ROM."""
        return self.coefficient_width + 4

    @property
    def slope_bits(self) -> int:
        """B: width and fraction bits of the derivative words G = pi/4 cos and H = pi/4 sin."""
        return self.index_bits + 5

    @property
    def correction_fraction_bits(self) -> int:
        """E = B + T - 3: fraction bits of a derivative word times delta."""
        return self.slope_bits + self.reduced_phase_bits - 3

    @property
    def magnitude_fraction_bits(self) -> int:
        """M: fraction bits of sine and cosine after the correction, before the amplitude."""
        return self.coefficient_width + 3

    @property
    def word_bits(self) -> int:
        """Bits of one ROM word: S, V, G, H, the first lowest."""
        return 2 * self.rom_fraction_bits - 1 + 2 * self.slope_bits
