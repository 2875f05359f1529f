"""The adder: elements plus encodings, saturated."""

from amaranth.hdl import Module, Mux, Shape, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import SinusoidalDesign
from ..component import Component


class EncodingAdder(Component):
    """``elements + encodings`` in the elements' format; the encodings have been rounded to its LSB already.

    Latency 3 clocks: operands, sum, saturation. One beat per clock.

    Members
    -------
    elements, encodings : In
        The beat and what is added to it.
    out : Out
        The sums.
    saturated : Out
        A bit per element that was saturated.
    """

    latency = 3

    def __init__(self, design: SinusoidalDesign):
        self._design = design
        elements = data.ArrayLayout(design.data.shape, design.lanes)
        super().__init__(
            {
                "elements": In(elements),
                "encodings": In(data.ArrayLayout(design.encoding.shape, design.lanes)),
                "out": Out(elements),
                "saturated": Out(design.lanes),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        fmt, encoding = self._design.data, self._design.encoding
        width = max(fmt.width, encoding.width) + 1
        for place in range(self._design.lanes):
            element = Signal(fmt.shape, name=f"element_{place}", reset_less=True)
            added = Signal(encoding.shape, name=f"encoding_{place}", reset_less=True)
            total = Signal(Shape(width, signed=True), name=f"sum_{place}", reset_less=True)
            result = Signal(fmt.shape, name=f"result_{place}", reset_less=True)
            clipped = Signal(name=f"clipped_{place}", reset_less=True)
            # It fits where all bits above the element's are its sign.
            above = total[fmt.width - 1 :]
            out_of_range = above.any() & ~above.all()
            m.d.sync += [
                element.eq(self.elements[place]),
                added.eq(self.encodings[place]),
                total.eq(element + added),
                result.eq(Mux(out_of_range, Mux(total[-1], fmt.minimum, fmt.maximum), total[: fmt.width].as_signed())),
                clipped.eq(out_of_range),
            ]
            m.d.comb += [self.out[place].eq(result), self.saturated[place].eq(clipped)]
        return m
