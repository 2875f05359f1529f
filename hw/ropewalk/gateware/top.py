"""The emitted top: the rotary engine behind AXI4-Stream and AXI4-Lite ports (``docs/ports.md``)."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..design import Design
from .axi_lite import NoRegisters, axi_lite_members
from .component import Component
from .engine import LOADER_MEMBERS, RotaryEngine
from .layouts import descriptor_layout
from .registers import Registers


class RotaryPorts(Component):
    """A rotary engine behind the ports of the emitted top, in the ``sync`` domain.

    Members
    -------
    s_axis_*, m_axis_* : AXI4-Stream
        Data in and out: a beat is ``2 * lanes`` elements, each sign-extended into a container of 8, 16 or 32 bits.
    s_axis_token_* : AXI4-Stream
        Token descriptors.
    s_axil_* : AXI4-Lite
        Registers.
    """

    def __init__(self, design: Design):
        self._design = design
        self._engine = RotaryEngine(design)
        beat = design.elements * design.container_bits
        super().__init__(
            {
                "s_axis_tdata": In(beat),
                "s_axis_tid": In(8),
                "s_axis_tlast": In(1),
                "s_axis_tvalid": In(1),
                "s_axis_tready": Out(1),
                "m_axis_tdata": Out(beat),
                "m_axis_tid": Out(8),
                "m_axis_tuser": Out(3),
                "m_axis_tlast": Out(1),
                "m_axis_tvalid": Out(1),
                "m_axis_tready": In(1),
                "s_axis_token_tdata": In(descriptor_layout(design.axes).size),
                "s_axis_token_tvalid": In(1),
                "s_axis_token_tready": Out(1),
                **axi_lite_members("s_axil_"),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks, at most, from a descriptor to the first rotated beat of an idle engine whose data are waiting."""
        return self._engine.latency

    @property
    def latencies(self) -> tuple[int, ...]:
        """The same for a token of each variant, in slot order."""
        return self._engine.latencies

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        engine = self._engine
        clear = Signal()
        if design.registers:
            m.submodules.engine = ResetInserter(clear)(engine)
            m.submodules.registers = registers = Registers(design)
            self._connect_registers(m, registers, clear)
        else:
            m.submodules.engine = engine
            m.submodules.registers = registers = NoRegisters()
            m.d.comb += [engine.heads[kind].eq(count) for kind, count in enumerate(design.heads)]

        container = design.container_bits
        arrival = engine.packet.payload
        for index in range(design.elements):
            m.d.comb += [
                arrival.elements[index].eq(
                    self.s_axis_tdata[index * container : index * container + design.data_width]
                ),
                self.m_axis_tdata[index * container : (index + 1) * container].eq(
                    engine.result.payload.elements[index]
                ),
            ]
        side = engine.result.payload.side
        m.d.comb += [
            arrival.tag.eq(self.s_axis_tid),
            arrival.last.eq(self.s_axis_tlast),
            engine.packet.valid.eq(self.s_axis_tvalid),
            self.s_axis_tready.eq(engine.packet.ready),
            self.m_axis_tid.eq(side.tag),
            self.m_axis_tuser[0].eq(side.error),
            self.m_axis_tuser[1:].eq(side.kind),
            self.m_axis_tlast.eq(side.last),
            self.m_axis_tvalid.eq(engine.result.valid & ~clear),
            engine.result.ready.eq(self.m_axis_tready),
            engine.descriptor.payload.eq(data.View(descriptor_layout(design.axes), self.s_axis_token_tdata)),
            engine.descriptor.valid.eq(self.s_axis_token_tvalid),
            self.s_axis_token_tready.eq(engine.descriptor.ready),
        ]
        for name, member in axi_lite_members("").items():
            join(m, member, outside=getattr(self, f"s_axil_{name}"), inside=getattr(registers, name))
        return m

    def _connect_registers(self, m: Module, registers: Registers, clear: Signal) -> None:
        """Lets the engine follow the registers; ``clear`` empties it."""
        engine = self._engine
        # A flush waits until no beat is on offer that has not been taken.
        flushing = Signal()
        leaving = Signal()
        m.d.comb += leaving.eq(~self.m_axis_tvalid | self.m_axis_tready)
        m.d.sync += clear.eq(registers.soft_reset | (flushing & leaving))
        with m.If(registers.flush):
            m.d.sync += flushing.eq(1)
        with m.Elif(leaving | registers.soft_reset):
            m.d.sync += flushing.eq(0)
        m.d.comb += [
            # What the engine took before it is emptied would be lost.
            engine.enable.eq(~(registers.soft_reset | flushing | registers.flush)),
            engine.heads.eq(registers.heads),
            engine.offset.eq(registers.offset),
            engine.settings_changed.eq(registers.settings_changed),
        ]
        # A clock later, to be counted. A beat that waits while the engine is emptied does not reach it.
        m.d.sync += [
            registers.events.eq(engine.events),
            *(registers.events[name].eq(engine.events[name] & ~clear) for name in ("token", "beat", "output_stall")),
            registers.events.input_stall.eq(self.s_axis_tvalid & ~self.s_axis_tready),
        ]
        for name in LOADER_MEMBERS:
            join(m, engine.signature.members[name], outside=getattr(registers, name), inside=getattr(engine, name))


class RotaryTop(Component):
    """The emitted top: :class:`RotaryPorts` with a clock and a reset.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    """

    def __init__(self, design: Design):
        self._ports = RotaryPorts(design)
        super().__init__({"aclk": In(1), "aresetn": In(1), **self._ports.signature.members})

    @property
    def latency(self) -> int:
        """Clocks, at most, from a descriptor to the first rotated beat of an idle engine whose data are waiting."""
        return self._ports.latency

    @property
    def latencies(self) -> tuple[int, ...]:
        """The same for a token of each variant, in slot order."""
        return self._ports.latencies

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.ports = self._ports
        for name, member in self._ports.signature.members.items():
            join(m, member, outside=getattr(self, name), inside=getattr(self._ports, name))
        return m


def join(m: Module, member: wiring.Member, *, outside: Signal, inside: Signal) -> None:
    """Connect a port to the port of the same flow of a component inside."""
    m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
