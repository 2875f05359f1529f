"""Products that share multipliers: their tiles are made one after another, over some clocks, and summed on the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product as combinations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Shape, Signal, Value, signed, unsigned
from amaranth.lib.wiring import In, Out

from .component import Component
from .multiply import NARROW_TILE_BITS, TILE_BITS, Tile, tiles
from .paced import Pace
from .pipeline import delayed
from .primitives import Multiplier

Bounds = tuple[int, int]
"""The least and the greatest value of a word."""


@dataclass(frozen=True, kw_only=True)
class Product:
    """What is multiplied, and what is added to it.

    Parameters
    ----------
    a, b
        The shapes of both operands.
    result_bits
        Keeps only so many low bits of the product, as an unsigned word; ``None`` keeps all of it.
    half
        ``(c + 1) * 2**half`` is added: half a unit more than ``c``, where the word that is kept of the sum begins a bit
        higher. ``None`` adds nothing.
    c
        The shape of ``c``, without a sign; ``None`` where it is 0.
    """

    a: Shape
    b: Shape
    result_bits: int | None = None
    half: int | None = None
    c: Shape | None = None

    @property
    def operands(self) -> dict[str, Shape]:
        """The operands by their names."""
        return {"a": self.a, "b": self.b} | ({} if self.c is None else {"c": self.c})

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        if self.result_bits is not None:
            return unsigned(self.result_bits)
        return _holding(_sum(self.added, _times(_bounds(self.a), _bounds(self.b))))

    @property
    def added(self) -> Bounds:
        """What is added to the product, at least and at most."""
        if self.half is None:
            return 0, 0
        low, high = (0, 0) if self.c is None else _bounds(self.c)
        return low + 1 << self.half, high + 1 << self.half

    def tiles(self, bits: int) -> list[tuple[Tile, Tile]]:
        """The pairs of tiles that count, those of the lowest weight first."""
        most = self.shape.width
        pairs = [(i, j) for i, j in combinations(_cut(self.a, bits), _cut(self.b, bits)) if i.low + j.low < most]
        return sorted(pairs, key=lambda pair: pair[0].low + pair[1].low)


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """What a multiplier does in one of the clocks: the product of two tiles.

    ``low`` is its weight. ``first`` and ``last`` of a sum; ``step`` says how many low bits of the sum are final before
    this product is added: so much heavier is it than the one before. ``begins`` says whether nothing of the product has
    been made before.
    """

    product: str
    a: Tile
    b: Tile
    low: int
    first: bool
    last: bool
    step: int
    begins: bool


class SharedProducts(Component):
    """Several products of operands that stand for some clocks, with as few multipliers as that takes.

    Latency :attr:`latency` clocks from ``start``; one set of operands in ``clocks`` clocks or more. With T pairs of
    tiles in all it takes ceil(T / ``clocks``) multipliers. Tiles have 16 bits, which every family multiplies without
    further logic, where that takes no more multipliers than 18 would.

    Parameters
    ----------
    products
        The products by name.
    clocks
        Clocks from one set of operands to the next, 2 or more.
    stands
        For how many clocks, at least, all results shall stand.

    Members
    -------
    start : In
        The operands are new in this clock.
    {name}_a, {name}_b : In
        The operands. They stand for :attr:`turns` clocks, that of ``start`` the first.
    {name}_c : In
        What is added. It stands for ``clocks`` clocks.
    {name}_p : Out
        The result, from :attr:`latency` clocks after ``start`` on.
    """

    def __init__(self, products: Mapping[str, Product], *, clocks: int, stands: int):
        self._products = dict(products)
        self._clocks = clocks
        self._stands = stands
        self._chains = min((_chains(self._products, bits, clocks) for bits in (NARROW_TILE_BITS, TILE_BITS)), key=len)
        members = {"start": In(1)}
        for name, product in products.items():
            members |= {f"{name}_{operand}": In(shape) for operand, shape in product.operands.items()}
            members[f"{name}_p"] = Out(product.shape)
        super().__init__(members)

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return len(self._chains)

    @property
    def turns(self) -> int:
        """Clocks in which there are tiles to multiply."""
        return max(map(len, self._chains))

    @property
    def latency(self) -> int:
        """Clocks from new operands to all results: the last turn, the multiplier, its sum, and the sum of sums."""
        return self.turns - 1 + Multiplier.latency + 2

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        idle = self.turns
        following = Signal(range(idle + 1), init=idle)
        turn = Signal(range(idle + 1))
        m.d.comb += turn.eq(Mux(self.start, 0, following))
        m.d.sync += following.eq(Mux(turn == idle, idle, turn + 1))
        # The turn whose product the multipliers give in this clock, and that whose sum is there.
        given = delayed(m, turn, Multiplier.latency, name="given")
        summed = delayed(m, given, 1, name="summed")

        pace = Pace(m, self.start, clocks=self._clocks, name="begun")
        sums: dict[str, list[tuple[int, int, Value]]] = {name: [] for name in self._products}
        for number, chain in enumerate(self._chains):
            multiplier = Multiplier(
                _covering([one.a.shape for one in chain]), _covering([one.b.shape for one in chain])
            )
            m.submodules[f"multiplier_{number}"] = multiplier
            for port, side in ((multiplier.a, "a"), (multiplier.b, "b")):
                choices = [(one.product, getattr(one, side)) for one in chain]
                m.d.comb += port.eq(self._chosen(choices, turn, side))
            for product, low, place, value in self._sums(m, chain, multiplier.p, given, pace, name=f"sum_{number}"):
                sums[product].append((low, place, value))
        for name, parts in sums.items():
            m.d.comb += getattr(self, f"{name}_p").eq(self._result(m, parts, summed, name))
        return m

    def _chosen(self, choices: list[tuple[str, Tile]], turn: Value, side: str) -> Value:
        """The operand of a multiplier: what is multiplied in each turn. A tile that comes again is one choice."""
        unique = list(dict.fromkeys(choices))
        tiles = [tile.of(getattr(self, f"{product}_{side}")) for product, tile in unique]
        if len(unique) == len(choices):
            return Array(tiles)[turn]
        return Array(tiles)[Array(Const(unique.index(one), range(len(unique))) for one in choices)[turn]]

    def _sums(
        self, m: Module, chain: list[_Turn], p: Value, given: Value, pace: Pace, *, name: str
    ) -> list[tuple[str, int, int, Value]]:
        """The sums of a multiplier's products: of which product they are, their weight, the turn that completes them,
        and their value, in the clock in which the sum of that turn is there.
        """
        shape = _sum_shape(chain, self._products)
        total = Signal(shape, name=name, reset_less=True)
        before = Signal(shape, name=f"{name}_before")
        # Half a unit is added by ones below it, and a carry into them.
        carry = Signal(name=f"{name}_carry", init=int(all(self._rounded(one) for one in chain)))
        done = Signal(max(1, sum(one.step for one in chain)), name=f"{name}_done", reset_less=True)
        m.d.comb += before.eq(total)
        m.d.sync += total.eq((_above(1, before) + _above(carry, p)) >> 1)
        sums = []
        final = 0
        for place, one in enumerate(chain):
            rounded = self._rounded(one)
            added = self._added(pace, one.product, place) if rounded else Const(0)
            with m.If(given == place):
                if one.first:
                    final = 0
                    m.d.comb += [carry.eq(int(rounded)), before.eq(added)]
                elif one.step:
                    m.d.comb += before.eq(total >> one.step)
                    m.d.sync += done[final : final + one.step].eq(total)
            final += 0 if one.first else one.step
            if one.last:
                low = next(first.low for first in reversed(chain[: place + 1]) if first.first)
                sums.append((one.product, low, place, _with(Cat(done[:final], total), shape)))
        return sums

    def _rounded(self, one: _Turn) -> bool:
        return one.begins and self._products[one.product].half is not None

    def _added(self, pace: Pace, name: str, place: int) -> Value:
        """What is added to a product, but for the carry, when the product of turn ``place`` is given."""
        product = self._products[name]
        assert product.half is not None
        ones = Const((1 << product.half) - 1, product.half)
        if product.c is None:
            return ones
        word = getattr(self, f"{name}_c")
        return Cat(ones, pace.carried(word, 0, place + Multiplier.latency, name=f"{name}_added"))

    def _result(self, m: Module, parts: Sequence[tuple[int, int, Value]], summed: Value, name: str) -> Value:
        """The sum of the sums of a product.

        Each is there in one clock only; all but one that is complete with the last turn are kept until then, and so is
        a result that would not stand long enough.
        """
        last = self.turns - 1
        early = self._clocks - (last - max(place for _, place, _ in parts)) < self._stands
        values = []
        for low, place, value in parts:
            if place < max(one for _, one, _ in parts):
                kept = Signal(value.shape(), name=f"{name}_kept_{place}", reset_less=True)
                with m.If(summed == place):
                    m.d.sync += kept.eq(value)
                value = kept
            values.append(value << low)
        latest = max(place for _, place, _ in parts)
        shape = self._products[name].shape
        result = Signal(shape, name=f"{name}_result", reset_less=True)
        with m.If(summed == latest):
            m.d.sync += result.eq(sum(values[1:], values[0]))
        if not early:
            return result
        later = Signal(shape, name=f"{name}_later", reset_less=True)
        with m.If(summed == last):
            m.d.sync += later.eq(result)
        return later


def _bounds(shape: Shape) -> Bounds:
    high = 1 << shape.width - shape.signed
    return (-high if shape.signed else 0), high - 1


def _sum(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], a[1] + b[1]


def _times(a: Bounds, b: Bounds) -> Bounds:
    corners = [x * y for x, y in combinations(a, b)]
    return min(corners), max(corners)


def _holding(*bounds: Bounds) -> Shape:
    """The least shape that holds all words within ``bounds``."""
    low, high = min(one[0] for one in bounds), max(one[1] for one in bounds)
    if low >= 0:
        return unsigned(high.bit_length())
    return signed(1 + max((-low - 1).bit_length(), high.bit_length()))


def _cut(shape: Shape, bits: int) -> list[Tile]:
    """Cut an operand into tiles of at most ``bits`` bits, so that one operand of that many bits holds any of them.

    A multiplier that is shared has one sign for all tiles of an operand: those below one with a sign have a bit less.
    """
    if not shape.signed or shape.width <= bits:
        return tiles(shape, bits)
    cuts = tiles(unsigned(shape.width), bits - 1)
    top = cuts[-1]
    if len(cuts) > 1 and top.shape.width == 1:
        # The sign alone goes with the tile below it: there is room for it.
        cuts.pop()
        top = Tile(cuts[-1].low, unsigned(bits))
    return [*cuts[:-1], Tile(top.low, signed(top.shape.width))]


def _chains(products: Mapping[str, Product], bits: int, clocks: int) -> list[list[_Turn]]:
    """What each multiplier does with tiles of ``bits`` bits."""
    pairs = [(name, i, j) for name, product in products.items() for i, j in product.tiles(bits)]
    seen: set[str] = set()
    return [_turns(pairs[k : k + clocks], seen) for k in range(0, len(pairs), clocks)]


def _turns(pairs: list[tuple[str, Tile, Tile]], seen: set[str]) -> list[_Turn]:
    """The turns of a multiplier that makes ``pairs`` one after another; ``seen`` are the products begun before."""
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
                begins=product not in seen,
            )
        )
        seen.add(product)
    return turns


def _sum_shape(chain: list[_Turn], products: Mapping[str, Product]) -> Shape:
    """The shape that holds every sum of a multiplier."""
    total, met = (0, 0), [(0, 0)]
    for one in chain:
        if one.begins:
            total = products[one.product].added
        elif one.first:
            total = 0, 0
        else:
            total = total[0] >> one.step, total[1] >> one.step
        # Before the carry, what is added is one less.
        met.append((total[0] - 1 if one.begins and total[0] else total[0], total[1]))
        total = _sum(total, _times(_bounds(one.a.shape), _bounds(one.b.shape)))
        met.append(total)
    return _holding(*met)


def _covering(shapes: list[Shape]) -> Shape:
    """A shape that holds every word of ``shapes``."""
    return _holding(*map(_bounds, shapes))


def _above(bit: Value | int, word: Value) -> Value:
    """``word`` with a bit below it."""
    return _with(Cat(bit, word), word.shape())


def _with(bits: Value, shape: Shape) -> Value:
    """``bits``, with a sign if ``shape`` has one."""
    return bits.as_signed() if shape.signed else bits
