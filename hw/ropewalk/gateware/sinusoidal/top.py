"""The emitted top: the sinusoidal adder behind AXI4-Stream and AXI4-Lite ports (``docs/sinusoidal.md``)."""

from amaranth.hdl import Module, ResetInserter, Signal

from ...designs.sinusoidal import SinusoidalDesign
from ..axi_lite import axi_lite_members
from ..component import Component
from ..emptying import emptied
from ..ports import ClockedTop, join, join_streams, stream_members
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
        super().__init__(
            {
                **stream_members(beat=beat, user=1, descriptor=descriptor_layout().size, keep=design.has_keep),
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
        clear, awake, stop = Signal(), Signal(), Signal()
        m.d.sync += awake.eq(~stop)
        m.submodules.engine = ResetInserter(clear)(engine)
        m.submodules.registers = registers = Registers(design, engine.store)

        leaving = ~self.m_axis_tvalid | self.m_axis_tready
        emptied(m, registers.soft_reset, registers.flush, leaving, clear=clear, stop=stop)
        m.d.comb += [engine.offset.eq(registers.offset), registers.events.eq(engine.events)]
        join(m, LOADER_MEMBERS, outside=registers, inside=engine)
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


class SinusoidalTop(ClockedTop):
    """The emitted top: :class:`SinusoidalPorts` with a clock and a reset."""

    def __init__(self, design: SinusoidalDesign):
        self._ports = SinusoidalPorts(design)
        super().__init__(self._ports)

    @property
    def latency(self) -> int:
        """Clocks from a descriptor to the first encoded beat of an idle engine whose data are waiting."""
        return self._ports.engine.latency

    @property
    def memory_bits(self) -> int:
        """Bits of the queues that hold encodings."""
        return self._ports.engine.memory_bits
