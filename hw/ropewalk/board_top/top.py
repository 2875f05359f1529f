"""The top of a board: an engine, its self-test behind two lights, and the serial link (``docs/board.md``)."""

import hashlib
import json
from typing import Any

from amaranth.hdl import ClockDomain, ClockSignal, Module, Mux, ResetInserter, ResetSignal, Signal
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ..boards.pll import Pll
from ..boards.registry import Board
from ..design import Design
from ..design_json import design_to_json
from ..gateware.axi_lite import axi_lite_members
from ..gateware.component import Component
from ..gateware.top import RotaryPorts
from .bridge import Bridge, data_words
from .bus import Bus
from .link import Link
from .protocol import FAILED, PASSED
from .self_test import SelfTest
from .uart import Receiver, Transmitter


def design_word(design: Design) -> int:
    """What the board answers to the question which design it holds: 32 bits of a SHA-256 of all that describes it."""
    text = json.dumps(design_to_json(design, {}), sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def shape_word(design: Design) -> int:
    """Words of a beat on the link [7:0], axes [11:8], whether there are registers [12]."""
    return data_words(design) | design.axes << 8 | design.registers << 12


class BoardPorts(Component):
    """An engine, its self-test and the serial link, in the ``sync`` domain.

    Parameters
    ----------
    design
        The engine's.
    expected
        The signature that its self-test must come to.
    divisor
        Clocks per bit of the serial line.

    Members
    -------
    uart_rx, uart_tx
        The serial line, to the board and from it.
    led_pass, led_fail : Out
        What the last self-test came to; neither while it runs.
    """

    def __init__(self, design: Design, *, expected: int, divisor: int):
        self._design = design
        self._expected = expected
        self._divisor = divisor
        super().__init__({"uart_rx": In(1), "uart_tx": Out(1), "led_pass": Out(1), "led_fail": Out(1)})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        m.submodules.receiver = receiver = Receiver(self._divisor)
        m.submodules.transmitter = transmitter = Transmitter(self._divisor)
        m.submodules.link = link = Link()
        m.submodules.bus = bus = Bus(
            design_word=design_word(design), shape_word=shape_word(design), registers=design.registers
        )
        m.submodules.self_test = test = SelfTest(design, self._expected)
        clear = Signal()
        m.submodules.bridge = bridge = ResetInserter(clear)(Bridge(design))
        m.submodules.engine = engine = ResetInserter(clear)(RotaryPorts(design))
        # A register in between, or a decision of the link would reach every register of the engine in one clock.
        m.d.sync += clear.eq(test.clear | link.reset)
        m.d.comb += [
            receiver.line.eq(self.uart_rx),
            self.uart_tx.eq(transmitter.line),
            link.byte.eq(receiver.byte),
            link.taken.eq(receiver.taken),
            link.broken.eq(receiver.broken),
            bus.start.eq(link.start),
            bus.write.eq(link.write),
            bus.address.eq(link.address),
            bus.word.eq(link.word),
            link.done.eq(bus.done),
            link.refused.eq(bus.refused),
            link.value.eq(bus.value),
            bus.asleep.eq(clear | test.clear | link.reset),
            bus.test_state.eq(test.state),
            bus.signature_word.eq(test.signature_word),
            test.start.eq(bus.test_start),
            test.restart.eq(link.reset),
            self.led_pass.eq((test.state & PASSED).any()),
            self.led_fail.eq((test.state & FAILED).any()),
        ]
        _join(m, link.bytes, transmitter.bytes)
        pairs = ((bus.token, bridge.token), (bus.data, bridge.data), (bridge.result, bus.result))
        pairs += ((test.descriptor, bridge.test_descriptor), (test.packet, bridge.test_packet))
        for source, target in pairs:
            _join(m, source, target)
        for name, member in axi_lite_members("").items():
            inside, outside = getattr(engine, f"s_axil_{name}"), getattr(bus, name)
            m.d.comb += inside.eq(outside) if member.flow == In else outside.eq(inside)
        self._connect_streams(m, engine, test, bridge, clear)
        return m

    def _connect_streams(self, m: Module, engine: Any, test: SelfTest, bridge: Bridge, clear: Signal) -> None:
        """The engine's streams belong to the self-test while it runs, and else to the link."""
        packet = bridge.packet.payload
        m.d.comb += [
            # not while the bridge is in reset, which would lose what it takes
            bridge.testing.eq(test.running & ~clear),
            engine.s_axis_token_tdata.eq(bridge.descriptor.payload),
            engine.s_axis_token_tvalid.eq(bridge.descriptor.valid),
            bridge.descriptor.ready.eq(engine.s_axis_token_tready),
            engine.s_axis_tdata.eq(packet.data),
            engine.s_axis_tid.eq(packet.tid),
            engine.s_axis_tlast.eq(packet.last),
            engine.s_axis_tvalid.eq(bridge.packet.valid),
            bridge.packet.ready.eq(engine.s_axis_tready),
            engine.m_axis_tready.eq(Mux(test.running, test.beat.ready, bridge.beat.ready)),
            test.beat.valid.eq(engine.m_axis_tvalid & test.running),
            bridge.beat.valid.eq(engine.m_axis_tvalid & ~test.running),
        ]
        for beat in (test.beat.payload, bridge.beat.payload):
            m.d.comb += [
                beat.data.eq(engine.m_axis_tdata),
                beat.tid.eq(engine.m_axis_tid),
                beat.last.eq(engine.m_axis_tlast),
                beat.user.eq(engine.m_axis_tuser),
            ]


class BoardTop(Component):
    """The top module of a board: :class:`BoardPorts` with a clock and a button, at the levels of the board.

    Parameters
    ----------
    design, expected, divisor
        As :class:`BoardPorts` takes them; ``divisor`` in clocks of the design.
    board
        The board, whose PLL makes the design's clock where that is not the one on its pin.

    Members
    -------
    clk : In
        The clock on the board's pin.
    reset_button : In
        Resets everything but the loaded slots, and runs the self-test.
    uart_rx, uart_tx, led_pass, led_fail
        Those of :class:`BoardPorts`.

    Raises
    ------
    ValueError
        If the PLL cannot make the clock.
    """

    def __init__(self, design: Design, board: Board, *, expected: int, divisor: int):
        self._inside = BoardPorts(design, expected=expected, divisor=divisor)
        self._board = board
        self._pll = None
        if board.target_mhz != board.clock_mhz:
            self._pll = Pll(board.device.family, board.clock_mhz, board.target_mhz)
        super().__init__({"clk": In(1), "reset_button": In(1), **self._inside.signature.members})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        domain: Any = ClockDomain("sync")  # its type says nothing of clk
        m.domains.sync = domain
        # The port has the name that it would have: under that reports could not tell the two.
        domain.clk = Signal(name="design_clk")
        reset = self.reset_button ^ self._level("reset_button")
        if self._pll is None:
            m.d.comb += ClockSignal().eq(self.clk)
        else:
            m.submodules.pll = pll = self._pll
            m.d.comb += [pll.pin.eq(self.clk), ClockSignal().eq(pll.clock)]
            reset = reset | ~pll.locked
        # It begins in reset: a clock that was just made may have short periods.
        m.submodules.reset = FFSynchronizer(reset, ResetSignal(), init=1)
        m.submodules.inside = inside = self._inside
        m.d.comb += inside.uart_rx.eq(self.uart_rx ^ self._level("uart_rx"))
        for name in ("uart_tx", "led_pass", "led_fail"):
            m.d.comb += getattr(self, name).eq(getattr(inside, name) ^ self._level(name))
        return m

    def _level(self, port: str) -> int:
        """The level at which a port says no."""
        return int(port in self._board.inverted)


def _join(m: Module, source: Any, target: Any) -> None:
    """Connect two streams."""
    m.d.comb += [
        target.payload.eq(source.payload),
        target.valid.eq(source.valid),
        source.ready.eq(target.ready),
    ]
