"""The octant ROM of the sine generator: sine, versine and their derivatives at the middle of each cell.

Arithmetic: ``docs/number-contract.md``, "Sine ROM". With theta the middle of a cell and h half its size, a
straight line through the middle misses the curve by up to h**2/2 of its value at the edges, always on one side. The
factor rho = 1 - h**2/4 lowers the middle so that the miss is h**2/4 on both sides.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from ..sine_format import SineFormat
from .rounding import round_half_up


class SineWord(NamedTuple):
    """One word of the ROM, as four unsigned integers.

    ``sine`` S has R bits and R fraction bits; ``versine`` V (1 - cosine) R - 1 bits and R fraction bits;
    ``sine_slope`` G and ``cosine_slope`` H have B bits and B fraction bits: how fast the sine grows and the cosine
    falls, per eighth turn.
    """

    sine: int
    versine: int
    sine_slope: int
    cosine_slope: int


def sine_words(fmt: SineFormat) -> tuple[SineWord, ...]:
    """The ``2**fmt.index_bits`` words of the ROM, in address order, correctly rounded on every platform."""
    # The phase bits change no word, so formats that differ only there share one computation.
    return _sine_words(SineFormat(coefficient_width=fmt.coefficient_width, phase_bits=48))


@lru_cache(maxsize=32)
def _sine_words(fmt: SineFormat) -> tuple[SineWord, ...]:
    return tuple(_sine_word(fmt, index) for index in range(1 << fmt.index_bits))


def _sine_word(fmt: SineFormat, index: int) -> SineWord:
    # theta and rho of docs/number-contract.md
    def theta(ctx: Any) -> Any:
        return ctx.ldexp(ctx.pi * (2 * index + 1), -3 - fmt.index_bits)

    def rho(ctx: Any) -> Any:
        return 1 - ctx.ldexp(ctx.pi, -3 - fmt.index_bits) ** 2 / 4

    # No tie is possible: each value is algebraic times a non-constant polynomial in pi, so transcendental.
    fraction, slope = fmt.rom_fraction_bits, fmt.slope_bits
    word = SineWord(
        sine=round_half_up(lambda ctx: ctx.ldexp(rho(ctx) * ctx.sin(theta(ctx)), fraction)),
        versine=round_half_up(lambda ctx: ctx.ldexp(1 - rho(ctx) * ctx.cos(theta(ctx)), fraction)),
        sine_slope=round_half_up(lambda ctx: ctx.ldexp(ctx.pi / 4 * ctx.cos(theta(ctx)), slope)),
        cosine_slope=round_half_up(lambda ctx: ctx.ldexp(ctx.pi / 4 * ctx.sin(theta(ctx)), slope)),
    )
    for value, bits in zip(word, field_bits(fmt), strict=True):
        if not 0 <= value < 1 << bits:
            raise ArithmeticError(f"sine ROM word {index} does not fit its {bits} bits: {value}")
    return word


def field_bits(fmt: SineFormat) -> tuple[int, int, int, int]:
    """Bits of the four fields of a packed word, the lowest field first."""
    return fmt.rom_fraction_bits, fmt.rom_fraction_bits - 1, fmt.slope_bits, fmt.slope_bits


def pack(word: SineWord, fmt: SineFormat) -> int:
    """``word`` as one integer of ``fmt.word_bits`` bits: S lowest, then V, G, H."""
    packed, shift = 0, 0
    for value, bits in zip(word, field_bits(fmt), strict=True):
        packed |= value << shift
        shift += bits
    return packed
