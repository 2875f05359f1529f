"""The emitted top: the rotary engine behind AXI4-Stream and AXI4-Lite ports (``docs/ports.md``)."""

from amaranth.hdl import Module, ResetInserter, Signal

from ..design import Design
from .axi_lite import NoRegisters, axi_lite_members
from .component import Component
from .emptying import emptied
from .engine import LOADER_MEMBERS, RotaryEngine
from .layouts import descriptor_layout
from .ports import ClockedTop, join, join_streams, stream_members
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
                **stream_members(beat=beat, user=3, descriptor=descriptor_layout(design.axes).size),
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
        # Nothing is taken in reset, or it would be lost; and nothing is offered.
        clear = Signal()
        if design.registers:
            m.submodules.engine = ResetInserter(clear)(engine)
            m.submodules.registers = registers = Registers(design)
            self._connect_registers(m, registers, clear)
        else:
            m.submodules.engine = engine
            m.submodules.registers = registers = NoRegisters()
            m.d.comb += [engine.heads[kind].eq(count) for kind, count in enumerate(design.heads)]

        join(m, axi_lite_members(""), outside=self, inside=registers, prefix="s_axil_")
        join_streams(
            m,
            self,
            engine,
            data_width=design.data_width,
            container_bits=design.container_bits,
            clear=clear,
        )
        m.d.comb += [
            self.m_axis_tuser[1:].eq(engine.result.payload.side.kind),
            # What leaves an engine that is being emptied is lost with the rest: its exit need not wait for that.
            engine.result.ready.eq(self.m_axis_tready),
        ]
        return m

    def _connect_registers(self, m: Module, registers: Registers, clear: Signal) -> None:
        """Lets the engine follow the registers; ``clear`` empties it."""
        engine = self._engine
        leaving = ~self.m_axis_tvalid | self.m_axis_tready
        emptied(m, registers.soft_reset, registers.flush, leaving, clear=clear, stop=engine.stop)
        m.d.comb += [
            engine.heads.eq(registers.heads),
            engine.offset.eq(registers.offset),
            engine.settings_changed.eq(registers.settings_changed),
            registers.events.eq(engine.events),
            *(registers.events[name].eq(engine.events[name] & ~clear) for name in ("token", "beat", "output_stall")),
            # A beat that waits while the engine is emptied does not reach it.
            registers.events.input_stall.eq(self.s_axis_tvalid & ~self.s_axis_tready),
        ]
        join(m, LOADER_MEMBERS, outside=registers, inside=engine)


class RotaryTop(ClockedTop):
    """The emitted top: :class:`RotaryPorts` with a clock and a reset."""

    def __init__(self, design: Design):
        self._ports = RotaryPorts(design)
        super().__init__(self._ports)

    @property
    def latency(self) -> int:
        """Clocks, at most, from a descriptor to the first rotated beat of an idle engine whose data are waiting."""
        return self._ports.latency

    @property
    def latencies(self) -> tuple[int, ...]:
        """The same for a token of each variant, in slot order."""
        return self._ports.latencies
