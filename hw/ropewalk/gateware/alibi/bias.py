"""The arithmetic of the ALiBi unit: the biases of a beat, and their sum with the scores. ``docs/alibi.md``.

    clock  1 key  2 distance, slope  3-7 product  .. lanes  .. rounding  .. sum  .. .. saturation

A beat's first key is measured and multiplied with the slope; the other lanes add the slope once, twice, ..., by a tree
of adders. There is one multiplication per beat and none per lane, and nothing is kept from beat to beat, so a row may
begin in every clock.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.alibi import DISTANCE_BITS, PRODUCT_DISTANCE_BITS, AlibiDesign
from ...tables.slopes import SLOPE_FRACTION_BITS
from ..component import Component
from ..primitives import delayed
from .layouts import index_bits, row_layout
from .product import SlopeProduct

HALF = SLOPE_FRACTION_BITS - 1
"""The place of the bit that stands for half an LSB."""

SATURATION_CLOCKS = 2
"""Clocks that clipping a sum takes."""


class BiasAdder(Component):
    """Adds their biases to the scores of a beat.

    Latency :attr:`latency` clocks, one beat per clock. It never stalls.

    Members
    -------
    scores, index, row : In
        The beat, its number in its row, and the row.
    slope : In
        The row's slope, one clock after the beat.
    result : Out
        The scores with their biases, :attr:`latency` clocks later.
    saturated : Out
        Which of them were clipped.
    """

    def __init__(self, design: AlibiDesign):
        self._design = design
        self._product = SlopeProduct(design.slope_bits, PRODUCT_DISTANCE_BITS)
        scores = data.ArrayLayout(design.data.shape, design.lanes)
        super().__init__(
            {
                "scores": In(scores),
                "index": In(index_bits(design)),
                "row": In(row_layout(design)),
                "slope": In(design.slope_bits),
                "result": Out(scores),
                "saturated": Out(design.lanes),
            }
        )

    @property
    def multipliers(self) -> int:
        """DSP blocks in all."""
        return self._product.multipliers

    @property
    def latency(self) -> int:
        """Clocks from a beat to its result: its key, the product, the lanes, rounding, sum, saturation."""
        return 1 + self._product.latency + self._design.lane_bits + 2 + SATURATION_CLOCKS

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.product = product = self._product
        lanes = range(design.lanes)

        # The beat's first key, then its distances: from the origin, for the bias, and to the query.
        key = Signal(signed(PRODUCT_DISTANCE_BITS), reset_less=True)
        origin = Signal(DISTANCE_BITS, reset_less=True)
        query = Signal(DISTANCE_BITS, reset_less=True)
        row_flags = Cat(self.row.causal, self.row.symmetric, self.row.error)
        m.d.sync += [
            key.eq(self.row.first + (self.index << design.lane_bits)),
            origin.eq(self.row.origin),
            query.eq(self.row.query),
        ]
        m.d.comb += [product.distance.eq(key - origin), product.slope.eq(self.slope)]
        flags = self._flags(m, key, query, delayed(m, row_flags, 3, name="row_flags"))
        flags_age = 4

        # The product, and whether it saturates every score by itself.
        bias_shape = signed(SLOPE_FRACTION_BITS + design.bias_bits)
        first = Signal(bias_shape)
        exact = product.product
        below_at = SLOPE_FRACTION_BITS + design.bias_bits - 1
        far = exact[below_at:-1]
        below = (far ^ exact[-1].replicate(len(far))).any()
        above = below | exact[SLOPE_FRACTION_BITS + design.data_width : below_at].any()
        m.d.comb += first.eq(exact)
        slope = delayed(m, self.slope, product.latency, name="slope")
        biases = self._lanes(m, first, slope, bias_shape)
        age = 1 + product.latency + design.lane_bits
        force = Cat(~exact[-1] & above, exact[-1] & below)
        high, low = delayed(m, force, design.lane_bits, name="force")
        flags = data.View(flags_layout(design), delayed(m, flags, age - flags_age, name="flags"))

        # The bias, mirrored behind the query where it must be, without its fraction; what the fraction rounds to.
        scores = delayed(m, self.scores, age + 1, name="scores")
        for lane in lanes:
            bias, mirrored, nothing, fill = biases[lane], flags.mirrored[lane], flags.nothing[lane], flags.fill[lane]
            whole = Signal(signed(design.bias_bits), name=f"whole_{lane}", reset_less=True)
            carry, to_high, to_low = (
                Signal(name=f"{name}_{lane}", reset_less=True) for name in ("carry", "to_high", "to_low")
            )
            # -x rounds up to the next integer but where x lies above a half: docs/alibi.md, "Rounding".
            upwards = Mux(mirrored, ~bias[HALF] | (bias[:HALF] == 0), bias[HALF])
            bits = bias[SLOPE_FRACTION_BITS:] ^ mirrored.replicate(design.bias_bits)
            m.d.sync += [
                whole.eq(bits & (~nothing).replicate(design.bias_bits)),
                carry.eq(upwards & ~nothing),
                to_high.eq(Mux(mirrored, low, high) & ~nothing & ~fill),
                to_low.eq(Mux(mirrored, high, low) & ~nothing | fill),
            ]
            score = data.View(self.scores.shape(), scores)[lane]
            self._add(m, lane, score, whole, carry, to_high, to_low, delayed(m, fill, 1, name=f"fill_{lane}"))
        return m

    def _flags(self, m: Module, key: Signal, query: Signal, row_flags: Signal) -> Value:
        """Per lane, three clocks after ``key``: mirrored behind the query, without a bias, filled.

        ``row_flags`` are the row's own, two clocks after ``key``.
        """
        design = self._design
        split = design.lane_bits
        to_query = Signal(signed(PRODUCT_DISTANCE_BITS), reset_less=True)
        before = Signal(design.lanes, reset_less=True)
        m.d.sync += [
            to_query.eq(query - key),
            before.eq(Cat(_is_negative(key, lane, split) for lane in range(design.lanes))),
        ]
        after = Signal(design.lanes, reset_less=True)
        m.d.sync += after.eq(Cat(_falls_below(to_query, lane, split) for lane in range(design.lanes)))
        padding = delayed(m, before, 1, name="padding")
        causal, symmetric, error = row_flags
        flags = Signal(flags_layout(design), reset_less=True)
        # Synchronous resets of the registers, which cost no logic.
        m.d.sync += [
            flags.mirrored.eq(after),
            flags.nothing.eq(padding | error.replicate(design.lanes)),
            flags.fill.eq(after),
        ]
        with m.If(~symmetric):
            m.d.sync += flags.mirrored.eq(0)
        with m.If(~causal | error):
            m.d.sync += flags.fill.eq(0)
        return flags.as_value()

    def _lanes(self, m: Module, first: Signal, slope: Signal, shape) -> list[Signal]:
        """The bias of each lane: that of the first, and ``lane`` times the slope more; a level of adders per bit."""
        biases = [first]
        for level in range(self._design.lane_bits):
            further = []
            for bias in biases:
                lane = len(biases) + len(further)
                total = Signal(shape, name=f"bias_{level}_{lane}", reset_less=True)
                m.d.sync += total.eq(bias + (slope << level))
                further.append(total)
            biases = [delayed(m, one, 1, name=f"bias_{level}_{lane}") for lane, one in enumerate(biases)] + further
            slope = delayed(m, slope, 1, name=f"slope_{level}")
        return biases

    def _add(
        self, m: Module, lane: int, score, whole: Signal, carry: Signal, to_high: Signal, to_low: Signal, fill: Signal
    ) -> None:
        """The sum of one lane, and its saturation."""
        fmt = self._design.data
        # One more bit below takes the carry into the adder.
        both = Cat(1, score).as_signed() + Cat(carry, whole).as_signed()
        total = Signal(signed(max(fmt.width, len(whole)) + 1), name=f"total_{lane}", reset_less=True)
        high, low, filled = (delayed(m, bit, 1, name=n + f"_{lane}") for bit, n in
                             ((to_high, "forced_high"), (to_low, "forced_low"), (fill, "filled")))  # fmt: skip
        m.d.sync += total.eq(both >> 1)
        over, up, down = (Signal(name=f"{name}_{lane}") for name in ("over", "up", "down"))
        top = total[fmt.width - 1 :]
        m.d.comb += [
            over.eq(top.any() & ~top.all()),
            up.eq(high | (~low & over & ~total[-1])),
            down.eq(low | (~high & over & total[-1])),
        ]
        # Clipped by the synchronous set and reset of registers, first upwards, then downwards: that costs no logic, if
        # a register starts with what it is set to.
        raised = Signal(fmt.shape, name=f"raised_{lane}", init=fmt.maximum, reset_less=True)
        lowered = Signal(fmt.shape, name=f"lowered_{lane}", init=fmt.minimum, reset_less=True)
        m.d.sync += [raised.eq(total), lowered.eq(raised)]
        with m.If(up):
            m.d.sync += raised.eq(fmt.maximum)
        with m.If(delayed(m, down, 1, name=f"lower_{lane}")):
            m.d.sync += lowered.eq(fmt.minimum)
        m.d.comb += [
            self.result[lane].eq(lowered),
            self.saturated[lane].eq(delayed(m, (up | down) & ~filled, SATURATION_CLOCKS, name=f"saturated_{lane}")),
        ]


def flags_layout(design: AlibiDesign) -> data.StructLayout:
    """What is special about each lane of a beat."""
    return data.StructLayout({"mirrored": design.lanes, "nothing": design.lanes, "fill": design.lanes})


def _is_negative(key: Signal, lane: int, split: int):
    """Whether ``key + lane`` is below 0, for a lane of ``split`` bits: without an adder."""
    near = key[split:].all() & (key[:split] + lane >= 1 << split)
    return key[-1] & ~near


def _falls_below(distance: Signal, lane: int, split: int):
    """Whether ``distance - lane`` is below 0."""
    near = (distance[split:] == 0) & (distance[:split] < lane)
    return distance[-1] | near
