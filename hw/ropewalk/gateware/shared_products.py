"""Products that share multipliers: their tiles are made one after another, over some clocks, and summed on the way."""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Module, Mux, Shape, Signal, Value, unsigned
from amaranth.lib.wiring import In, Out

from .component import Component
from .multiply import Tile, tile_pairs
from .primitives import Multiplier, delayed


@dataclass(frozen=True, kw_only=True)
class Product:
    """What is multiplied: the shapes of both operands.

    ``result_bits`` keeps only so many low bits of the product, as an unsigned word; ``None`` keeps the exact product.
    """

    a: Shape
    b: Shape
    result_bits: int | None = None

    @property
    def shape(self) -> Shape:
        """The shape of the product."""
        return (Signal(self.a) * Signal(self.b)).shape() if self.result_bits is None else unsigned(self.result_bits)

    @property
    def grid(self) -> list[tuple[Tile, Tile]]:
        """The pairs of tiles that count, those of the lowest weight first."""
        return sorted(tile_pairs(self.a, self.b, self.shape.width), key=lambda pair: pair[0].low + pair[1].low)


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """What a multiplier does in one of the clocks: the product of two tiles.

    ``low`` is its weight. ``first`` and ``last`` of a sum; ``step`` says how many low bits of the sum are final before
    this product is added: so much heavier is it than the one before.
    """

    product: str
    a: Tile
    b: Tile
    low: int
    first: bool
    last: bool
    step: int


class SharedProducts(Component):
    """Several products of operands that stay for some clocks, with as few multipliers as that takes.

    Latency :attr:`latency` clocks from ``start``; one set of operands in ``clocks`` clocks or more. With T pairs of
    tiles in all it takes ceil(T / clocks) multipliers.

    Parameters
    ----------
    products
        The products by name.
    clocks
        How long a set of operands stays, 2 or more.

    Members
    -------
    start : In
        The operands are new in this clock. They stay for this and the next ``clocks - 1`` clocks.
    {name}_a, {name}_b : In
        The operands.
    {name}_p : Out
        The product, from :attr:`latency` clocks after ``start`` on, for ``clocks`` clocks at least.
    """

    def __init__(self, products: Mapping[str, Product], *, clocks: int):
        self._products = dict(products)
        self._clocks = clocks
        pairs = [(name, i, j) for name, product in products.items() for i, j in product.grid]
        self._chains = [_turns(pairs[k : k + clocks]) for k in range(0, len(pairs), clocks)]
        members = {"start": In(1)}
        for name, product in products.items():
            members |= {f"{name}_a": In(product.a), f"{name}_b": In(product.b), f"{name}_p": Out(product.shape)}
        super().__init__(members)

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return len(self._chains)

    @property
    def latency(self) -> int:
        """Clocks from new operands to all products: the last turn, the multiplier, its sum, and the sum of sums."""
        return self._clocks - 1 + Multiplier.latency + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        idle = self._clocks
        following = Signal(range(idle + 1), init=idle)
        turn = Signal(range(idle + 1))
        m.d.comb += turn.eq(Mux(self.start, 0, following))
        m.d.sync += following.eq(Mux(turn == idle, idle, turn + 1))
        # The turn whose product the multipliers give in this clock, and whether all sums are complete.
        given = delayed(m, turn, Multiplier.latency, name="given")
        complete = delayed(m, given == idle - 1, 1, name="complete")

        sums: dict[str, list[Value]] = {name: [] for name in self._products}
        for number, chain in enumerate(self._chains):
            multiplier = Multiplier(
                _covering([one.a.shape for one in chain]), _covering([one.b.shape for one in chain])
            )
            m.submodules[f"multiplier_{number}"] = multiplier
            for port, side in ((multiplier.a, "a"), (multiplier.b, "b")):
                choices = [getattr(one, side).of(getattr(self, f"{one.product}_{side}")) for one in chain]
                m.d.comb += port.eq(Array(choices)[turn])
            for product, low, value in self._sums(m, chain, multiplier.p, given, name=f"sum_{number}"):
                sums[product].append(value << low)
        for name, parts in sums.items():
            out = getattr(self, f"{name}_p")
            result = Signal(out.shape(), name=f"{name}_result", reset_less=True)
            with m.If(complete):
                m.d.sync += result.eq(sum(parts[1:], parts[0]))
            m.d.comb += out.eq(result)
        return m

    def _sums(
        self, m: Module, chain: list[_Turn], p: Value, given: Value, *, name: str
    ) -> list[tuple[str, int, Value]]:
        """The sums of a multiplier's products: of which product they are, their weight, and their value.

        A sum is complete in the clock after its last product. The next one takes its place then, so all but one that
        is complete with the last turn are kept.
        """
        total = Signal(Shape(len(p) + len(chain).bit_length() + 1, True), name=name, reset_less=True)
        before = Signal(total.shape(), name=f"{name}_before")
        done = Signal(max(1, sum(one.step for one in chain)), name=f"{name}_done", reset_less=True)
        m.d.comb += before.eq(total)
        m.d.sync += total.eq(before + p)
        sums = []
        final = 0
        for place, one in enumerate(chain):
            with m.If(given == place):
                if one.first:
                    final = 0
                    m.d.comb += before.eq(0)
                elif one.step:
                    m.d.comb += before.eq(total >> one.step)
                    m.d.sync += done[final : final + one.step].eq(total)
            final += 0 if one.first else one.step
            if not one.last:
                continue
            value = Cat(done[:final], total).as_signed()
            if place < self._clocks - 1:
                kept = Signal(value.shape(), name=f"{name}_kept_{place}", reset_less=True)
                with m.If(given == place + 1):
                    m.d.sync += kept.eq(value)
                value = kept
            low = next(first.low for first in reversed(chain[: place + 1]) if first.first)
            sums.append((one.product, low, value))
        return sums


def _turns(pairs: list[tuple[str, Tile, Tile]]) -> list[_Turn]:
    """The turns of a multiplier that makes ``pairs`` one after another."""
    turns = []
    for place, (product, a, b) in enumerate(pairs):
        before, after = pairs[place - 1] if place else None, pairs[place + 1] if place + 1 < len(pairs) else None
        first = before is None or before[0] != product
        low = a.low + b.low
        turns.append(
            _Turn(
                product=product,
                a=a,
                b=b,
                low=low,
                first=first,
                last=after is None or after[0] != product,
                step=0 if before is None or first else low - before[1].low - before[2].low,
            )
        )
    return turns


def _covering(shapes: list[Shape]) -> Shape:
    """A shape that holds every word of ``shapes``."""
    if not any(shape.signed for shape in shapes):
        return unsigned(max(shape.width for shape in shapes))
    return Shape(max(shape.width + (not shape.signed) for shape in shapes), True)
