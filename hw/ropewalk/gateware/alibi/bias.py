"""The arithmetic of the ALiBi unit: the biases of a beat, and their sum with the scores. ``docs/alibi.md``.

    clock  1 key  2 distance, slope  3-7 product  .. lanes  .. rounding  .. sum  .. .. saturation

What a clock shows here is in registers at its end: the DSP blocks' own operand registers are the third.

A beat's first key is measured and multiplied with the slope; the other lanes add the slope once, twice, ..., by a tree
of adders. There is one multiplication per beat and none per lane, and nothing is kept from beat to beat, so a row may
begin in every clock.
"""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.alibi import DISTANCE_BITS, PRODUCT_DISTANCE_BITS, AlibiDesign
from ...tables.slopes import SLOPE_FRACTION_BITS
from ..component import Component
from ..pipeline import delayed
from .layouts import index_bits, row_layout
from .product import SlopeProduct

HALF = SLOPE_FRACTION_BITS - 1
"""The place of the bit that stands for half an LSB."""

SATURATION_CLOCKS = 2
"""Clocks that clipping a sum takes."""

GATHERED = 8
"""Bits of which two levels of logic say whether any is 1, or other than a sign."""


class Rounding(NamedTuple):
    """A bias is rounded upwards if ``half``, or if ``low`` and ``high``."""

    half: Value
    low: Value
    high: Value


class BiasAdder(Component):
    """Adds their biases to the scores of a beat.

    Latency :attr:`latency` clocks, one beat per clock. It never stalls.

    Members
    -------
    scores, index, row : In
        The beat, its number in its row, and the row.
    slope : In
        The row's slope, two clocks after the beat.
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
        """Clocks from a beat to its result: key, distance, the product, the lanes, rounding, sum, saturation."""
        return 2 + self._product.latency + self._design.lane_bits + 2 + SATURATION_CLOCKS

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.product = product = self._product
        lanes = range(design.lanes)

        # The beat's first key, then its distances: from the origin, for the bias, and to the query.
        key = Signal(signed(PRODUCT_DISTANCE_BITS), reset_less=True)
        distance = Signal(signed(PRODUCT_DISTANCE_BITS), reset_less=True)
        origin = Signal(DISTANCE_BITS, reset_less=True)
        query = Signal(DISTANCE_BITS, reset_less=True)
        row_flags = Cat(self.row.causal, self.row.symmetric, self.row.error)
        m.d.sync += [
            key.eq(self.row.first + (self.index << design.lane_bits)),
            origin.eq(self.row.origin),
            query.eq(self.row.query),
            distance.eq(key - origin),
        ]
        m.d.comb += [product.distance.eq(distance), product.slope.eq(self.slope)]
        flags = self._flags(m, key, query, delayed(m, row_flags, 5, name="row_flags"))
        flags_age = 6

        # The product, and then the lanes.
        bias_shape = signed(SLOPE_FRACTION_BITS + design.bias_bits)
        first = Signal(bias_shape)
        m.d.comb += first.eq(product.product)
        slope = delayed(m, self.slope, product.latency, name="slope")
        biases = self._lanes(m, first, slope, bias_shape)
        age = 2 + product.latency + design.lane_bits
        flags = data.View(flags_layout(design), delayed(m, flags, age - flags_age, name="flags"))
        later = data.View(flags_layout(design), delayed(m, flags, 1, name="flags_later"))
        high, low = delayed(m, self._forces(m, product.product), design.lane_bits, name="force")

        scores = data.View(self.scores.shape(), delayed(m, self.scores, age + 1, name="scores"))
        for lane in lanes:
            whole, up = self._whole(m, lane, biases[lane], flags.mirrored[lane], flags.nothing[lane])
            mirrored, nothing, fill = later.mirrored[lane], later.nothing[lane], later.fill[lane]
            to_high, to_low, filled = (
                Signal(name=f"{name}_{lane}", reset_less=True) for name in ("to_high", "to_low", "filled")
            )
            m.d.sync += [
                to_high.eq(Mux(mirrored, low, high) & ~nothing & ~fill),
                to_low.eq(Mux(mirrored, high, low) & ~nothing | fill),
                filled.eq(fill),
            ]
            self._add(m, lane, scores[lane], whole, up, to_high, to_low, filled)
        return m

    def _forces(self, m: Module, product: Value) -> Value:
        """Whether a product saturates every score by itself, upwards and downwards: one clock later."""
        design = self._design
        negative = product[-1]
        below_at = SLOPE_FRACTION_BITS + design.bias_bits - 1
        far = product[below_at:-1] ^ negative.replicate(len(product) - 1 - below_at)
        near = product[SLOPE_FRACTION_BITS + design.data_width : below_at]
        is_negative = delayed(m, negative, 1, name="product_negative")
        is_far, is_near = _any_later(m, far, name="far"), _any_later(m, near, name="near")
        return Cat(~is_negative & (is_far | is_near), is_negative & is_far)

    def _whole(self, m: Module, lane: int, bias: Signal, mirrored: Value, nothing: Value) -> tuple[Signal, Rounding]:
        """The bias of a lane, one clock later, mirrored where it must be, without its fraction; how that is rounded."""
        whole = Signal(signed(self._design.bias_bits), name=f"whole_{lane}", reset_less=True)
        half, nothing_low, nothing_high = (
            Signal(name=f"{name}_{lane}", reset_less=True) for name in ("half", "nothing_low", "nothing_high")
        )
        # -x rounds up to the next integer but where x lies above a half: docs/alibi.md, "Rounding".
        middle = HALF // 2
        m.d.sync += [
            whole.eq(bias[SLOPE_FRACTION_BITS:] ^ mirrored.replicate(len(whole))),
            half.eq(bias[HALF] ^ mirrored),
            nothing_low.eq(mirrored & (bias[:middle] == 0)),
            nothing_high.eq(bias[middle:HALF] == 0),
        ]
        # Synchronous resets of the registers, which cost no logic.
        with m.If(nothing):
            m.d.sync += [whole.eq(0), half.eq(0), nothing_low.eq(0)]
        return whole, Rounding(half, nothing_low, nothing_high)

    def _flags(self, m: Module, key: Signal, query: Signal, row_flags: Signal) -> Value:
        """Per lane, five clocks after ``key``: mirrored behind the query, without a bias, filled.

        ``row_flags`` are the row's own, four clocks after ``key``.
        """
        design = self._design
        split = design.lane_bits
        to_query = Signal(signed(PRODUCT_DISTANCE_BITS), reset_less=True)
        m.d.sync += to_query.eq(query - key)
        # Of both, whether they lie within a beat of 0 takes two clocks, and which lane is on which side another one.
        far_key = delayed(m, _any_later(m, ~key[split:], name="key_parts"), 1, name="far_key")
        far_query = delayed(m, _any_later(m, to_query[split:], name="query_parts"), 1, name="far_query")
        key_sign, query_sign = (
            delayed(m, value, 2, name=name) for value, name in ((key[-1], "key_sign"), (to_query[-1], "query_sign"))
        )
        key_low, query_low = (
            delayed(m, value[:split], 2, name=name) for value, name in ((key, "key_low"), (to_query, "query_low"))
        )
        before, after = (Signal(design.lanes, name=name, reset_less=True) for name in ("before", "after"))
        m.d.sync += [
            before.eq(Cat(_is_negative(key_sign, far_key, key_low, lane) for lane in range(design.lanes))),
            after.eq(Cat(_falls_below(query_sign, far_query, query_low, lane) for lane in range(design.lanes))),
        ]
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
        self, m: Module, lane: int, score, whole: Signal, up: Rounding, high: Signal, low: Signal, filled: Signal
    ) -> None:
        """The sum of one lane, and its saturation. ``high``, ``low`` and ``filled`` come with the sum."""
        fmt = self._design.data
        # Two more bits below make the carry: the lower one if both are set, the upper one if that does or the half.
        both = Cat(up.low, up.half, score).as_signed() + Cat(up.high, 1, whole).as_signed()
        total = Signal(signed(max(fmt.width, len(whole)) + 1), name=f"total_{lane}", reset_less=True)
        m.d.sync += total.eq(both >> 2)
        over, raise_it, lower_it = (Signal(name=f"{name}_{lane}") for name in ("over", "raise", "lower"))
        top = total[fmt.width - 1 :]
        m.d.comb += [
            over.eq(top.any() & ~top.all()),
            raise_it.eq(high | (~low & over & ~total[-1])),
            lower_it.eq(low | (~high & over & total[-1])),
        ]
        # Clipped by the synchronous set and reset of registers, first upwards, then downwards: that costs no logic, if
        # a register starts with what it is set to.
        raised = Signal(fmt.shape, name=f"raised_{lane}", init=fmt.maximum, reset_less=True)
        lowered = Signal(fmt.shape, name=f"lowered_{lane}", init=fmt.minimum, reset_less=True)
        m.d.sync += [raised.eq(total), lowered.eq(raised)]
        with m.If(raise_it):
            m.d.sync += raised.eq(fmt.maximum)
        with m.If(delayed(m, lower_it, 1, name=f"lower_{lane}")):
            m.d.sync += lowered.eq(fmt.minimum)
        m.d.comb += [
            self.result[lane].eq(lowered),
            self.saturated[lane].eq(
                delayed(m, (raise_it | lower_it) & ~filled, SATURATION_CLOCKS, name=f"saturated_{lane}")
            ),
        ]


def flags_layout(design: AlibiDesign) -> data.StructLayout:
    """What is special about each lane of a beat."""
    return data.StructLayout({"mirrored": design.lanes, "nothing": design.lanes, "fill": design.lanes})


def _any_later(m: Module, bits: Value, *, name: str) -> Value:
    """Whether any of ``bits`` is 1, one clock later, but for a level of logic that is left to do."""
    parts = range(0, len(bits), GATHERED)
    return delayed(m, Cat(bits[k : k + GATHERED].any() for k in parts), 1, name=name).any()


def _is_negative(sign: Value, far: Value, low: Value, lane: int):
    """Whether a key plus ``lane`` is below 0: its ``sign`` says so if it is ``far`` from -1, else ``low``."""
    return sign & (far | (low + lane < 1 << len(low)))


def _falls_below(sign: Value, far: Value, low: Value, lane: int):
    """Whether a distance less ``lane`` is below 0: its ``sign`` says so if it is ``far`` from 0, else ``low``."""
    return sign | (~far & (low < lane))
