"""Frames on a line of bytes: COBS, in which a byte 0 stands between frames and nowhere else."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..gateware.component import Component
from .protocol import MOST_BYTES


class Decoder(Component):
    """Takes COBS apart as the bytes come.

    Latency 0: what a byte says is there in its clock. After a fault everything to the next 0 belongs to the same
    faulty frame. Between two zeros without anything there is no frame.

    Members
    -------
    byte, taken, broken : In
        As :class:`~ropewalk.board_top.uart.Receiver` gives them.
    contents, given : Out
        In the clock of ``given``, ``contents`` is the next byte of the frame.
    length : Out
        How many bytes the frame has so far.
    whole : Out
        In this clock a frame ended, with nothing wrong with its form. ``length`` is that of the frame.
    ended : Out
        In this clock a frame ended, whole or not.
    """

    def __init__(self):
        super().__init__(
            {
                "byte": In(8),
                "taken": In(1),
                "broken": In(1),
                "contents": Out(8),
                "given": Out(1),
                "length": Out(8),
                "whole": Out(1),
                "ended": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        left = Signal(8)
        # What came before the first 0 is the rest of a frame whose beginning nobody saw.
        bad = Signal(init=1)
        first = Signal(init=1)
        with m.If(left != 0):
            m.d.comb += self.contents.eq(self.byte)
        with m.If(self.taken & self.broken):
            m.d.sync += bad.eq(1)
        with m.Elif(self.taken & (self.byte == 0)):
            m.d.comb += [self.ended.eq(1), self.whole.eq(~bad & ~first & (left == 0))]
            m.d.sync += [left.eq(0), bad.eq(0), first.eq(1), self.length.eq(0)]
        with m.Elif(self.taken):
            m.d.sync += first.eq(0)
            more = Signal()
            with m.If(left != 0):
                m.d.comb += more.eq(~bad)
                m.d.sync += left.eq(left - 1)
            with m.Else():
                # The 0 that a code stands for comes out with the next code, for there is none behind the last one.
                m.d.comb += more.eq(~bad & ~first)
                m.d.sync += left.eq(self.byte - 1)
                with m.If(self.byte == 255):
                    m.d.sync += bad.eq(1)
            with m.If(self.length == MOST_BYTES):
                m.d.sync += bad.eq(bad | more)
            with m.Else():
                m.d.comb += self.given.eq(more)
                m.d.sync += self.length.eq(self.length + more)
        return m


class Encoder(Component):
    """Sends the contents of a memory as a frame, between two zeros.

    Before each code byte it looks for the end of its block, 3 clocks per byte: a gap on the line, and no more.

    Members
    -------
    start : In
        Send a frame of ``length`` bytes, 1 to 253. Not while ``busy``.
    length : In
        Holds still until the frame is sent.
    busy : Out
        A frame is being sent.
    address : Out
        The byte that is wanted.
    data : In
        That byte, two clocks later.
    bytes : Out(stream)
        What goes onto the line.
    """

    def __init__(self):
        super().__init__(
            {
                "start": In(1),
                "length": In(8),
                "busy": Out(1),
                "address": Out(8),
                "data": In(8),
                "bytes": Out(stream.Signature(8)),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        begin = Signal(8)
        at = Signal(8)
        code = Signal(8, init=1)
        out = self.bytes
        wait = Signal(2)  # until the byte of `at` is there
        m.d.comb += [self.address.eq(at), self.busy.eq(1)]
        with m.If(wait != 0):
            m.d.sync += wait.eq(wait - 1)

        def go(to, state: str) -> None:
            m.d.sync += [at.eq(to), wait.eq(2)]
            m.next = state

        with m.FSM():
            with m.State("idle"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += [begin.eq(0), code.eq(1)]
                with m.If(self.start):
                    m.next = "open"
            with m.State("open"):
                m.d.comb += out.valid.eq(1)
                with m.If(out.ready):
                    go(begin, "look")
            with m.State("look"), m.If(wait == 0):
                with m.If((at == self.length) | (self.data == 0)):
                    m.next = "code"
                with m.Else():
                    m.d.sync += code.eq(code + 1)
                    go(at + 1, "look")
            with m.State("code"):
                m.d.comb += [out.valid.eq(1), out.payload.eq(code)]
                with m.If(out.ready):
                    go(begin, "send")
            with m.State("send"):
                m.d.comb += out.payload.eq(self.data)
                with m.If(code == 1):
                    # The end of the block: of the frame, or the 0 that the code stands for.
                    m.d.sync += begin.eq(at + 1)
                    with m.If(at == self.length):
                        m.next = "close"
                    with m.Else():
                        go(at + 1, "look")
                with m.Else():
                    m.d.comb += out.valid.eq(wait == 0)
                    with m.If(out.valid & out.ready):
                        m.d.sync += code.eq(code - 1)
                        go(at + 1, "send")
            with m.State("close"):
                m.d.comb += out.valid.eq(1)
                with m.If(out.ready):
                    m.next = "idle"
        return m
