"""The emitted top: the sinusoidal adder behind AXI4-Stream and AXI4-Lite ports (``docs/sinusoidal.md``)."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...designs.sinusoidal import SinusoidalDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..top import join
from ..units.layouts import descriptor_layout
from .engine import LOADER_MEMBERS, SinusoidalEngine
from .registers import Registers


class SinusoidalPorts(Component):
    """A sinusoidal adder behind the ports of the emitted top, in the ``sync`` domain.

    Members
    -------
    s_axis_*, m_axis_* : AXI4-Stream
        Data in and out: a beat is ``design.lanes`` elements, each sign-extended into a container of 8, 16 or 32
        bits; with TKEEP where a row ends inside a beat.
    s_axis_token_* : AXI4-Stream
        Token descriptors.
    s_axil_* : AXI4-Lite
        Registers.
    """

    def __init__(self, design: SinusoidalDesign):
        self._design = design
        self._engine = SinusoidalEngine(design)
        beat = design.lanes * design.container_bits
        keep = {"s_axis_tkeep": In(beat // 8), "m_axis_tkeep": Out(beat // 8)} if design.has_keep else {}
        super().__init__(
            {
                **keep,
                "s_axis_tdata": In(beat),
                "s_axis_tid": In(8),
                "s_axis_tlast": In(1),
                "s_axis_tvalid": In(1),
                "s_axis_tready": Out(1),
                "m_axis_tdata": Out(beat),
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
    def engine(self) -> SinusoidalEngine:
        """The engine inside: what states latency and memory."""
        return self._engine

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        engine = self._engine
        # Nothing is taken in reset, or it would be lost; and nothing is offered.
        clear, awake = Signal(), Signal()
        m.submodules.engine = ResetInserter(clear)(engine)
        m.submodules.registers = registers = Registers(design, engine.store)

        # A flush waits until no beat is on offer that has not been taken.
        flushing, leaving = Signal(), Signal()
        m.d.comb += leaving.eq(~self.m_axis_tvalid | self.m_axis_tready)
        m.d.sync += [
            clear.eq(registers.soft_reset | (flushing & leaving)),
            awake.eq(~(registers.soft_reset | flushing | registers.flush)),
        ]
        with m.If(registers.flush):
            m.d.sync += flushing.eq(1)
        with m.Elif(leaving | registers.soft_reset):
            m.d.sync += flushing.eq(0)
        m.d.comb += [engine.offset.eq(registers.offset), registers.events.eq(engine.events)]
        for name in LOADER_MEMBERS:
            join(m, engine.signature.members[name], outside=getattr(registers, name), inside=getattr(engine, name))

        container = design.container_bits
        arrival = engine.packet.payload
        side = engine.result.payload.side
        for index in range(design.lanes):
            low = index * container
            m.d.comb += [
                arrival.elements[index].eq(self.s_axis_tdata[low : low + design.data_width]),
                self.m_axis_tdata[low : low + container].eq(engine.result.payload.elements[index]),
            ]
        if design.has_keep:
            m.d.comb += [arrival.keep.eq(self.s_axis_tkeep), self.m_axis_tkeep.eq(side.keep)]
        m.d.comb += [
            arrival.tag.eq(self.s_axis_tid),
            arrival.last.eq(self.s_axis_tlast),
            engine.packet.valid.eq(self.s_axis_tvalid & awake),
            self.s_axis_tready.eq(engine.packet.ready & awake),
            self.m_axis_tid.eq(side.tag),
            self.m_axis_tuser.eq(side.error),
            self.m_axis_tlast.eq(side.last),
            self.m_axis_tvalid.eq(engine.result.valid & ~clear),
            engine.result.ready.eq(self.m_axis_tready & ~clear),
            engine.descriptor.payload.eq(data.View(descriptor_layout(), self.s_axis_token_tdata)),
            engine.descriptor.valid.eq(self.s_axis_token_tvalid & awake),
            self.s_axis_token_tready.eq(engine.descriptor.ready & awake),
        ]
        for name, member in axi_lite_members("").items():
            join(m, member, outside=getattr(self, f"s_axil_{name}"), inside=getattr(registers, name))
        return m


class SinusoidalTop(Component):
    """The emitted top: :class:`SinusoidalPorts` with a clock and a reset.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    """

    def __init__(self, design: SinusoidalDesign):
        self._ports = SinusoidalPorts(design)
        super().__init__({"aclk": In(1), "aresetn": In(1), **self._ports.signature.members})

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first encoded beat of an idle engine whose data are waiting."""
        return self._ports.engine.latency

    @property
    def memory_bits(self) -> int:
        """Bits of the queues that hold encodings."""
        return self._ports.engine.memory_bits

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.ports = self._ports
        for name, member in self._ports.signature.members.items():
            join(m, member, outside=getattr(self, name), inside=getattr(self._ports, name))
        return m
