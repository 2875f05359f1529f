"""The emitted top of an ALiBi unit: the engine behind AXI4-Stream and AXI4-Lite ports (``docs/alibi.md``)."""

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.alibi import AlibiDesign
from ..axi_lite import NoRegisters, axi_lite_members
from ..component import Component
from ..emptying import emptied
from .engine import LOADER_MEMBERS, AlibiEngine
from .layouts import descriptor_layout
from .registers import AlibiRegisters


class AlibiPorts(Component):
    """An ALiBi unit behind the ports of the emitted top, in the ``sync`` domain.

    Members
    -------
    s_axis_*, m_axis_* : AXI4-Stream
        Scores in and out: a beat is ``lanes`` scores, each sign-extended into a container of 8, 16 or 32 bits.
    s_axis_token_* : AXI4-Stream
        Row descriptors.
    s_axil_* : AXI4-Lite
        Registers.
    """

    def __init__(self, design: AlibiDesign):
        self._design = design
        self._engine = AlibiEngine(design)
        octets = design.beat_bytes
        super().__init__(
            {
                "s_axis_tdata": In(8 * octets),
                "s_axis_tkeep": In(octets),
                "s_axis_tid": In(8),
                "s_axis_tlast": In(1),
                "s_axis_tvalid": In(1),
                "s_axis_tready": Out(1),
                "m_axis_tdata": Out(8 * octets),
                "m_axis_tkeep": Out(octets),
                "m_axis_tid": Out(8),
                "m_axis_tuser": Out(1),
                "m_axis_tlast": Out(1),
                "m_axis_tvalid": Out(1),
                "m_axis_tready": In(1),
                "s_axis_token_tdata": In(descriptor_layout().size),
                "s_axis_token_tvalid": In(1),
                "s_axis_token_tready": Out(1),
                **axi_lite_members("s_axil_"),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting."""
        return self._engine.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        engine = self._engine
        # Nothing is taken in reset, or it would be lost; and nothing is offered.
        clear, awake = Signal(), Signal()
        if design.registers:
            m.submodules.engine = ResetInserter(clear)(engine)
            m.submodules.registers = registers = AlibiRegisters(design)
            leaving = ~engine.result.valid | self.m_axis_tready
            emptied(m, registers.soft_reset, registers.flush, leaving, clear=clear, awake=awake)
            m.d.comb += [engine.mode.eq(registers.mode), registers.events.eq(engine.events)]
            for name in LOADER_MEMBERS:
                flow = engine.signature.members[name].flow
                outside, inside = getattr(registers, name), getattr(engine, name)
                m.d.comb += outside.eq(inside) if flow == Out else inside.eq(outside)
        else:
            m.submodules.engine = engine
            m.submodules.registers = registers = NoRegisters()
            m.d.sync += awake.eq(1)
            m.d.comb += engine.mode.eq(design.mode)

        container = design.container_bits
        arrival = engine.packet.payload
        result = engine.result.payload
        for lane in range(design.lanes):
            place = lane * container
            m.d.comb += [
                arrival.scores[lane].eq(self.s_axis_tdata[place : place + design.data_width]),
                self.m_axis_tdata[place : place + container].eq(result.scores[lane]),
            ]
        side = result.side
        m.d.comb += [
            arrival.keep.eq(self.s_axis_tkeep),
            arrival.tag.eq(self.s_axis_tid),
            arrival.last.eq(self.s_axis_tlast),
            engine.awake.eq(awake),
            engine.packet.valid.eq(self.s_axis_tvalid),
            self.s_axis_tready.eq(engine.packet.ready),
            self.m_axis_tkeep.eq(Cat(side.keep[lane].replicate(container // 8) for lane in range(design.lanes))),
            self.m_axis_tid.eq(side.tag),
            self.m_axis_tuser.eq(side.error),
            self.m_axis_tlast.eq(side.last),
            self.m_axis_tvalid.eq(engine.result.valid & ~clear),
            engine.result.ready.eq(self.m_axis_tready),
            engine.descriptor.payload.eq(data.View(descriptor_layout(), self.s_axis_token_tdata)),
            engine.descriptor.valid.eq(self.s_axis_token_tvalid),
            self.s_axis_token_tready.eq(engine.descriptor.ready),
        ]
        for name, member in axi_lite_members("").items():
            outside, inside = getattr(self, f"s_axil_{name}"), getattr(registers, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        return m


class AlibiTop(Component):
    """The emitted top: :class:`AlibiPorts` with a clock and a reset.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    """

    def __init__(self, design: AlibiDesign):
        self._ports = AlibiPorts(design)
        super().__init__({"aclk": In(1), "aresetn": In(1), **self._ports.signature.members})

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting."""
        return self._ports.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.ports = self._ports
        for name, member in self._ports.signature.members.items():
            outside, inside = getattr(self, name), getattr(self._ports, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        return m
