"""Products in look-up tables and carry chains, for lanes without multiplier blocks.

A row for each bit of one operand: the other operand, or nothing. Rows are summed by pairs in a tree of adders. Where a
carry chain has a look-up table of four inputs before each bit, as on ECP5, two rows are gated and added in one
(:meth:`.families.form.Form.gated_sum`), and the complement that a lane may ask for comes with the last sum.

Cost on ECP5 for an operand of 8 bits and one of 18: about 160 TRELLIS_COMB.
"""

from amaranth.hdl import Cat, Module, Mux, Shape, Signal
from amaranth.lib.wiring import In, Out

from .component import Component
from .families import form_of
from .families.form import Form
from .multiply import Partial
from .pipeline import delayed


class LogicProduct(Component):
    """The product of two words, or its complement, which is -1 minus the product.

    Latency is whatever ``clocks`` it is given, one product per clock. With as many as the tree has levels each level
    has a clock of its own; of more, the operands wait the rest; with fewer, the first levels share one.

    Parameters
    ----------
    a, b
        Shapes of the operands: there is a row for each bit of ``a``, of at least 3; ``b`` has no sign.
    clocks
        Clocks from operands to product.

    Members
    -------
    a, b : In
        The operands.
    complement : In
        Whether the complement comes out.
    p : Out
        The product or its complement, ``clocks`` clocks later.
    """

    def __init__(self, a: Shape, b: Shape, *, clocks: int):
        if b.signed or a.width < 3:
            raise ValueError(f"the rows of a product are words without a sign, and three at least: not {a} x {b}")
        self.latency = clocks
        self._exact = (Signal(a) * Signal(b)).shape()
        super().__init__({"a": In(a), "b": In(b), "complement": In(1), "p": Out(self._exact)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        form = form_of(platform)
        levels = (len(self.a) - 1).bit_length()
        spare = max(0, self.latency - levels)
        together = max(0, levels - self.latency)
        a, b = delayed(m, self.a, spare, name="a_waits"), delayed(m, self.b, spare, name="b_waits")
        complement = delayed(m, self.complement, self.latency - 1, name="complement_waits")

        # Rows by pairs from the top, whose sign is the operand's. The lowest may be left over.
        partials = [Partial(Mux(a[0], b, 0), 0)] if len(a) % 2 else []
        for low in range(len(a) % 2, len(a), 2):
            negative = self.a.shape().signed and low + 2 == len(a)
            rows = Signal(Shape(len(b) + 2, negative), name=f"rows_{low}")
            m.d.comb += rows.eq(form.gated_sum(m, b, a[low], a[low + 1], negative=negative, name=rows.name))
            partials.append(Partial(rows, low))
        for level in range(1, levels + 1):
            if level > 1:
                pairs = [partials[k : k + 2] for k in range(0, len(partials), 2)]
                asked = complement if level == levels else None
                partials = [
                    self._sum(m, form, pair, asked, name=f"sum_{level}_{number}") for number, pair in enumerate(pairs)
                ]
            if level > together:
                partials = [
                    Partial(delayed(m, partial.value, 1, name=f"level_{level}_{number}"), partial.low)
                    for number, partial in enumerate(partials)
                ]
        m.d.comb += self.p.eq(partials[0].value)
        return m

    def _sum(self, m: Module, form: Form, pair: list[Partial], complement: Signal | None, *, name: str) -> Partial:
        """The sum of two partials, or its complement; a lone one as it is."""
        if len(pair) == 1:
            return pair[0]
        first, second = pair
        gap = second.low - first.low
        # The low bits of the first do not meet the second: they need no adder.
        low, high = first.value[:gap], first.value >> gap
        exact = (high + second.value).shape()
        bits = min(exact.width, self._exact.width - second.low)
        signed = exact.signed and bits <= exact.width
        total = Signal(Shape(gap + bits, signed), name=name)
        high_sum = form.sum_of(m, high, second.value, bits, complement=complement, name=name)
        low_sum = low if complement is None else low ^ complement.replicate(gap)
        m.d.comb += total.eq(Cat(Cat(low_sum)[:gap], high_sum))
        return Partial(total, first.low)
