"""The adder: elements plus what is added to them, saturated."""

from amaranth.hdl import Module, Mux, Shape, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.row_design import RowDesign
from ..component import Component


class RowAdder(Component):
    """``elements + addends`` in the elements' format; the addends have been rounded to its LSB already.

    Latency 3 clocks: operands, sum, saturation. One beat per clock.

    Parameters
    ----------
    design
        The unit.
    addend
        The shape of what is added to an element.

    Members
    -------
    elements, addends : In
        The beat and what is added to it.
    out : Out
        The sums.
    saturated : Out
        A bit per element that was saturated.
    """

    latency = 3

    def __init__(self, design: RowDesign, addend: Shape):
        self._design = design
        self._addend = addend
        elements = data.ArrayLayout(design.data.shape, design.lanes)
        super().__init__(
            {
                "elements": In(elements),
                "addends": In(data.ArrayLayout(addend, design.lanes)),
                "out": Out(elements),
                "saturated": Out(design.lanes),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        fmt = self._design.data
        width = max(fmt.width, self._addend.width) + 1
        for lane in range(self._design.lanes):
            element = Signal(fmt.shape, name=f"element_{lane}", reset_less=True)
            addend = Signal(self._addend, name=f"addend_{lane}", reset_less=True)
            total = Signal(Shape(width, signed=True), name=f"sum_{lane}", reset_less=True)
            result = Signal(fmt.shape, name=f"result_{lane}", reset_less=True)
            clipped = Signal(name=f"clipped_{lane}", reset_less=True)
            # It fits where all bits above the element's are its sign.
            above = total[fmt.width - 1 :]
            out_of_range = above.any() & ~above.all()
            m.d.sync += [
                element.eq(self.elements[lane]),
                addend.eq(self.addends[lane]),
                total.eq(element + addend),
                result.eq(Mux(out_of_range, Mux(total[-1], fmt.minimum, fmt.maximum), total[: fmt.width].as_signed())),
                clipped.eq(out_of_range),
            ]
            m.d.comb += [self.out[lane].eq(result), self.saturated[lane].eq(clipped)]
        return m
