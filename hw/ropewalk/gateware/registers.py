"""The AXI4-Lite port and the registers behind it, as ``registers.rdl`` describes them.

A write is answered one clock after its address and data were taken, a read two clocks after its address. Reading what
is only written, and writing what is only read, answers SLVERR as an unmapped address does.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from .. import __version__
from ..design import Design
from ..design_checks import MAX_HEADS
from .axi_lite import OKAY, SLVERR, axi_lite_members
from .component import Component
from .engine import LOADER_MEMBERS, event_layout
from .register_map import Register, register_map
from .slot_store import SlotStore

COUNTERS = {
    "tokens": "token",
    "beats": "beat",
    "input_stalls": "input_stall",
    "output_stalls": "output_stall",
    "saturations": "saturated",
    "position_errors": "position_error",
    "slot_errors": "slot_error",
    "framing_errors": "framing_error",
}
"""Which event each counter counts."""

HEADS = ("query_heads", "key_heads", "value_heads")
FULL_WORDS = ("load_begin", "load_data", "load_commit")
PAIRINGS = ("interleaved", "half", "paired", "both")
"""The codes of `features`."""
IDENTITY = int.from_bytes(b"ROPE", "little")


class Registers(Component):
    """All registers of a rotary engine.

    Members
    -------
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The port.
    heads, offset, settings_changed, soft_reset, flush : Out
        What the engine follows.
    events : In
        What it counts.
    begin .. crc_value
        To the slot store: see :class:`~ropewalk.gateware.slot_store.SlotStore`.
    """

    def __init__(self, design: Design):
        self._design = design
        members = SlotStore.members(design)
        super().__init__(
            {
                **axi_lite_members(""),
                "heads": Out(data.ArrayLayout(8, 3)),
                "offset": Out(data.ArrayLayout(signed(32), design.axes)),
                "settings_changed": Out(1),
                "soft_reset": Out(1),
                "flush": Out(1),
                "events": In(event_layout(design)),
                **{name: members[name].flip() for name in LOADER_MEMBERS},
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        registers = register_map()
        written = self._write_port(m, registers)
        counts = self._counters(m, written)
        sticky = self._status(m, written)
        self._settings(m, written)
        m.d.comb += [
            self.soft_reset.eq(written["control"] & self.wstrb[0] & self.wdata[0]),
            self.flush.eq(written["control"] & self.wstrb[0] & self.wdata[3]),
            self.begin.eq(written["load_begin"]),
            self.begin_slot.eq(self.wdata),
            self.word_valid.eq(written["load_data"]),
            self.word.eq(self.wdata),
            self.commit.eq(written["load_commit"]),
        ]
        design = self._design
        major, minor, patch = (int(part) for part in __version__.split("."))
        values = {
            "identity": IDENTITY,
            "version": patch | minor << 8 | major << 16,
            "widths": design.lanes | design.data_width << 8 | design.coefficient_width << 16 | design.phase_bits << 24,
            "shape": design.geometry.head_dim | MAX_HEADS << 16,
            "features": design.slots
            | design.axes << 8
            | design.clocks_per_pair << 12
            | int(design.source == "table") << 16
            | PAIRINGS.index(design.stream_pairings[0]) << 20
            | PAIRINGS.index(design.stream_pairings[1]) << 22,
            "status": sticky,
            **{name: self.heads[kind] for kind, name in enumerate(HEADS)},
            **{f"offset[{axis}]": self.offset[axis] for axis in range(design.axes)},
            "load_state": Cat(self.loading, self.busy, self.scanning, Signal(5), self.refused, Signal(5), self.words),
            **counts,
        }
        self._read_port(m, registers, values)
        return m

    def _write_port(self, m: Module, registers: dict[str, Register]) -> dict[str, Signal]:
        """Takes writes; a strobe per register that was written in this clock."""
        take = Signal()
        fits = Signal()
        accepted = Signal()
        m.d.comb += [
            take.eq(self.awvalid & self.wvalid & ~self.bvalid),
            self.awready.eq(take),
            self.wready.eq(take),
        ]
        written = {}
        for name, register in registers.items():
            if not register.writable or (name.startswith("offset") and self._axis(name) >= self._design.axes):
                continue
            written[name] = Signal(name=f"write_{name.replace('[', '_').replace(']', '')}")
            full = name in FULL_WORDS or name.startswith("offset")
            here = self.awaddr == register.address
            allowed = here & self.wstrb.all() if full else here
            if name in HEADS:
                others = [self.heads[kind] for kind, other in enumerate(HEADS) if other != name]
                allowed &= ((others[0] | others[1]) != 0) | ~self.wstrb[0] | (self.wdata[:8] != 0)
            m.d.comb += written[name].eq(take & allowed)
        m.d.comb += [
            fits.eq(Cat(written.values()).any()),
            # What the slot store refuses in the clock of the write is refused here too.
            accepted.eq(fits & ~self.refusal),
        ]
        with m.If(take):
            m.d.sync += [self.bvalid.eq(1), self.bresp.eq(Mux(accepted, OKAY, SLVERR))]
        with m.Elif(self.bready):
            m.d.sync += self.bvalid.eq(0)
        return written

    def _read_port(self, m: Module, registers: dict[str, Register], values: dict[str, object]) -> None:
        """Answers reads from ``values``, and the CRCs from the slot store."""
        slots = self._design.slots
        crcs = registers["geometry_crc[0]"].address
        address = Signal(len(self.araddr), reset_less=True)
        looking = Signal()
        m.d.comb += [
            self.arready.eq(~looking & ~self.rvalid),
            self.crc_slot.eq(self.araddr[2:]),
        ]
        m.d.sync += looking.eq(self.arvalid & self.arready)
        with m.If(self.arready):
            m.d.sync += address.eq(self.araddr)
        with m.If(looking):
            m.d.sync += [self.rvalid.eq(1), self.rdata.eq(0), self.rresp.eq(SLVERR)]
            with m.Switch(address):
                for name, value in values.items():
                    with m.Case(registers[name].address):
                        m.d.sync += [self.rdata.eq(value), self.rresp.eq(OKAY)]
            with m.If((address >= crcs) & (address < crcs + 4 * slots) & (address[:2] == 0)):
                m.d.sync += [self.rdata.eq(self.crc_value), self.rresp.eq(OKAY)]
        with m.Elif(self.rready):
            m.d.sync += self.rvalid.eq(0)

    def _counters(self, m: Module, written: dict[str, Signal]) -> dict[str, Signal]:
        """Counts events; the registers show the counts as of the last snapshot."""
        shown = {}
        snapshot, clear = (written["control"] & self.wstrb[0] & self.wdata[bit] for bit in (1, 2))
        # The number of saturated elements in a clock is a sum of many bits: it is counted a clock late.
        saturated = Signal(range(self._design.elements + 1), reset_less=True)
        m.d.sync += saturated.eq(sum(self.events.saturated[1:], self.events.saturated[0]))
        for name, event in COUNTERS.items():
            step = saturated if event == "saturated" else self.events[event]
            count = Signal(32, name=f"count_{name}")
            shown[name] = Signal(32, name=f"shown_{name}")
            total = count + step
            m.d.sync += count.eq(Mux(total[32], 0xFFFFFFFF, total))
            with m.If(clear):
                m.d.sync += count.eq(0)
            with m.If(snapshot):
                m.d.sync += shown[name].eq(count)
        return shown

    def _status(self, m: Module, written: dict[str, Signal]) -> Signal:
        """Sticky bits, cleared by writing 1; an event in the same clock wins."""
        happened = Cat(
            self.events.position_error,
            self.events.slot_error,
            self.events.framing_error,
            self.events.saturated.any(),
            self.refusal,
        )
        sticky = Signal(len(happened))
        cleared = Mux(written["status"] & self.wstrb[0], self.wdata[: len(sticky)], 0)
        m.d.sync += sticky.eq(sticky & ~cleared | happened)
        return sticky

    def _settings(self, m: Module, written: dict[str, Signal]) -> None:
        """Head counts and offsets."""
        design = self._design
        heads = [Signal(8, name=name, init=count) for name, count in zip(HEADS, design.heads, strict=True)]
        offsets = [Signal(signed(32), name=f"offset_{axis}") for axis in range(design.axes)]
        for kind, (name, register) in enumerate(zip(HEADS, heads, strict=True)):
            m.d.comb += self.heads[kind].eq(register)
            with m.If(written[name] & self.wstrb[0]):
                m.d.sync += register.eq(self.wdata)
        for axis, register in enumerate(offsets):
            m.d.comb += self.offset[axis].eq(register)
            with m.If(written[f"offset[{axis}]"]):
                m.d.sync += register.eq(self.wdata)
        strobes = [strobe for name, strobe in written.items() if name in HEADS or name.startswith("offset")]
        m.d.comb += self.settings_changed.eq(Cat(strobes).any())

    @staticmethod
    def _axis(name: str) -> int:
        return int(name.removeprefix("offset[").removesuffix("]"))
