"""The emitted top of an ALiBi unit: the engine behind AXI4-Stream and AXI4-Lite ports (``docs/alibi.md``)."""

from amaranth.hdl import Module, ResetInserter, Signal

from ...designs.alibi import AlibiDesign
from ..axi_lite import NoRegisters, axi_lite_members
from ..component import Component
from ..emptying import emptied
from ..ports import ClockedTop, join, join_streams, stream_members
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
        super().__init__(
            {
                **stream_members(beat=8 * design.beat_bytes, user=1, descriptor=descriptor_layout().size, keep=True),
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
        clear, awake, stop = Signal(), Signal(), Signal()
        m.d.sync += awake.eq(~stop)
        if design.registers:
            m.submodules.engine = ResetInserter(clear)(engine)
            m.submodules.registers = registers = AlibiRegisters(design)
            leaving = ~engine.result.valid | self.m_axis_tready
            emptied(m, registers.soft_reset, registers.flush, leaving, clear=clear, stop=stop)
            m.d.comb += [engine.mode.eq(registers.mode), registers.events.eq(engine.events)]
            join(m, LOADER_MEMBERS, outside=registers, inside=engine)
        else:
            m.submodules.engine = engine
            m.submodules.registers = registers = NoRegisters()
            m.d.comb += engine.mode.eq(design.mode)

        join(m, axi_lite_members(""), outside=self, inside=registers, prefix="s_axil_")
        # The engine itself takes nothing unless it is awake.
        m.d.comb += engine.awake.eq(awake)
        join_streams(
            m,
            self,
            engine,
            data_width=design.data_width,
            container_bits=design.container_bits,
            clear=clear,
            elements="scores",
        )
        return m


class AlibiTop(ClockedTop):
    """The emitted top: :class:`AlibiPorts` with a clock and a reset."""

    def __init__(self, design: AlibiDesign):
        self._ports = AlibiPorts(design)
        super().__init__(self._ports)

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first beat of an idle unit whose data are waiting."""
        return self._ports.latency
