"""Fixed-point formats: one object that sizes the gateware's signals and drives the numpy model.

The arithmetic is specified in ``docs/number-contract.md``. Everything here is exact integer arithmetic; no
float takes part.
"""

from dataclasses import dataclass
from typing import Literal

from amaranth.hdl import Shape, signed, unsigned

Rounding = Literal["half-up", "floor"]
Overflow = Literal["saturate", "never"]


@dataclass(frozen=True, kw_only=True)
class Format:
    """A fixed-point format: an integer of ``width`` bits that stands for ``integer * 2**-fraction_bits``.

    Parameters
    ----------
    width
        Bits in all, the sign included.
    fraction_bits
        Bits to the right of the binary point. May be 0, and may exceed ``width``.
    signed
        Two's complement where true.
    rounding
        How a value with more fraction bits comes into this format: ``half-up`` adds half an LSB, then
        floors; ``floor`` only floors.
    overflow
        ``saturate`` clips to the nearest end of the range. ``never`` states that the range cannot be left, by
        a proof that stands in the number contract.
    """

    width: int
    fraction_bits: int
    signed: bool = True
    rounding: Rounding = "half-up"
    overflow: Overflow = "saturate"

    def __post_init__(self) -> None:
        if not isinstance(self.width, int) or self.width < 1:
            raise ValueError(f"Format width must be a positive integer, not {self.width!r}")
        if not isinstance(self.fraction_bits, int):
            raise TypeError(f"Format fraction bits must be an integer, not {self.fraction_bits!r}")
        if self.rounding not in ("half-up", "floor"):
            raise ValueError(f"Format rounding must be 'half-up' or 'floor', not {self.rounding!r}")
        if self.overflow not in ("saturate", "never"):
            raise ValueError(f"Format overflow must be 'saturate' or 'never', not {self.overflow!r}")

    @property
    def shape(self) -> Shape:
        """The Amaranth shape of a signal in this format."""
        return signed(self.width) if self.signed else unsigned(self.width)

    @property
    def minimum(self) -> int:
        """The smallest word."""
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def maximum(self) -> int:
        """The largest word."""
        return (1 << (self.width - 1)) - 1 if self.signed else (1 << self.width) - 1

    @property
    def one(self) -> int:
        """The word that stands for 1.0 (which may lie outside the range)."""
        return 1 << self.fraction_bits

    def rounding_word(self, fraction_bits: int) -> int:
        """What rounding adds to a value with ``fraction_bits`` fraction bits before it is floored."""
        drop = fraction_bits - self.fraction_bits
        if drop < 0:
            raise ValueError(f"a value with {fraction_bits} fraction bits is coarser than {self}")
        return 1 << (drop - 1) if self.rounding == "half-up" and drop else 0
