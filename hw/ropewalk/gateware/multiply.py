"""Products of words that are wider than one DSP operand, split into tiles and summed in a pipelined tree."""

from dataclasses import dataclass
from itertools import product

from amaranth.hdl import Cat, Module, Shape, Signal, Value, signed, unsigned
from amaranth.lib.wiring import In, Out

from .component import Component
from .families.form import OPERAND_BITS
from .pipeline import delayed
from .primitives import Multiplier

TILE_BITS = OPERAND_BITS
"""Bits of a DSP operand, signed or unsigned."""

NARROW_TILE_BITS = 16
"""What iCE40 multiplies without further logic, and every family with room for a sign."""


@dataclass(frozen=True)
class Tile:
    """A slice of an operand: its bits and whether its top bit is the operand's sign."""

    low: int
    shape: Shape

    def of(self, value: Value) -> Value:
        """The slice of ``value``, with the tile's own sign."""
        part = value[self.low : self.low + self.shape.width]
        return part.as_signed() if self.shape.signed else part


def tiles(shape: Shape, bits: int = TILE_BITS) -> list[Tile]:
    """Cut an operand into unsigned tiles of ``bits`` bits and a top tile that has its sign."""
    cuts = []
    for low in range(0, shape.width, bits):
        width = min(bits, shape.width - low)
        top = low + width == shape.width
        cuts.append(Tile(low, signed(width) if shape.signed and top else unsigned(width)))
    return cuts


def tile_pairs(a: Shape, b: Shape, result_bits: int) -> list[tuple[Tile, Tile]]:
    """The tiles of two operands whose products make up the low ``result_bits`` bits of theirs.

    As few as there can be; where tiles of 16 bits are no more than those of 18, of 16. So they are the same in every
    family, and so are the clocks that their sum takes.
    """
    choices = [
        [(i, j) for i in tiles(a, first) for j in tiles(b, second) if i.low + j.low < result_bits]
        for first, second in product((NARROW_TILE_BITS, TILE_BITS), repeat=2)
    ]
    return min(choices, key=len)


@dataclass(frozen=True)
class Partial:
    """A summand: ``value * 2**low``."""

    value: Value
    low: int


def product_latency(a: Shape, b: Shape, result_bits: int | None = None) -> int:
    """Clocks from two operands to the product of a :class:`WideMultiplier`."""
    bits = (Signal(a) * Signal(b)).shape().width if result_bits is None else result_bits
    levels = (len(tile_pairs(a, b, bits)) - 1).bit_length()
    return Multiplier.latency + levels


class WideMultiplier(Component):
    """The product of two words of any width, exact or modulo ``2**result_bits``.

    Latency is that of a :class:`~ropewalk.gateware.primitives.Multiplier` plus one clock per level of the adder
    tree; one product per clock. Tiles that lie wholly above ``result_bits`` take no multiplier.

    Parameters
    ----------
    a, b
        Shapes of the operands.
    result_bits
        Keep only this many low bits of the product, as an unsigned word; ``None`` keeps the exact product.
    way
        Where there are several tiles: a clock more, for the way from the DSP blocks to the adders.

    Members
    -------
    a, b : In
        The operands.
    p : Out
        The product, :attr:`latency` clocks later.
    """

    def __init__(self, a: Shape, b: Shape, *, result_bits: int | None = None, way: bool = False):
        exact = (Signal(a) * Signal(b)).shape()
        self._modulo = result_bits is not None
        self._bits = exact.width if result_bits is None else result_bits
        self._grid = tile_pairs(a, b, self._bits)
        self._way = way and len(self._grid) > 1
        self._latency = product_latency(a, b, self._bits) + self._way
        super().__init__({"a": In(a), "b": In(b), "p": Out(unsigned(self._bits) if self._modulo else exact)})

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return len(self._grid)

    @property
    def latency(self) -> int:
        """Clocks from operands to product."""
        return self._latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        partials = []
        for number, (i, j) in enumerate(self._grid):
            tile = Multiplier(i.shape, j.shape)
            m.submodules[f"tile_{number}"] = tile
            m.d.comb += [tile.a.eq(i.of(self.a)), tile.b.eq(j.of(self.b))]
            partials.append(Partial(tile.p, i.low + j.low))
        if self._way:
            # DSP blocks stand in columns of their own: the way to an adder and through it is too long for a clock.
            partials = [
                Partial(delayed(m, partial.value, 1, name=f"partial_{number}"), partial.low)
                for number, partial in enumerate(partials)
            ]
        partials.sort(key=lambda partial: partial.low)
        level = 0
        while len(partials) > 1:
            level += 1
            pairs = [partials[k : k + 2] for k in range(0, len(partials), 2)]
            partials = [self._sum(m, pair, name=f"sum_{level}_{k}") for k, pair in enumerate(pairs)]
        m.d.comb += self.p.eq(partials[0].value)
        return m

    def _sum(self, m: Module, pair: list[Partial], *, name: str) -> Partial:
        """One register stage: the sum of two partials, or the delay of a lone one."""
        first = pair[0]
        if len(pair) == 1:
            return Partial(delayed(m, first.value, 1, name=name), first.low)
        # The low bits of the first do not meet the second: they need no adder.
        gap = pair[1].low - first.low
        high = (first.value >> gap) + pair[1].value
        exact = Shape(high.shape().width + gap, high.shape().signed)
        width = min(exact.width, self._bits - first.low)
        total = Signal(Shape(width, exact.signed and width == exact.width), name=name, reset_less=True)
        low = Signal(gap, name=f"{name}_low")
        m.d.comb += low.eq(first.value)
        m.d.sync += total.eq(Cat(low, high))
        return Partial(total, first.low)
