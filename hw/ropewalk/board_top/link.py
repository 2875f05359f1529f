"""The board's end of the serial link: takes requests, has them carried out, sends the answers (``docs/board.md``)."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ..gateware.component import Component
from ..gateware.primitives import BlockRam
from .crc import RESIDUE, Crc
from .framing import Decoder, Encoder
from .protocol import ADDRESS_BITS, ANSWER, CRC_BYTES, LEAST_BYTES, MOST_WORDS, Code, Command


class Link(Component):
    """Carries out one request at a time; one that comes again is not carried out again: its answer is.

    What comes while a request is carried out or answered is left out, to the next byte 0 behind it. A request takes 13
    clocks per byte and what its accesses take. Contents stand in one block RAM of 512 bytes.

    Members
    -------
    byte, taken, broken : In
        As :class:`~ropewalk.board_top.uart.Receiver` gives them.
    bytes : Out(stream)
        Answers, for the line.
    reset : Out
        In this clock the host asks for all that is under way to be dropped.
    start : Out
        In this clock an access begins.
    write, address, word : Out
        The access; they hold still until it is ``done``.
    done, refused, value : In
        It is, in this clock; it was refused; what was read.
    """

    def __init__(self):
        super().__init__(
            {
                "byte": In(8),
                "taken": In(1),
                "broken": In(1),
                "bytes": Out(stream.Signature(8)),
                "reset": Out(1),
                "start": Out(1),
                "write": Out(1),
                "address": Out(ADDRESS_BITS),
                "word": Out(32),
                "done": In(1),
                "refused": In(1),
                "value": In(32),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        # The request stands in the lower half, the answer in the upper.
        m.submodules.memory = memory = BlockRam(width=8, depth=512, name="link")
        m.submodules.decoder = decoder = Decoder()
        m.submodules.encoder = encoder = Encoder()
        m.submodules.crc = crc = Crc()
        listening = Signal()
        sending = Signal()
        put = Signal()
        putting = Signal(8)  # the next byte of the answer
        invert = Signal()  # the CRC takes it inverted
        at = Signal(8)  # the next byte of the request
        end = Signal(8)  # behind its last one
        size = Signal(8)  # bytes of the answer
        m.d.comb += [
            decoder.byte.eq(self.byte),
            decoder.taken.eq(self.taken),
            decoder.broken.eq(self.broken | ~listening),
            memory.write_enable.eq(Mux(listening, decoder.given, put)),
            memory.write_address.eq(Mux(listening, decoder.length, Cat(size, Const(1, 1)))),
            memory.write_data.eq(Mux(listening, decoder.contents, putting)),
            memory.address.eq(Mux(sending, Cat(encoder.address, Const(1, 1)), at)),
            crc.byte.eq(memory.write_data ^ invert.replicate(8)),
            crc.taken.eq(memory.write_enable),
            encoder.data.eq(memory.data),
            encoder.length.eq(size),
            self.bytes.payload.eq(encoder.bytes.payload),
            self.bytes.valid.eq(encoder.bytes.valid),
            encoder.bytes.ready.eq(self.bytes.ready),
        ]
        wait = Signal(2)  # until the byte of `at` is there
        m.d.sync += wait.eq(Mux(wait == 0, 0, wait - 1))
        with m.If(put):
            m.d.sync += size.eq(size + 1)
        byte, there = memory.data, Signal()
        m.d.comb += there.eq(wait == 0)

        number = Signal(8, reset_less=True)
        last = Signal(8, reset_less=True)
        known = Signal()
        command = Signal(8, reset_less=True)
        word = Signal(32, reset_less=True)
        address = Signal(16, reset_less=True)
        piece = Signal(2)
        carried = Signal(8)
        code = Signal(Code)
        m.d.comb += [
            self.address.eq(address),
            self.word.eq(word),
            self.write.eq(command == Command.WRITE),
        ]

        def move_on() -> None:
            m.d.sync += [at.eq(at + 1), wait.eq(2)]

        def give(value: Value, *, inverted: bool = False) -> None:
            m.d.comb += [put.eq(1), putting.eq(value), invert.eq(inverted)]

        def finish(what: Code) -> None:
            m.d.sync += code.eq(what)
            m.next = "count out"

        with m.FSM():
            with m.State("listen"):
                m.d.comb += [listening.eq(1), crc.clear.eq(decoder.ended)]
                m.d.sync += [at.eq(0), wait.eq(2), end.eq(decoder.length - CRC_BYTES)]
                m.d.sync += [piece.eq(0), carried.eq(0)]
                with m.If(decoder.whole & (decoder.length >= LEAST_BYTES) & (crc.register == RESIDUE)):
                    m.next = "number"
            with m.State("number"), m.If(there):
                m.d.sync += number.eq(byte)
                move_on()
                m.next = "command"
            with m.State("command"), m.If(there):
                m.d.sync += command.eq(byte)
                with m.If((byte == Command.RESET) | (known & (number == (last + 1)[:8]))):
                    m.d.sync += [last.eq(number), known.eq(1), size.eq(0)]
                    m.d.comb += crc.clear.eq(1)
                    move_on()
                    m.next = "number out"
                with m.Elif(known & (number == last)):
                    m.next = "send"
                with m.Else():
                    m.next = "listen"
            with m.State("number out"):
                give(number)
                m.next = "command out"
            with m.State("command out"), m.If(~crc.busy):
                give(command | ANSWER)
                with m.If(command == Command.RESET):
                    m.d.comb += self.reset.eq(1)
                    m.next = "echo"
                with m.Else():
                    m.next = "address"
            with m.State("echo"):
                with m.If(at == end):
                    finish(Code.DONE)
                with m.Elif(there & ~crc.busy):
                    give(byte)
                    move_on()
            with m.State("address"):
                with m.If(at == end):
                    finish(Code.MALFORMED)
                with m.Elif(there):
                    m.d.sync += [address.eq(Cat(address[8:], byte)), piece.eq(piece + 1)]
                    move_on()
                    with m.If(piece == 1):
                        m.d.sync += piece.eq(0)
                        m.next = "length"
            with m.State("length"):
                with m.If(address[ADDRESS_BITS:].any()):
                    finish(Code.REFUSED)
                with m.Elif(command == Command.WRITE):
                    m.next = "gather"
                with m.Elif((command != Command.READ) | (at == end)):
                    finish(Code.MALFORMED)
                with m.Elif(there):
                    m.next = "next word"
                    with m.If(byte > MOST_WORDS):
                        finish(Code.MALFORMED)
            with m.State("gather"):
                with m.If(at == end):
                    finish(Code.DONE)
                    with m.If(piece != 0):
                        finish(Code.MALFORMED)
                with m.Elif(there):
                    m.d.sync += [word.eq(Cat(word[8:], byte)), piece.eq(piece + 1)]
                    move_on()
                    with m.If(piece == 3):
                        m.next = "access"
            with m.State("next word"):
                # The byte that says how many are wanted is still there.
                with m.If(carried == byte):
                    finish(Code.DONE)
                with m.Else():
                    m.next = "access"
            with m.State("access"):
                m.d.comb += self.start.eq(1)
                m.next = "carry out"
            with m.State("carry out"), m.If(self.done):
                with m.If(self.refused):
                    finish(Code.REFUSED)
                with m.Else():
                    m.d.sync += carried.eq(carried + 1)
                    with m.If(self.write):
                        m.next = "gather"
                    with m.Else():
                        m.d.sync += word.eq(self.value)
                        m.next = "word out"
            with m.State("word out"), m.If(~crc.busy):
                give(word[:8])
                m.d.sync += [word.eq(word >> 8), piece.eq(piece + 1)]
                with m.If(piece == 3):
                    m.next = "next word"
            with m.State("count out"), m.If(~crc.busy):
                give(carried)
                m.next = "code out"
            with m.State("code out"), m.If(~crc.busy):
                give(code)
                m.d.sync += piece.eq(0)
                m.next = "crc"
            with m.State("crc"), m.If(~crc.busy):
                # A CRC that is fed its own lowest byte moves down by that byte, and zeros come in above.
                give(~crc.register[:8], inverted=True)
                m.d.sync += piece.eq(piece + 1)
                with m.If(piece == 3):
                    m.next = "send"
            with m.State("send"):
                m.d.comb += [encoder.start.eq(1), sending.eq(1), crc.clear.eq(1)]
                m.next = "sending"
            with m.State("sending"):
                m.d.comb += sending.eq(1)
                with m.If(~encoder.busy):
                    m.next = "listen"
        return m
