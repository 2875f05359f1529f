"""Slope times distance, exact, in a pipeline of one result per clock."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Shape, Signal, Value, signed, unsigned
from amaranth.lib.wiring import In, Out

from ..component import Component
from ..multiply import TILE_BITS, Tile, tiles
from ..pipeline import delayed
from ..primitives import Multiplier


@dataclass(frozen=True, eq=False)
class Summand:
    """A summand: ``value * 2 ** low``."""

    value: Value
    low: int

    @property
    def end(self) -> int:
        """The place above its highest bit."""
        return self.low + len(self.value)


class SlopeProduct(Component):
    """The exact product of an unsigned word of more than 18 bits and a signed one of 19 to 36.

    Latency :attr:`latency` clocks. Four multipliers where the slope has 36 bits or fewer, and where it has one or two
    more, which are added by themselves; six to 54 bits. Products that do not overlap are one summand, so two levels of
    adders do.

    Members
    -------
    slope, distance : In
        The operands.
    product : Out
        Their product, :attr:`latency` clocks later.
    """

    latency = Multiplier.latency + 2

    def __init__(self, slope_bits: int, distance_bits: int):
        self._spare = slope_bits % TILE_BITS if slope_bits > 2 * TILE_BITS and slope_bits % TILE_BITS <= 2 else 0
        self._multiplied = slope_bits - self._spare
        self._slope_tiles = tiles(unsigned(self._multiplied))
        self._distance_tiles = tiles(signed(distance_bits))
        super().__init__(
            {
                "slope": In(slope_bits),
                "distance": In(signed(distance_bits)),
                "product": Out(signed(slope_bits + distance_bits)),
            }
        )

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return len(self._slope_tiles) * len(self._distance_tiles)

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        summands = []
        for i, slope in enumerate(self._slope_tiles):
            for j, distance in enumerate(self._distance_tiles):
                summands.append(self._tile(m, slope, distance, name=f"tile_{i}_{j}"))
        if self._spare:
            summands.append(self._top(m))
        level = 0
        summands = _joined(m, summands)
        while len(summands) > 1:
            level += 1
            pairs = [summands[k : k + 2] for k in range(0, len(summands), 2)]
            summands = [self._sum(m, pair, name=f"sum_{level}_{k}") for k, pair in enumerate(pairs)]
        result = summands[0]
        late = delayed(m, result.value, self.latency - Multiplier.latency - level, name="late")
        m.d.comb += self.product.eq(late << result.low)
        return m

    def _tile(self, m: Module, slope: Tile, distance: Tile, *, name: str) -> Summand:
        tile = Multiplier(slope.shape, distance.shape)
        m.submodules[name] = tile
        m.d.comb += [tile.a.eq(slope.of(self.slope)), tile.b.eq(distance.of(self.distance))]
        return Summand(tile.p, slope.low + distance.low)

    def _top(self, m: Module) -> Summand:
        """What the one or two topmost bits of the slope add, as late as the multipliers' products."""
        parts = []
        distance = delayed(m, self.distance, 1, name="top_distance")
        for place in range(self._spare):
            part = Signal(self.distance.shape(), name=f"top_part_{place}", reset_less=True)
            absent = delayed(m, ~self.slope[self._multiplied + place], 1, name=f"absent_{place}")
            # A synchronous reset of the register, which costs no logic.
            m.d.sync += part.eq(distance)
            with m.If(absent):
                m.d.sync += part.eq(0)
            parts.append(part << place)
        total = Signal(signed(len(self.distance) + self._spare), name="top_sum", reset_less=True)
        m.d.sync += total.eq(sum(parts[1:], parts[0]))
        return Summand(delayed(m, total, Multiplier.latency - 3, name="top"), self._multiplied)

    def _sum(self, m: Module, pair: list[Summand], *, name: str) -> Summand:
        """One register stage: the sum of two summands, or the delay of a lone one."""
        if len(pair) == 1:
            return Summand(delayed(m, pair[0].value, 1, name=name), pair[0].low)
        first, second = sorted(pair, key=lambda summand: summand.low)
        # The low bits of the first do not meet the second: they need no adder.
        gap = second.low - first.low
        high = (first.value >> gap) + second.value
        total = Signal(Shape(len(high) + gap, True), name=name, reset_less=True)
        low = Signal(gap, name=f"{name}_low")
        m.d.comb += low.eq(first.value)
        m.d.sync += total.eq(Cat(low, high))
        return Summand(total, first.low)


def _joined(m: Module, summands: list[Summand]) -> list[Summand]:
    """Summands that do not overlap, made one; ordered so that neighbours begin close to each other."""
    waiting = sorted(summands, key=lambda summand: summand.low)
    done: list[Summand] = []
    while waiting:
        one = waiting.pop(0)
        while not one.value.shape().signed:
            above = next((other for other in waiting if other.low >= one.end), None)
            if above is None:
                break
            waiting.remove(above)
            shape = Shape(above.end - one.low, above.value.shape().signed)
            joined = Signal(shape, name=f"joined_{one.low}")
            m.d.comb += joined.eq(Cat(one.value, Signal(above.low - one.end), above.value))
            one = Summand(joined, one.low)
        done.append(one)
    return [*done[1:], done[0]]
