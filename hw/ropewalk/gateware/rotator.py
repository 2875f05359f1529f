"""The rotator: N lanes, each one pair per clock, of fixed latency; no stall ever reaches its registers.

    out0 = x cos - y sin        the quadrant swaps and negates x and y, with one bit more than they have:
    out1 = x sin + y cos        so the coefficients are never negative and -(-2**(W-1)) is exact

One rounding, then saturation: ``docs/number-contract.md``, section "Rotation".
"""

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..family import MULTIPLIER_BITS
from .component import Component
from .layouts import entry_layout
from .logic_product import LogicProduct
from .multiply import TILE_BITS, WideMultiplier, product_latency, tiles
from .primitives import delayed

Product = WideMultiplier | LogicProduct


class RotatorLane(Component):
    """Rotates one pair per clock.

    Latency: selection, negation, multiplier, sum in two parts, rounding, saturation, in either of two forms. Operands
    are negated where one bit more, which makes that exact, takes no further multiplier: as at 16-bit data, with four
    multipliers of 18 bits. Else products are: larger, but as long and as exact. So are products made in look-up tables.

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
        bits = MULTIPLIER_BITS.get(design.family, TILE_BITS)
        blocks = design.lane_multipliers == "dsp"
        fits = len(tiles(negatable, bits)) == len(tiles(design.data.shape, bits))
        operand = negatable if fits else design.data.shape
        self._product_latency = product_latency(operand, design.coefficient.shape)
        self._negates_operands = fits and blocks
        self._operand = operand if blocks else design.data.shape
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
        summands = {}
        for name, multiplier in self._products.items():
            m.submodules[name] = multiplier
            element, function = name.split("_")
            m.d.comb += multiplier.b.eq(coefficients[function])
            form = self._of_operand if self._negates_operands else self._of_product
            summands[name] = form(m, elements[element], negative[name], multiplier, name=name)
        for out, first, second in ((0, "a_cos", "b_sin"), (1, "a_sin", "b_cos")):
            rounded, saturated = self._rounded_sum(m, summands[first], summands[second], name=f"out{out}")
            m.d.comb += [(self.out0, self.out1)[out].eq(rounded), self.saturated[out].eq(saturated)]
        return m

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

    def _rounded_sum(self, m: Module, first: tuple, second: tuple, *, name: str) -> tuple[Signal, Signal]:
        """Four clocks: low part and high part of the sum of two products, rounding, saturation; and whether that
        changed it.

        The low part is what the rounding drops. Of it, the carry counts, and with rounding half up its highest bit,
        which is set from half an LSB on. A second 1 that is still to be added matters only to a low part, or to one
        below half an LSB, that is full of ones.
        """
        (p, one_p), (q, one_q) = first, second
        data_format, dropped = self._design.data, self._design.coefficient.fraction_bits
        low = Signal(dropped + 1, name=f"{name}_low", reset_less=True)
        high_p = Signal(signed(len(p) - dropped), name=f"{name}_high_p", reset_less=True)
        high_q = Signal(signed(len(q) - dropped), name=f"{name}_high_q", reset_less=True)
        high = Signal(signed(len(p) - dropped + 1), name=f"{name}_high", reset_less=True)
        goes_up = Signal(name=f"{name}_goes_up", reset_less=True)
        rounded = Signal(signed(len(high) + 1), name=f"{name}_rounded", reset_less=True)
        saturated = Signal(data_format.shape, name=f"{name}_saturated", reset_less=True)
        changed = Signal(name=f"{name}_changed", reset_less=True)
        one = delayed(m, one_q, 1, name=f"{name}_one")
        if data_format.rounding_word(data_format.fraction_bits + dropped):
            up = low[dropped - 1] | (one & low[: dropped - 1].all())
        else:
            up = one & low[:dropped].all()
        m.d.sync += [
            low.eq(p[:dropped] + q[:dropped] + one_p),
            high_p.eq(p >> dropped),
            high_q.eq(q >> dropped),
            high.eq(high_p + high_q + low[dropped]),
            goes_up.eq(up),
            rounded.eq(high + goes_up),
        ]
        # The range is left where the bits from the sign of the result on are not all alike.
        sign, above_range = rounded[-1], rounded[data_format.width - 1 : -1]
        outside = Signal(name=f"{name}_outside")
        m.d.comb += outside.eq(Mux(sign, ~above_range.all(), above_range.any()))
        m.d.sync += [
            changed.eq(outside),
            saturated.eq(Mux(outside, Mux(sign, data_format.minimum, data_format.maximum), rounded)),
        ]
        return saturated, changed


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
