"""The emitted top: the learned-table adder behind AXI4-Stream and AXI4-Lite ports (``docs/learned.md``)."""

from collections.abc import Mapping

import numpy as np
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib.wiring import connect

from ...designs.learned import LearnedDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..contents import RomContents
from ..emptying import emptied
from ..ports import ClockedTop, join, join_streams, stream_members
from ..units.layouts import descriptor_layout
from .engine import LearnedEngine
from .read_master import ReadMaster, axi_read_members
from .registers import LOAD_STATE, LOADING, Registers
from .table_memory import TableMemory
from .table_rows import Banks


def learned_roms(design: LearnedDesign, words: np.ndarray) -> Mapping[str, RomContents]:
    """The memories of the unit that hold something at the start: the table, where it is inside."""
    return {"rows": Banks(design).contents(words)} if design.storage == "block-ram" else {}


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
            **stream_members(beat=beat, user=1, descriptor=descriptor_layout().size, keep=design.has_keep),
            **axi_lite_members("s_axil_"),
        }
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
        clear, awake, stop = Signal(), Signal(), Signal()
        m.d.sync += awake.eq(~stop)
        m.submodules.engine = ResetInserter(clear)(engine)
        m.submodules.table = table
        m.submodules.registers = registers = Registers(design)
        leaving = ~self.m_axis_tvalid | self.m_axis_tready
        emptied(m, registers.soft_reset, registers.flush, leaving, clear=clear, stop=stop)
        m.d.comb += [
            engine.offset.eq(registers.offset),
            engine.masked_row.eq(registers.masked_row),
            registers.events.eq(engine.events),
        ]
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
            join(m, axi_read_members(design), outside=self, inside=table, prefix="m_axi_")

        join(m, axi_lite_members(""), outside=self, inside=registers, prefix="s_axil_")
        join_streams(
            m,
            self,
            engine,
            data_width=design.data_width,
            container_bits=design.container_bits,
            clear=clear,
            awake=awake,
        )
        return m


class LearnedTop(ClockedTop):
    """The emitted top: :class:`LearnedPorts` with a clock and a reset."""

    def __init__(self, design: LearnedDesign, words: np.ndarray):
        self._ports = LearnedPorts(design, words)
        super().__init__(self._ports)

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting, without memory outside."""
        return self._ports.latency
