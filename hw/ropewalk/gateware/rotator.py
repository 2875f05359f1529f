"""The rotator: N lanes, each one pair per clock, of fixed latency; no stall ever reaches its registers.

    out0 = x cos - y sin        the quadrant swaps and negates x and y, with one bit more than they have:
    out1 = x sin + y cos        so the coefficients are never negative and -(-2**(W-1)) is exact

One rounding, then saturation: ``docs/number-contract.md``, section "Rotation".
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..family import MULTIPLIER_BITS, SIGNED_SUMS
from .component import Component
from .families import FORMS, form_of
from .layouts import entry_layout
from .logic_product import LogicProduct
from .multiply import TILE_BITS, WideMultiplier, product_latency, tiles
from .pipeline import delayed
from .primitives import MultiplyAdd

Product = WideMultiplier | LogicProduct


class RotatorLane(Component):
    """Rotates one pair per clock.

    Latency: selection, negation, multiplier, sum in two parts, rounding, saturation, in one of four forms. Operands
    are negated where one bit more, which makes that exact, takes no further multiplier: as at 16-bit data, with four
    multipliers of 18 bits. Else products are: larger, but as long and as exact. So are products made in look-up tables.
    Where a family's carry chains complement what they add, the sums negate their products. Where its blocks add what
    they multiply, all but selection and saturation is theirs (:class:`.primitives.MultiplyAdd`): the smallest form.

    Members
    -------
    x, y : In
        The pair.
    entry : In
        Its row entry.
    rotated, inverse : In
        Whether the pair is rotated at all, and whether by the negated angle.
    out0, out1 : Out
        The rotated pair, :attr:`latency` clocks later.
    saturated : Out
        Which of them were saturated.
    """

    def __init__(self, design: Design):
        self._design = design
        negatable = signed(design.data.width + 1)
        # Of the family's own operands, and of those whose number says in every family how long a product takes.
        sizes = MULTIPLIER_BITS.get(design.family, TILE_BITS), TILE_BITS
        blocks = design.lane_multipliers == "dsp"
        self._half = design.data.rounding_word(design.data.fraction_bits + design.coefficient.fraction_bits)
        shapes = design.data.shape, design.coefficient.shape
        self._adds_products = blocks and FORMS[design.family].adds_products(*shapes, self._half)
        self._signs_sums = blocks and design.family in SIGNED_SUMS
        fits = all(len(tiles(negatable, bits)) == len(tiles(design.data.shape, bits)) for bits in sizes)
        operand = negatable if fits else design.data.shape
        self._product_latency = product_latency(operand, design.coefficient.shape)
        self._negates_operands = fits and blocks and not self._signs_sums and not self._adds_products
        self._operand = operand if self._negates_operands else design.data.shape
        if self._adds_products:
            self._sums = [MultiplyAdd(*shapes, constant=self._half) for _ in range(2)]
        else:
            self._products = {name: self._product() for name in ("a_cos", "b_sin", "a_sin", "b_cos")}
        element = design.data.shape
        super().__init__(
            {
                "x": In(element),
                "y": In(element),
                "entry": In(entry_layout(design)),
                "rotated": In(1),
                "inverse": In(1),
                "out0": Out(element),
                "out1": Out(element),
                "saturated": Out(2),
            }
        )

    def _product(self) -> Product:
        """A multiplier; of look-up tables it has the clock more in which a product of blocks is complemented."""
        coefficient = self._design.coefficient.shape
        if self._design.lane_multipliers == "dsp":
            return WideMultiplier(self._operand, coefficient)
        return LogicProduct(self._operand, coefficient, clocks=self._product_latency + 1)

    @property
    def latency(self) -> int:
        """Clocks from a pair to the rotated pair."""
        if self._adds_products:
            return 1 + MultiplyAdd.latency + 2
        return 2 + self._product_latency + 4

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        coefficient = self._design.coefficient

        # Selection. a and b are x and y, swapped in odd quadrants.
        quadrant = Signal(2)
        m.d.comb += quadrant.eq(Mux(self.rotated, self.entry.quadrant, 0))
        odd, upper = quadrant[0], quadrant[1]
        cosine = Signal(coefficient.shape, reset_less=True)
        sine = Signal(coefficient.shape, reset_less=True)
        m.d.sync += [
            cosine.eq(Mux(self.rotated, self.entry.cosine, coefficient.one)),
            sine.eq(Mux(self.rotated, self.entry.sine, 0)),
        ]
        elements = {"a": Mux(odd, self.y, self.x), "b": Mux(odd, self.x, self.y)}
        # The coefficients wait for operands that are negated in the clock after the selection.
        wait = int(self._negates_operands)
        coefficients = {
            "cos": delayed(m, cosine, wait, name="cosine_ready"),
            "sin": delayed(m, sine, wait, name="sine_ready"),
        }

        # Which products are subtracted. The inverse flips those that carry the sine of the whole angle: sine products
        # in even quadrants, cosine products in odd ones.
        flip_sine = self.inverse & ~odd
        flip_cosine = self.inverse & odd
        negative = {
            "a_cos": (odd ^ upper) ^ flip_cosine,
            "b_sin": ~upper ^ flip_sine,
            "a_sin": (odd ^ upper) ^ flip_sine,
            "b_cos": upper ^ flip_cosine,
        }
        if self._adds_products:
            self._sums_of_blocks(m, elements, coefficients, negative)
            return m
        summands = {}
        for name, multiplier in self._products.items():
            m.submodules[name] = multiplier
            element, function = name.split("_")
            m.d.comb += multiplier.b.eq(coefficients[function])
            if self._signs_sums:
                form = self._of_sum
            else:
                form = self._of_operand if self._negates_operands else self._of_product
            summands[name] = form(m, elements[element], negative[name], multiplier, name=name)
        for out, first, second in ((0, "a_cos", "b_sin"), (1, "a_sin", "b_cos")):
            sums = self._signed_sums if self._signs_sums else self._plain_sums
            high, goes_up = sums(m, summands[first], summands[second], platform, name=f"out{out}")
            self._rounded(m, high + goes_up, out)
        return m

    def _sums_of_blocks(self, m: Module, elements: dict, coefficients: dict, negative: dict) -> None:
        """Both sums in the blocks that multiply, which add what rounds them too: a shift is left, and saturation."""
        chosen = {name: delayed(m, element, 1, name=f"{name}_chosen") for name, element in elements.items()}
        for out, first, second in ((0, "a_cos", "b_sin"), (1, "a_sin", "b_cos")):
            m.submodules[f"sum_{out}"] = both = self._sums[out]
            for number, name in enumerate((first, second)):
                element, function = name.split("_")
                a, b = ((both.a0, both.b0), (both.a1, both.b1))[number]
                m.d.comb += [
                    a.eq(chosen[element]),
                    b.eq(coefficients[function]),
                    both.negative[number].eq(delayed(m, negative[name], 1, name=f"{name}_negative")),
                ]
            self._rounded(m, both.p >> self._design.coefficient.fraction_bits, out)

    def _of_operand(self, m: Module, element: Value, negative: Value, multiplier: Product, *, name: str):
        """A product whose operand was negated, and what is still to be added to it: nothing."""
        chosen = Signal(self._design.data.shape, name=f"{name}_chosen", reset_less=True)
        negated = Signal(name=f"{name}_negated", reset_less=True)
        operand = Signal(self._operand, name=f"{name}_operand", reset_less=True)
        m.d.sync += [
            chosen.eq(element ^ negative.replicate(len(chosen))),
            negated.eq(negative),
            operand.eq(chosen + negated),
        ]
        m.d.comb += multiplier.a.eq(operand)
        return multiplier.p, Const(0)

    def _of_product(self, m: Module, element: Value, negative: Value, multiplier: Product, *, name: str):
        """The complement of a product that is to be negated, and the 1 that is still to be added to it.

        The product takes the clock that the negation of an operand would: both forms take equally long.
        """
        chosen = delayed(m, negative, 1, name=f"{name}_chosen_negated")
        m.d.comb += multiplier.a.eq(delayed(m, element, 1, name=f"{name}_chosen"))
        negated = delayed(m, chosen, self._product_latency, name=f"{name}_negated")
        one = delayed(m, negated, 1, name=f"{name}_one")
        if isinstance(multiplier, LogicProduct):
            m.d.comb += multiplier.complement.eq(chosen)
            return multiplier.p, one
        complement = Signal(signed(len(multiplier.p)), name=f"{name}_complement", reset_less=True)
        m.d.sync += complement.eq(multiplier.p ^ negated.replicate(len(complement)))
        return complement, one

    def _of_sum(self, m: Module, element: Value, negative: Value, multiplier: Product, *, name: str):
        """A product, and whether the sum is to complement it and add 1."""
        m.d.comb += multiplier.a.eq(delayed(m, element, 1, name=f"{name}_chosen"))
        return multiplier.p, delayed(m, negative, 1 + self._product_latency, name=f"{name}_negated")

    def _plain_sums(self, m: Module, first: tuple, second: tuple, platform, *, name: str):
        """Two clocks: low part and high part of the sum of two words and their ones, and whether it is rounded up."""
        (p, one_p), (q, one_q) = first, second
        low, high, high_p, high_q = self._parts(p, name=name)
        dropped = len(low) - 1
        m.d.sync += [
            low.eq(p[:dropped] + q[:dropped] + one_p),
            high_p.eq(p >> dropped),
            high_q.eq(q >> dropped),
            high.eq(high_p + high_q + low[dropped]),
        ]
        one = delayed(m, one_q, 1, name=f"{name}_one")
        half, ones = self._dropped(low)
        goes_up = Signal(name=f"{name}_goes_up", reset_less=True)
        m.d.sync += goes_up.eq(half | (one & Cat(ones).all()))
        return high, goes_up

    def _signed_sums(self, m: Module, first: tuple, second: tuple, platform, *, name: str):
        """The same of two words that are to be negated where that is said: complemented in the sum, and a one.

        It takes a clock more, which the complement of a product would take: whether all ones are dropped needs two.
        """
        (p, negates_p), (q, negates_q) = first, second
        low, high, high_p, high_q = self._parts(p, name=name)
        dropped = len(low) - 1
        signs = negates_p, negates_q
        later = (
            delayed(m, negates_p, 1, name=f"{name}_p_negated"),
            delayed(m, negates_q, 1, name=f"{name}_q_negated"),
        )
        form = form_of(platform)
        low_sum = form.signed_sum(
            m, p[:dropped], q[:dropped], dropped, complements=signs, carry=negates_p, name=f"{name}_low_sum"
        )
        high_sum = form.signed_sum(
            m, high_p, high_q, len(high), complements=later, carry=low[dropped], name=f"{name}_high_sum"
        )
        m.d.sync += [
            low.eq(low_sum),
            high_p.eq(p >> dropped),
            high_q.eq(q >> dropped),
            high.eq(high_sum),
        ]
        half, ones = self._dropped(low)
        groups = [Cat(ones[first : first + 4]).all() for first in range(0, len(ones), 4)]
        kept = Signal(len(groups) + 2, name=f"{name}_kept", reset_less=True)
        goes_up = Signal(name=f"{name}_goes_up", reset_less=True)
        m.d.sync += [kept.eq(Cat(half, later[1], *groups)), goes_up.eq(kept[0] | kept[1:].all())]
        return delayed(m, high, 1, name=f"{name}_high"), goes_up

    def _dropped(self, low: Signal) -> tuple[Value, Value]:
        """Whether a sum is rounded up by its low part alone, and the bits that must be ones for a 1 more to do it.

        With rounding half up the highest bit that is dropped counts, which is set from half an LSB on; a 1 that is
        still to be added matters only below half an LSB, to ones alone.
        """
        dropped = self._design.coefficient.fraction_bits
        if self._half:
            return low[dropped - 1], low[: dropped - 1]
        return Const(0, 1), low[:dropped]

    def _parts(self, word: Value, *, name: str) -> tuple[Signal, ...]:
        """Registers for the parts of a sum of two such words, and for the high parts of those."""
        dropped = self._design.coefficient.fraction_bits
        high_bits = len(word) - dropped
        return (
            Signal(dropped + 1, name=f"{name}_low", reset_less=True),
            Signal(signed(high_bits + 1), name=f"{name}_high", reset_less=True),
            Signal(signed(high_bits), name=f"{name}_high_p", reset_less=True),
            Signal(signed(high_bits), name=f"{name}_high_q", reset_less=True),
        )

    def _rounded(self, m: Module, whole: Value, out: int) -> None:
        """Two clocks: the rounded sum, saturation; and whether that changed it."""
        data_format, name = self._design.data, f"out{out}"
        rounded = Signal(signed(len(whole)), name=f"{name}_rounded", reset_less=True)
        saturated = Signal(data_format.shape, name=f"{name}_saturated", reset_less=True)
        changed = Signal(name=f"{name}_changed", reset_less=True)
        m.d.sync += rounded.eq(whole)
        # The range is left where the bits from the sign of the result on are not all alike.
        sign, above_range = rounded[-1], rounded[data_format.width - 1 : -1]
        outside = Signal(name=f"{name}_outside")
        m.d.comb += outside.eq(Mux(sign, ~above_range.all(), above_range.any()))
        m.d.sync += [
            changed.eq(outside),
            saturated.eq(Mux(outside, Mux(sign, data_format.minimum, data_format.maximum), rounded)),
        ]
        m.d.comb += [(self.out0, self.out1)[out].eq(saturated), self.saturated[out].eq(changed)]


class Rotator(Component):
    """All lanes of a beat.

    Members
    -------
    elements, entries, rotated, inverse : In
        A beat and its row entries.
    out : Out
        The rotated elements, :attr:`latency` clocks later.
    saturated : Out
        Which of them were saturated.
    """

    def __init__(self, design: Design):
        self._design = design
        self._lanes = [RotatorLane(design) for _ in range(design.lanes)]
        elements = data.ArrayLayout(design.data.shape, design.elements)
        super().__init__(
            {
                "elements": In(elements),
                "entries": In(data.ArrayLayout(entry_layout(design), design.lanes)),
                "rotated": In(design.lanes),
                "inverse": In(1),
                "out": Out(elements),
                "saturated": Out(design.elements),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a beat to the rotated beat."""
        return self._lanes[0].latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        for number, lane in enumerate(self._lanes):
            m.submodules[f"lane_{number}"] = lane
            m.d.comb += [
                lane.x.eq(self.elements[2 * number]),
                lane.y.eq(self.elements[2 * number + 1]),
                lane.entry.eq(self.entries[number]),
                lane.rotated.eq(self.rotated[number]),
                lane.inverse.eq(self.inverse),
                self.out[2 * number].eq(lane.out0),
                self.out[2 * number + 1].eq(lane.out1),
                self.saturated[2 * number : 2 * number + 2].eq(lane.saturated),
            ]
        return m
