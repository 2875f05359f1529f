"""Carry chains of an ECP5: CCU2C, two bits each, which add what their look-up tables make of four inputs a bit.

A bit of a chain has a table of its inputs A, B, C, D, which says whether it hands on the carry below it, and one of A
and B alone, which says whether it makes one where it does not. So of two summands the first may be any function of A
and B, the second any of all four that is 0 where C and D are: two gated rows, or two words and a complement, take no
logic beside the chain. Yosys, which maps an adder alone, puts such functions into look-up tables of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from amaranth.hdl import Cat, Const, Instance, Module, Signal, Value

BITS = 2
"""Bits of a chain in a cell."""


@dataclass(frozen=True, eq=False)
class ChainBit:
    """A bit of a chain: its two summands as functions of the inputs, and those inputs; others are 1."""

    first: Callable[[int, int], int] = lambda a, b: 0
    second: Callable[[int, int, int, int], int] = lambda a, b, c, d: 0
    inputs: Mapping[str, Value] = field(default_factory=dict)

    @property
    def table(self) -> int:
        """INIT: the sum without carry, but in the low four entries, which C and D at 0 choose, the first summand."""
        table = 0
        for entry in range(16):
            a, b, c, d = (entry >> place & 1 for place in range(4))
            first, second = self.first(a, b), self.second(a, b, c, d)
            if entry < 4 and {"C", "D"} <= set(self.inputs) and second:
                raise ValueError("the second summand must be 0 where C and D are")
            table |= (first if entry < 4 else first ^ second) << entry
        return table


def chain(m: Module, bits: list[ChainBit], carry: Value, *, name: str) -> Value:
    """The sums of ``bits``, the lowest first, with ``carry`` into the lowest.

    A cell half before them makes the carry: it does not read the pin for one, so nothing has to be led there.
    """
    entering = ChainBit(first=lambda a, b: a, second=lambda a, b, c, d: a, inputs={"A": carry})
    halves = [entering, *bits]
    halves += [ChainBit()] * (len(halves) % BITS)
    sums = Signal(len(halves), name=f"{name}_sums")
    below: dict[str, Value] = {}
    for cell in range(0, len(halves), BITS):
        pins = {
            f"i_{pin}{half}": halves[cell + half].inputs.get(pin, Const(1)) for half in range(BITS) for pin in "ABCD"
        }
        above = Signal(name=f"{name}_carry_{cell}")
        m.submodules[f"{name}_{cell}"] = Instance(
            "CCU2C",
            **{f"p_INIT{half}": Const(halves[cell + half].table, 16) for half in range(BITS)},
            **{f"p_INJECT1_{half}": "NO" for half in range(BITS)},
            **pins,
            **below,
            **{f"o_S{half}": sums[cell + half] for half in range(BITS)},
            o_COUT=above,
        )
        below = {"i_CIN": above}
    return sums[1 : 1 + len(bits)]


def gated_sum(m: Module, value: Value, first: Value, second: Value, *, negative: bool, name: str) -> Value:
    """See :meth:`.form.Form.gated_sum`. The lowest bit needs no chain."""
    bits = []
    for place in range(1, len(value) + 2):
        once = {"C": first, "D": value[place]} if place < len(value) else {}
        twice = {"A": second, "B": value[place - 1]} if place <= len(value) else {}
        bits.append(_gated(once, twice, negative=negative))
    return Cat(first & value[0], chain(m, bits, Const(int(negative), 1), name=name))


def _gated(once: dict[str, Value], twice: dict[str, Value], *, negative: bool) -> ChainBit:
    """A bit of two gated rows: the second, which may be complemented, is the first summand."""

    def row(a: int, b: int) -> int:
        return (a & b if twice else 0) ^ negative

    def other(a: int, b: int, c: int, d: int) -> int:
        return c & d if once else 0

    return ChainBit(first=row, second=other, inputs={**once, **twice})


def sum_of(m: Module, first: Value, second: Value, bits: int, *, complement: Value | None, name: str) -> Value:
    """See :meth:`.form.Form.sum_of`.

    The complement of a sum is the sum of the complements and 1.
    """
    halves = [_added(_bit(first, place), _bit(second, place), complement) for place in range(bits)]
    return chain(m, halves, Const(0, 1) if complement is None else complement, name=name)


def signed_sum(
    m: Module, first: Value, second: Value, bits: int, *, complements: tuple[Value, Value], carry: Value, name: str
) -> Value:
    """See :meth:`.form.Form.signed_sum`."""
    halves = []
    for place in range(bits):
        words = [_bit(word, place) for word in (first, second)]
        pins = {"A": words[0], "B": complements[0], "C": words[1], "D": complements[1]}
        inputs: dict[str, Value] = {pin: Const(0, 1) if value is None else value for pin, value in pins.items()}
        halves.append(ChainBit(first=lambda a, b: a ^ b, second=lambda a, b, c, d: c ^ d, inputs=inputs))
    return chain(m, [*halves, ChainBit()], carry, name=name)


def _bit(word: Value, place: int) -> Value | None:
    """A bit of a word of any length; None where that is 0."""
    if place < len(word):
        return word[place]
    return word[-1] if word.shape().signed else None


def _added(first: Value | None, second: Value | None, complement: Value | None) -> ChainBit:
    """A bit of a sum of two words, both complemented where ``complement`` is high."""
    inputs = {pin: value for pin, value in (("A", first), ("B", complement), ("C", second)) if value is not None}

    def one(a: int, b: int) -> int:
        return (a if first is not None else 0) ^ (b if complement is not None else 0)

    def other(a: int, b: int, c: int, d: int) -> int:
        return (c if second is not None else 0) ^ (b if complement is not None else 0)

    return ChainBit(first=one, second=other, inputs=inputs)
