"""The row generator: makes the row of a position, one pair per clock, without a table that grows with the context.

    step ROM -> position x step (modulo one turn) -> fold into an octant -> sine ROM -> first-order correction
             -> amplitude -> round, saturate

Latency is the sum of those stages (:attr:`RowGenerator.latency`); throughput is one pair per clock with no bubble
between rows. At 18-bit coefficients and 48-bit phases it takes 5 + 2 + 4 multiplier tiles and one wide ROM. The
arithmetic is that of ``docs/number-contract.md``, sections "Steps and phases" to "Amplitude".
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import AMPLITUDE, POSITION_BITS, Design
from .component import Component
from .contents import step_contents
from .layouts import entry_layout, request_layout, row_layout
from .multiply import WideMultiplier
from .pipeline import delayed
from .primitives import BlockRam, BlockRom
from .row_issue import RowIssue
from .sine import SineGenerator
from .slots import entry_address_bits, entry_bits, pair_bits


def source_members(design: Design) -> dict[str, wiring.Member]:
    """The members that every source of rows has."""
    return {
        "request": In(stream.Signature(request_layout(design))),
        "row": In(stream.Signature(row_layout(design))),
        "write": Out(1),
        "entry": Out(entry_layout(design)),
        "place": Out(range(max(2, design.geometry.head_dim // 2))),
        "last": Out(1),
        "idle": Out(1),
        "read": In(1),
        "read_address": In(entry_address_bits(design)),
        "granted": Out(1),
        "read_data": Out(entry_bits(design)),
    }


class RowGenerator(Component):
    """A source of rows.

    Members
    -------
    request, row : In stream
        Rows to make: how many pairs they have, and the rest of it, which is taken when its last pair has been read. A
        row takes as many clocks as it has pairs; the next request is taken in the last of them.
    write, entry, place, last : Out
        The entries of the rows, in order, the pair of a head that each belongs to, and whether it ends its row. Nothing
        can hold them up: the planner asks only for rows that have a bank.
    idle : Out
        No row is being read from the step memory.
    read, read_address, granted, read_data : In, In, Out, Out
        Reads a word of the step memory for a scan, two clocks after ``granted``.
    load, load_address, load_data : In
        Writes a step with its axis.
    """

    def __init__(self, design: Design):
        self._design = design
        contents = step_contents(design)
        if design.loadable:
            self._steps = BlockRam(width=contents.width, depth=contents.depth, name="steps", words=contents.words)
        else:
            self._steps = BlockRom(contents, name="steps")
        self._phase = WideMultiplier(
            unsigned(POSITION_BITS), unsigned(design.phase_bits), result_bits=design.phase_bits, way=True
        )
        self._sine = SineGenerator(design.sine, way=True)
        magnitude = unsigned(design.sine.magnitude_fraction_bits + 1)
        self._amplitude = {name: WideMultiplier(magnitude, AMPLITUDE.shape, way=True) for name in ("cosine", "sine")}
        super().__init__(
            {
                **source_members(design),
                "load": In(1),
                "load_address": In(entry_address_bits(design)),
                "load_data": In(entry_bits(design)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a request to its first entry on ``entry``."""
        return 2 + self._to_amplitude + self._amplitude["sine"].latency + 1

    @property
    def _to_amplitude(self) -> int:
        """Clocks from a pair's number to its magnitudes at the amplitude multiplier."""
        return self._steps.latency + self._phase.latency + self._sine.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        fmt = design.sine
        m.submodules.steps = self._steps
        m.submodules.phase = phase = self._phase
        if isinstance(self._steps, BlockRam):
            m.d.comb += [
                self._steps.write_enable.eq(self.load),
                self._steps.write_address.eq(self.load_address),
                self._steps.write_data.eq(self.load_data),
            ]
        m.submodules.sine = sine = self._sine

        # Issue: one pair of a row per clock, but for those in which a scan reads. Its step is read a clock later.
        m.submodules.rows = rows = RowIssue(design)
        row = self.row.payload
        pair = Signal(pair_bits(design), reset_less=True)
        begun = Signal()
        issued = Signal()
        at_last = Signal(reset_less=True)
        ends_row = Signal()
        m.d.comb += [
            rows.valid.eq(self.request.valid),
            rows.request.eq(self.request.payload),
            self.request.ready.eq(rows.ready),
            rows.read.eq(self.read),
            self.row.ready.eq(ends_row),
            self.idle.eq(~(rows.busy | issued)),
        ]
        m.d.sync += [
            begun.eq(self.request.valid & self.request.ready),
            issued.eq(rows.issue),
            at_last.eq(rows.last),
            ends_row.eq(rows.issue & rows.last),
            self.granted.eq(rows.granted),
        ]
        with m.If(begun):
            m.d.sync += pair.eq(0)
        with m.Elif(issued):
            m.d.sync += pair.eq(pair + 1)

        # The step, and the position on its axis.
        position = [
            delayed(m, row.position[axis], self._steps.latency, name=f"position_{axis}") for axis in range(design.axes)
        ]
        m.d.comb += [
            self._steps.address.eq(Mux(self.granted, self.read_address, Cat(pair, row.place))),
            self.read_data.eq(self._steps.data),
            phase.a.eq(Array(position)[self._steps.data[48:]] if design.axes > 1 else position[0]),
            phase.b.eq(self._steps.data),
            sine.phase.eq(phase.p[design.phase_bits - fmt.reduced_phase_bits :]),
        ]

        # Which clocks carry a pair, and which of those is the last of its row: index = clocks since the step was read.
        valid, last = [issued], [at_last]
        for clock in range(1, self.latency - 1):
            valid.append(Signal(name=f"valid_{clock}"))
            last.append(Signal(name=f"last_{clock}", reset_less=True))
            m.d.sync += [valid[clock].eq(valid[clock - 1]), last[clock].eq(last[clock - 1])]
        ends = [carries & ends for carries, ends in zip(valid, last, strict=True)]

        # What the row is that a pair belongs to.
        loaded = Signal()
        m.d.sync += loaded.eq(begun)
        rows_in_flight = design.row_banks
        amplitude = of_row(
            m, row.amplitude, loaded, ends[self._to_amplitude - 1], rows=rows_in_flight, name="amplitude"
        )
        start = of_row(m, row.start, loaded, ends[-3], rows=rows_in_flight, name="start")
        first = Signal(init=1)
        with m.If(valid[-2]):
            m.d.sync += [first.eq(last[-2]), self.place.eq(Mux(first, start, self.place + 1))]

        coefficient = design.coefficient
        product_fraction_bits = fmt.magnitude_fraction_bits + AMPLITUDE.fraction_bits
        dropped = product_fraction_bits - coefficient.fraction_bits
        for name, multiplier in self._amplitude.items():
            m.submodules[f"amplitude_{name}"] = multiplier
            rounded = Signal(len(multiplier.p) + 1 - dropped, name=f"rounded_{name}", reset_less=True)
            m.d.comb += [
                multiplier.a.eq(getattr(sine, name)),
                multiplier.b.eq(amplitude),
            ]
            m.d.sync += rounded.eq((multiplier.p + coefficient.rounding_word(product_fraction_bits)) >> dropped)
            limit = Signal(coefficient.shape, name=f"limit_{name}")
            with m.Switch(self.entry.quadrant):
                for quadrant, (cosine, sine_limit) in enumerate(design.magnitude_limits):
                    with m.Case(quadrant):
                        m.d.comb += limit.eq(cosine if name == "cosine" else sine_limit)
            m.d.comb += getattr(self.entry, name).eq(Mux(rounded > limit, limit, rounded))
        after_sine = self._amplitude["sine"].latency + 1
        m.d.comb += [
            self.entry.quadrant.eq(delayed(m, sine.quadrant, after_sine, name="quadrant")),
            self.write.eq(valid[-1]),
            self.last.eq(last[-1]),
        ]
        return m


def of_row(m: Module, field: Value, loaded: Value, ends: Value, *, rows: int, name: str) -> Value:
    """A field of the request that a pair belongs to, a clock behind where ``ends`` marks the last pair of each row.

    Rows are in flight at most one per bank: at most ``rows``, a power of two.
    """
    storage = m.submodules[f"rows_{name}"] = Memory(shape=len(field), depth=rows, init=[])
    write, read = storage.write_port(), storage.read_port()
    m.d.comb += [write.data.eq(field), write.en.eq(loaded)]
    with m.If(loaded):
        m.d.sync += write.addr.eq(write.addr + 1)
    with m.If(ends):
        m.d.sync += read.addr.eq(read.addr + 1)
    return read.data
