"""The one description of an ALiBi unit: every width and format of gateware and model. ``docs/alibi.md``."""

from dataclasses import dataclass
from functools import cached_property

from ..errors import InputError
from ..family import Family, check_family
from ..formats import Format
from ..geometry.alibi import MODES, AlibiGeometry
from ..tables.slopes import SLOPE_FRACTION_BITS, slope_words

DISTANCE_BITS = 24
"""Positions and row lengths lie below 2 ** 24, or are that."""

PRODUCT_DISTANCE_BITS = DISTANCE_BITS + 2
"""Bits of a distance, with its sign: from a key at -2 ** 24 to one that a row begun below 2 ** 24 may reach."""

LANES = (1, 2, 4, 8, 16)
MOST_HEADS = 256
"""Heads that a descriptor can name."""

MOST_FRACTION_BITS = 24


@dataclass(frozen=True, kw_only=True)
class AlibiDesign:
    """An ALiBi unit.

    Parameters
    ----------
    geometry
        The slopes that the table holds at the start, and the mode that its register holds after reset.
    lanes
        Scores per beat, and per clock.
    data_width, fraction_bits
        A score is a signed integer of ``data_width`` bits; its LSB stands for ``2 ** -fraction_bits``.
    capacity
        Heads that the slope table has room for.
    family
        For whose primitives the gateware is made.
    registers
        Whether there are registers behind the AXI4-Lite port. Without them the mode is fixed and no slopes are loaded.

    Raises
    ------
    InputError
        If no unit can be made of it; the message names the parameter or the option.
    """

    geometry: AlibiGeometry
    lanes: int = 4
    data_width: int = 16
    fraction_bits: int = 8
    capacity: int = MOST_HEADS
    family: Family = "generic"
    registers: bool = True

    def __post_init__(self) -> None:
        if self.lanes not in LANES:
            raise InputError(f"lanes must be one of {', '.join(map(str, LANES))} for ALiBi, not {self.lanes!r}")
        for name, low, high in (
            ("data_width", 8, 32),
            ("fraction_bits", 0, MOST_FRACTION_BITS),
            ("capacity", 2, MOST_HEADS),
        ):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise InputError(f"{name} must be an integer from {low} to {high} for ALiBi, not {value!r}")
        if self.capacity & (self.capacity - 1):
            raise InputError(f"capacity must be a power of two, not {self.capacity}")
        check_family(self.family)
        heads = self.geometry.heads
        if heads > self.capacity:
            raise InputError(f"the slope table has room for {self.capacity} heads, and the model has {heads}")
        for head, (slope, word) in enumerate(zip(self.geometry.slopes, self.slope_words, strict=True)):
            if slope < 0 or word >> self.slope_bits:
                raise InputError(f"the slope of head {head} is {slope!r}, and this unit takes slopes from 0 to below 1")

    @property
    def data(self) -> Format:
        """A score, in and out."""
        return Format(width=self.data_width, fraction_bits=self.fraction_bits)

    @property
    def slope_bits(self) -> int:
        """Bits of a slope word: below ``2 ** fraction_bits`` LSBs, with ``SLOPE_FRACTION_BITS`` fraction bits."""
        return self.fraction_bits + SLOPE_FRACTION_BITS

    @cached_property
    def slope_words(self) -> tuple[int, ...]:
        """The slope words of the geometry."""
        return tuple(slope_words(self.geometry.slopes, self.fraction_bits))

    @property
    def mode(self) -> int:
        """The number of the geometry's mode in the register."""
        return MODES.index(self.geometry.mode)

    @property
    def lane_bits(self) -> int:
        """Bits of the number of a lane."""
        return (self.lanes - 1).bit_length()

    @property
    def bias_bits(self) -> int:
        """Bits to the left of the point of a bias that does not saturate every score by itself, with its sign.

        The bias of a beat's first key is below ``2 ** data_width`` in magnitude, or further down by what the other
        lanes may add.
        """
        return ((1 << self.data_width) + (self.lanes - 1 << self.fraction_bits) - 1).bit_length() + 1

    @property
    def container_bits(self) -> int:
        """Bits of a score on the streams: the smallest of 8, 16 and 32 that holds it."""
        return next(bits for bits in (8, 16, 32) if bits >= self.data_width)

    @property
    def beat_bytes(self) -> int:
        """Octets of a beat."""
        return self.lanes * self.container_bits // 8

    @property
    def memory_bits(self) -> int:
        """Bits of the slope table: two banks, of which one can be loaded while the other is in use.

        There is no other memory that grows with heads, queries or keys.
        """
        return 2 * self.capacity * self.slope_bits
