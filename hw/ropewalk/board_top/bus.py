"""Carries out the accesses of the serial link: at the engine's register port, or at the board's own words."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..gateware.axi_lite import ADDRESS_BITS as REGISTER_BITS
from ..gateware.axi_lite import axi_lite_members
from ..gateware.component import Component
from .protocol import ADDRESS_BITS, PROTOCOL, WAIT_CLOCKS, Address


class Bus(Component):
    """One access at a time.

    Latency 2 clocks, the second for a register of the answer, and what a port takes; that is at most
    :data:`~ropewalk.board_top.protocol.WAIT_CLOCKS` at a stream.

    Parameters
    ----------
    design_word, shape_word
        What ``DESIGN`` and ``SHAPE`` read.
    registers
        Whether there are registers behind the engine's port; without them every access to them is refused here.

    Members
    -------
    start, write, address, word, done, refused, value
        As :class:`~ropewalk.board_top.link.Link` has them, seen from the other side.
    asleep : In
        The engine is in reset: no access begins.
    aw*, w*, b*, ar*, r* : AXI4-Lite
        The engine's register port.
    token, data : Out(stream)
        Words written to ``TOKEN`` and ``DATA``; one that is not taken in time is taken back, and the access refused.
    result : In(stream)
        Words that ``RESULT`` reads; where there is none, the access is refused.
    test_start : Out
        In this clock the self-test is started.
    test_state, signature_word : In
        What ``SELF_TEST`` and ``SIGNATURE`` read.
    """

    def __init__(self, *, design_word: int, shape_word: int, registers: bool = True):
        self._registers = registers
        self._constants = {
            Address.IDENTITY: PROTOCOL,
            Address.DESIGN: design_word,
            Address.SHAPE: shape_word,
        }
        super().__init__(
            {
                "start": In(1),
                "write": In(1),
                "address": In(ADDRESS_BITS),
                "word": In(32),
                "done": Out(1),
                "refused": Out(1),
                "value": Out(32),
                "asleep": In(1),
                **{name: member.flip() for name, member in axi_lite_members("").items()},
                "token": Out(stream.Signature(32)),
                "data": Out(stream.Signature(32)),
                "result": In(stream.Signature(32)),
                "test_start": Out(1),
                "test_state": In(3),
                "signature_word": In(32),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.d.comb += [
            self.awaddr.eq(self.address),
            self.araddr.eq(self.address),
            self.wdata.eq(self.word),
            self.wstrb.eq(0b1111),
            self.bready.eq(1),
            self.rready.eq(1),
            self.token.payload.eq(self.word),
            self.data.payload.eq(self.word),
        ]
        ended = Signal()
        refused = Signal()
        value = Signal(32)
        m.d.sync += [self.done.eq(ended), self.refused.eq(refused), self.value.eq(value)]
        waited = Signal(range(WAIT_CLOCKS))
        asked = Signal()
        with m.FSM():
            with m.State("idle"):
                m.d.sync += waited.eq(0)
                with m.If(self.start):
                    m.d.sync += asked.eq(1)
                with m.If(asked & ~self.asleep):
                    m.d.sync += asked.eq(0)
                    m.next = "own"
                    if self._registers:
                        with m.If(~self.address[REGISTER_BITS]):
                            m.d.sync += [self.awvalid.eq(self.write), self.wvalid.eq(self.write)]
                            m.d.sync += self.arvalid.eq(~self.write)
                            m.next = "engine"
            with m.State("engine"):
                with m.If(self.awready):
                    m.d.sync += self.awvalid.eq(0)
                with m.If(self.wready):
                    m.d.sync += self.wvalid.eq(0)
                with m.If(self.arready):
                    m.d.sync += self.arvalid.eq(0)
                m.d.comb += [
                    ended.eq(self.bvalid | self.rvalid),
                    refused.eq(Mux(self.write, self.bresp, self.rresp) != 0),
                    value.eq(self.rdata),
                ]
                with m.If(ended):
                    m.next = "idle"
            with m.State("own"):
                m.d.comb += [ended.eq(1), refused.eq(1)]
                m.d.sync += waited.eq(waited + 1)
                with m.If(self.write), m.Switch(self.address):
                    for address, words in ((Address.TOKEN, self.token), (Address.DATA, self.data)):
                        with m.Case(address):
                            late = waited == WAIT_CLOCKS - 1
                            m.d.comb += [words.valid.eq(1), ended.eq(words.ready | late), refused.eq(~words.ready)]
                    with m.Case(Address.SELF_TEST):
                        m.d.comb += [self.test_start.eq(1), refused.eq(0)]
                with m.Else(), m.Switch(self.address):
                    for address, word in self._constants.items():
                        with m.Case(address):
                            m.d.comb += [value.eq(word), refused.eq(0)]
                    with m.Case(Address.SELF_TEST):
                        m.d.comb += [value.eq(self.test_state), refused.eq(0)]
                    with m.Case(Address.SIGNATURE):
                        m.d.comb += [value.eq(self.signature_word), refused.eq(0)]
                    with m.Case(Address.RESULT):
                        result = self.result
                        m.d.comb += [value.eq(result.payload), refused.eq(~result.valid), result.ready.eq(1)]
                with m.If(ended):
                    m.next = "idle"
        return m
