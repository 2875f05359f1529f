"""The emitted top: the learned-table adder behind AXI4-Stream and AXI4-Lite ports (``docs/learned.md``)."""

from collections.abc import Mapping

import numpy as np
from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, connect

from ...designs.learned import LearnedDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..contents import RomContents
from ..top import join
from ..units.layouts import descriptor_layout
from .engine import LearnedEngine
from .read_master import ReadMaster, axi_read_members
from .registers import LOAD_STATE, LOADING, Registers
from .table_memory import TableMemory, table_contents


def learned_roms(design: LearnedDesign, words: np.ndarray) -> Mapping[str, RomContents]:
    """The memories of the unit that hold something at the start: the table, where it is inside."""
    return {"rows": table_contents(design, words)} if design.storage == "block-ram" else {}


class LearnedPorts(Component):
    """A learned-table adder behind the ports of the emitted top, in the ``sync`` domain.

    Members
    -------
    s_axis_*, m_axis_* : AXI4-Stream
        Data in and out: a beat is ``lanes`` elements, each sign-extended into a container of 8, 16 or 32 bits; with
        TKEEP where a token ends inside a beat.
    s_axis_token_* : AXI4-Stream
        Token descriptors.
    s_axil_* : AXI4-Lite
        Registers.
    m_axi_* : AXI4, read channels
        The memory with the table, where that is outside.
    """

    def __init__(self, design: LearnedDesign, words: np.ndarray):
        self._design = design
        self._engine = LearnedEngine(design)
        self._table = TableMemory(design, words) if design.storage == "block-ram" else ReadMaster(design)
        beat = design.lanes * design.container_bits
        members = {
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
        if design.has_keep:
            members |= {"s_axis_tkeep": In(beat // 8), "m_axis_tkeep": Out(beat // 8)}
        if design.storage == "external":
            members |= {f"m_axi_{name}": member for name, member in axi_read_members(design).items()}
        super().__init__(members)

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting, without memory outside."""
        return self._engine.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        engine, table = self._engine, self._table
        # Nothing is taken in reset, or it would be lost; and nothing is offered.
        clear, awake = Signal(), Signal()
        m.submodules.engine = ResetInserter(clear)(engine)
        m.submodules.table = table
        m.submodules.registers = registers = Registers(design)
        self._follow(m, registers, clear, awake)
        if isinstance(table, TableMemory):
            m.d.comb += [
                table.valid.eq(engine.lookup),
                table.place.eq(engine.place),
                engine.grant.eq(table.grant),
                engine.words.eq(table.words),
                table.drop.eq(clear),
                *(getattr(table, name).eq(getattr(registers, name)) for name in LOADING),
                *(getattr(registers, name).eq(getattr(table, name)) for name in LOAD_STATE),
            ]
        else:
            connect(m, engine.request, table.request)
            connect(m, table.fetched, engine.fetched)
            m.d.comb += [
                table.clear.eq(clear),
                engine.base.eq(registers.base),
                engine.stride.eq(registers.stride),
            ]
            for name, member in axi_read_members(design).items():
                join(m, member, outside=getattr(self, f"m_axi_{name}"), inside=getattr(table, name))

        container = design.container_bits
        arrival = engine.packet.payload
        for index in range(design.lanes):
            low = index * container
            m.d.comb += [
                arrival.elements[index].eq(self.s_axis_tdata[low : low + design.data_width]),
                self.m_axis_tdata[low : low + container].eq(engine.result.payload.elements[index]),
            ]
        side = engine.result.payload.side
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

    def _follow(self, m: Module, registers: Registers, clear: Signal, awake: Signal) -> None:
        """Lets the engine follow the registers; ``clear`` empties it, and nothing is taken unless ``awake``."""
        engine = self._engine
        # A flush waits until no beat is on offer that has not been taken.
        flushing, leaving = Signal(), Signal()
        m.d.comb += leaving.eq(~self.m_axis_tvalid | self.m_axis_tready)
        m.d.sync += clear.eq(registers.soft_reset | (flushing & leaving))
        with m.If(registers.flush):
            m.d.sync += flushing.eq(1)
        with m.Elif(leaving | registers.soft_reset):
            m.d.sync += flushing.eq(0)
        m.d.sync += awake.eq(~(registers.soft_reset | flushing | registers.flush))
        m.d.comb += [
            engine.offset.eq(registers.offset),
            engine.masked_row.eq(registers.masked_row),
            registers.events.eq(engine.events),
        ]


class LearnedTop(Component):
    """The emitted top: :class:`LearnedPorts` with a clock and a reset.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    """

    def __init__(self, design: LearnedDesign, words: np.ndarray):
        self._ports = LearnedPorts(design, words)
        super().__init__({"aclk": In(1), "aresetn": In(1), **self._ports.signature.members})

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting, without memory outside."""
        return self._ports.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.ports = self._ports
        for name, member in self._ports.signature.members.items():
            join(m, member, outside=getattr(self, name), inside=getattr(self._ports, name))
        return m
