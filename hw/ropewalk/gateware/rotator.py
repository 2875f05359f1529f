"""The rotator: N lanes, each one pair per clock, of fixed latency; no stall ever reaches its registers.

    out0 = x cos - y sin        the quadrant swaps x and y and sets the signs in the adders,
    out1 = x sin + y cos        so the coefficients are never negative and -(-2**(W-1)) is exact

One rounding, then saturation: ``docs/number-contract.md``, section "Rotation".
"""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ..design import Design
from .component import Component
from .layouts import entry_layout
from .multiply import WideMultiplier
from .primitives import delayed


class RotatorLane(Component):
    """Rotates one pair per clock.

    Latency: selection, multiplier, sum, rounding, saturation. Four multipliers at 16-bit data.

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
        self._products = {
            name: WideMultiplier(design.data.shape, design.coefficient.shape)
            for name in ("a_cos", "b_sin", "a_sin", "b_cos")
        }
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

    @property
    def latency(self) -> int:
        """Clocks from a pair to the rotated pair."""
        return 1 + self._products["a_cos"].latency + 3

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        coefficient = design.coefficient

        # Selection. a and b are x and y, swapped in odd quadrants.
        quadrant = Signal(2)
        m.d.comb += quadrant.eq(Mux(self.rotated, self.entry.quadrant, 0))
        a = Signal(design.data.shape, reset_less=True)
        b = Signal(design.data.shape, reset_less=True)
        cosine = Signal(coefficient.shape, reset_less=True)
        sine = Signal(coefficient.shape, reset_less=True)
        m.d.sync += [
            a.eq(Mux(quadrant[0], self.y, self.x)),
            b.eq(Mux(quadrant[0], self.x, self.y)),
            cosine.eq(Mux(self.rotated, self.entry.cosine, coefficient.one)),
            sine.eq(Mux(self.rotated, self.entry.sine, 0)),
        ]

        # Which products are subtracted. The inverse flips those that carry the sine of the whole angle: sine products
        # in even quadrants, cosine products in odd ones.
        odd, upper = quadrant[0], quadrant[1]
        flip_sine = self.inverse & ~odd
        flip_cosine = self.inverse & odd
        negative = {
            "a_cos": (odd ^ upper) ^ flip_cosine,
            "b_sin": ~upper ^ flip_sine,
            "a_sin": (odd ^ upper) ^ flip_sine,
            "b_cos": upper ^ flip_cosine,
        }
        wait = self._products["a_cos"].latency + 1
        signs = {name: delayed(m, value, wait, name=f"negative_{name}") for name, value in negative.items()}

        operands = {"a_cos": (a, cosine), "b_sin": (b, sine), "a_sin": (a, sine), "b_cos": (b, cosine)}
        for name, multiplier in self._products.items():
            m.submodules[name] = multiplier
            m.d.comb += [multiplier.a.eq(operands[name][0]), multiplier.b.eq(operands[name][1])]

        for out, first, second in ((0, "a_cos", "b_sin"), (1, "a_sin", "b_cos")):
            rounded, saturated = self._rounded_sum(
                m,
                (self._products[first].p, signs[first]),
                (self._products[second].p, signs[second]),
                name=f"out{out}",
            )
            m.d.comb += [(self.out0, self.out1)[out].eq(rounded), self.saturated[out].eq(saturated)]
        return m

    def _rounded_sum(self, m: Module, first: tuple, second: tuple, *, name: str) -> tuple[Signal, Signal]:
        """Three clocks: the signed sum of two products, its rounding, its saturation; and whether that changed it.

        A product is negated by complementing it and adding 1; the second 1 rides with the rounding word, whose bit is
        always a higher one.
        """
        data_format, fraction_bits = self._design.data, self._design.coefficient.fraction_bits
        width = data_format.width + self._design.coefficient.width + 1
        total = Signal(signed(width), name=f"{name}_sum", reset_less=True)
        carry = Signal(name=f"{name}_carry", reset_less=True)
        rounded = Signal(signed(width + 1 - fraction_bits), name=f"{name}_rounded", reset_less=True)
        saturated = Signal(data_format.shape, name=f"{name}_saturated", reset_less=True)
        (p, negative_p), (q, negative_q) = first, second
        complement_p = Mux(negative_p, ~p, p)
        complement_q = Mux(negative_q, ~q, q)
        rounding = data_format.rounding_word(fraction_bits)
        m.d.sync += [
            total.eq(complement_p + complement_q + negative_p),
            carry.eq(negative_q),
            rounded.eq((total + (carry | rounding)) >> fraction_bits),
            saturated.eq(rounded),
        ]
        above, below = rounded > data_format.maximum, rounded < data_format.minimum
        changed = Signal(name=f"{name}_changed", reset_less=True)
        m.d.sync += changed.eq(above | below)
        with m.If(above):
            m.d.sync += saturated.eq(data_format.maximum)
        with m.If(below):
            m.d.sync += saturated.eq(data_format.minimum)
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
