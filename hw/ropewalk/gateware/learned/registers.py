"""The registers of a learned-table adder, as ``registers.rdl`` in this folder describes them."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value, signed
from amaranth.lib.wiring import In, Out

from ... import __version__
from ...designs.learned import LearnedDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..ports import join
from ..register_map import register_map
from ..register_port import Counters, RegisterPort, sticky_bits
from ..units.layouts import event_layout
from .descriptor import STRIDE_BITS
from .layouts import ERRORS, place_bits
from .table_memory import NO_TABLE

UNIT = "learned"

COUNTERS = {
    "tokens": "token",
    "beats": "beat",
    "input_stalls": "input_stall",
    "output_stalls": "output_stall",
    "saturations": "saturated",
    "position_errors": "position_error",
    "read_errors": "read_error",
    "framing_errors": "framing_error",
}
"""Which event each counter counts."""

FULL_WORDS = ("offset", "masked_row", "base_low", "base_high", "row_stride", "load_begin", "load_data", "load_commit")
LOADING = ("begin", "word_valid", "commit", "word", "scan")
LOAD_STATE = {"refusal": 1, "refused": 3, "loading": 1, "scanning": 1, "crc_known": 1, "crc_value": 32, "row": 25}
"""What the registers tell a table inside, and what they show of it."""

IDENTITY = int.from_bytes(b"LEAR", "little")
NO_ROW = 0xFFFFFFFF


def has_register(design: LearnedDesign, name: str) -> bool:
    """Whether ``design`` has the register ``name`` of the map."""
    if name == "base_high":
        return design.storage == "external" and design.address_width > 32
    return name not in ("base_low", "row_stride") or design.storage == "external"


class Registers(Component):
    """All registers of a learned-table adder.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    offset, masked_row, base, stride, soft_reset, flush : Out
        What the unit follows; ``base`` and ``stride``, in beats of the bus, where the table is outside.
    events : In
        What it counts.
    begin .. row
        To the :class:`~ropewalk.gateware.learned.table_memory.TableMemory`, where the table is inside.
    """

    def __init__(self, design: LearnedDesign):
        self._design = design
        members = {
            **axi_lite_members(""),
            "offset": Out(signed(32)),
            "masked_row": Out(32),
            "soft_reset": Out(1),
            "flush": Out(1),
            "events": In(event_layout(design, *ERRORS)),
        }
        if design.storage == "external":
            members |= {"base": Out(place_bits(design)), "stride": Out(STRIDE_BITS)}
        else:
            members |= {name: Out(32 if name == "word" else 1) for name in LOADING}
            members |= {name: In(bits) for name, bits in LOAD_STATE.items()}
        super().__init__(members)

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        registers = {name: one for name, one in register_map(UNIT).items() if has_register(design, name)}
        m.submodules.port = port = RegisterPort(registers, full_words=FULL_WORDS)
        join(m, axi_lite_members(""), outside=self, inside=port)
        control = port.written.control & port.strobes[0]
        m.d.comb += [self.soft_reset.eq(control & port.word[0]), self.flush.eq(control & port.word[3])]
        load_refused, loads = self._loads(m, port, control)
        refusals = [load_refused]
        if design.storage == "external":
            refusals.append(self._outside(m, port))
        m.d.comb += port.refusal.eq(Cat(refusals).any())

        offset = Signal(signed(32), name="offset_register", init=design.geometry.row_offset)
        masked = design.geometry.masked_row
        masked_row = Signal(32, name="masked_row_register", init=NO_ROW if masked is None else masked)
        for name, register in (("offset", offset), ("masked_row", masked_row)):
            with m.If(port.written[name]):
                m.d.sync += register.eq(port.word)
            m.d.comb += [getattr(self, name).eq(register), port.values[name].eq(register)]

        events = self.events
        sticky = sticky_bits(
            m,
            [events.position_error, events.read_error, events.framing_error, events.saturated.any(), load_refused],
            Mux(port.written.status & port.strobes[0], port.word[:5], 0),
            name="status",
        )
        m.submodules.counters = counters = Counters(
            {name: design.lanes.bit_length() if event == "saturated" else 1 for name, event in COUNTERS.items()}
        )
        # The number of saturated elements in a clock is a sum of many bits: it is counted a clock late.
        saturated = Signal(range(design.lanes + 1), reset_less=True)
        m.d.sync += saturated.eq(sum(events.saturated[1:], events.saturated[0]))
        for name, event in COUNTERS.items():
            m.d.comb += [
                counters.steps[name].eq(saturated if event == "saturated" else events[event]),
                port.values[name].eq(counters.shown[name]),
            ]
        m.d.comb += [counters.snapshot.eq(control & port.word[1]), counters.clear.eq(control & port.word[2])]

        major, minor, patch = (int(part) for part in __version__.split("."))
        address_width = design.address_width if design.storage == "external" else 0
        values = {
            "identity": IDENTITY,
            "version": patch | minor << 8 | major << 16,
            "widths": design.lanes | design.data_width << 8 | design.table_width << 16 | address_width << 24,
            "scale": design.fraction_bits | (design.table_fraction_bits & 0xFF) << 8,
            "dimension": design.geometry.dimension,
            "rows": design.geometry.rows,
            "status": sticky,
            **loads,
        }
        m.d.comb += [port.values[name].eq(value) for name, value in values.items()]
        return m

    def _loads(self, m: Module, port: RegisterPort, control: Signal) -> tuple[Signal, dict[str, Value]]:
        """The load registers; whether a write of them is refused, and what they show."""
        written = port.written
        refusal = Signal(name="load_refusal")
        if self._design.storage == "external":
            refused = Signal(3)
            m.d.comb += refusal.eq(written.load_begin | written.load_data | written.load_commit)
            with m.If(refusal):
                m.d.sync += refused.eq(NO_TABLE)
            return refusal, {"load_state": refused << 8}
        m.d.comb += [
            self.begin.eq(written.load_begin),
            self.word_valid.eq(written.load_data),
            self.commit.eq(written.load_commit),
            self.word.eq(port.word),
            self.scan.eq(control & port.word[4]),
            refusal.eq(self.refusal),
        ]
        state = Cat(self.loading, self.scanning, self.crc_known, Signal(5, name="unused"), self.refused)
        return refusal, {"load_state": state, "load_row": self.row, "table_crc": self.crc_value}

    def _outside(self, m: Module, port: RegisterPort) -> Signal:
        """Base and stride; whether a write of them is refused, because it is no multiple of the bus."""
        design = self._design
        shift = design.bus_bytes.bit_length() - 1
        misfit = Signal()
        low = port.word[:shift].any() if shift else 0
        high = port.word[shift + STRIDE_BITS :].any() if shift + STRIDE_BITS < 32 else 0
        m.d.comb += misfit.eq((port.written.base_low & low) | (port.written.row_stride & (low | high)))
        base = Signal(64, name="base_register")
        stride = Signal(32, name="stride_register", init=design.row_stride)
        with m.If(port.written.base_low & ~misfit):
            m.d.sync += base[:32].eq(port.word)
        with m.If(port.written.row_stride & ~misfit):
            m.d.sync += stride.eq(port.word)
        if "base_high" in port.written.shape().members:
            with m.If(port.written.base_high):
                m.d.sync += base[32:].eq(port.word)
            m.d.comb += port.values.base_high.eq(base[32:])
        m.d.comb += [
            self.base.eq(base >> shift),
            self.stride.eq(stride >> shift),
            port.values.base_low.eq(base[:32]),
            port.values.row_stride.eq(stride),
        ]
        return misfit
