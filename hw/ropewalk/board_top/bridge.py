"""Between the words of the serial link and the engine's streams."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..gateware.component import Component
from ..gateware.layouts import descriptor_layout
from ..gateware.primitives import BlockRam

RESULT_WORDS = 128
"""Words of results that wait for the host."""

HALF_BITS = 16
"""They are stored in halves: so they take one block RAM of an iCE40, which has words of 16 bits."""


def data_bits(design: Design) -> int:
    """The bits of a beat's elements on the engine's ports."""
    return design.elements * design.container_bits


def data_words(design: Design) -> int:
    """The words of a beat on the link: its elements, the first lowest, and behind them the word of its sides."""
    return -(-data_bits(design) // 32) + 1


def packet_layout(design: Design) -> data.StructLayout:
    """A beat that goes in; the word of its sides has ``tid`` in [7:0] and ``last`` in bit 8."""
    return data.StructLayout({"data": data_bits(design), "tid": 8, "last": 1})


def beat_layout(design: Design) -> data.StructLayout:
    """A beat that comes out; the word of its sides has ``user`` in [11:9] too."""
    return data.StructLayout({"data": data_bits(design), "tid": 8, "last": 1, "user": 3})


class Bridge(Component):
    """Puts words together into descriptors and beats, and takes beats apart into words; or lets the self-test through.

    A word per clock goes in, half a word comes out. Between taking the last word of a beat and offering the beat passes
    one clock, in which no word is taken until the beat is; results wait in a block RAM of :data:`RESULT_WORDS`, and
    behind it the engine does.
    Those of the self-test pass the same registers, whole, one per clock.

    Members
    -------
    token, data : In(stream)
        Words of descriptors and of beats. They wait while ``testing``.
    result : Out(stream)
        Words of beats that came out.
    testing : In
        The engine's streams are those of the self-test. Whenever it changes the bridge is reset.
    test_descriptor, test_packet : In(stream)
        Those of the self-test.
    descriptor, packet : Out(stream)
        To the engine; ``packet`` has a :func:`packet_layout`.
    beat : In(stream)
        From the engine, not while ``testing``: a :func:`beat_layout`.
    """

    def __init__(self, design: Design):
        self._design = design
        self._token_words = descriptor_layout(design.axes).size // 32
        word = stream.Signature(32)
        descriptor, packet = stream.Signature(32 * self._token_words), stream.Signature(packet_layout(design))
        super().__init__(
            {
                "token": In(word),
                "data": In(word),
                "result": Out(word),
                "testing": In(1),
                "test_descriptor": In(descriptor),
                "test_packet": In(packet),
                "descriptor": Out(descriptor),
                "packet": Out(packet),
                "beat": In(stream.Signature(beat_layout(design))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        whole = self.test_descriptor.payload
        token = self._gather(m, self.token, self.test_descriptor, whole, self.descriptor, name="token")
        m.d.comb += self.descriptor.payload.eq(token)

        words = data_words(self._design)
        side = 32 * (words - 1)
        fill = Const(0, side - data_bits(self._design))
        packet, test, beat = self.packet.payload, self.test_packet.payload, self.beat.payload
        whole = Cat(test.data, fill, test.tid, test.last)
        gathered = self._gather(m, self.data, self.test_packet, whole, self.packet, name="data")
        m.d.comb += [
            packet.data.eq(gathered),
            packet.tid.eq(gathered[side : side + 8]),
            packet.last.eq(gathered[side + 8]),
        ]

        m.submodules.results = results = Results()
        m.d.comb += [
            self.result.payload.eq(results.words.payload),
            self.result.valid.eq(results.words.valid),
            results.words.ready.eq(self.result.ready),
        ]
        bits = Signal(32 * words)
        m.d.comb += bits.eq(Cat(beat.data, fill, beat.tid, beat.last, beat.user))
        halves = len(bits) // HALF_BITS
        number = Signal(range(halves))
        m.d.comb += [
            results.half.eq(Array(bits.word_select(index, HALF_BITS) for index in range(halves))[number]),
            results.put.eq(self.beat.valid & results.room),
            self.beat.ready.eq(results.room & (number == halves - 1)),
        ]
        with m.If(results.put):
            m.d.sync += number.eq(number + 1)
            with m.If(self.beat.ready):
                m.d.sync += number.eq(0)
        return m

    def _gather(self, m: Module, source: Any, test: Any, whole: Value, target: Any, *, name: str) -> Signal:
        """Take the words of ``target``, then offer it until it is taken; or take it ``whole`` from the self-test.

        Gives all bits, the first word lowest; the last word has as many as ``whole`` has left for it.
        """
        words = -(-len(whole) // 32)
        bits = Signal(len(whole), name=f"{name}_bits", reset_less=True)
        have = Signal(range(words + 1), name=f"{name}_have")
        full = Signal(name=f"{name}_full")
        m.d.comb += [
            full.eq(have == words),
            target.valid.eq(full),
            source.ready.eq(~full & ~self.testing),
            test.ready.eq((~full | target.ready) & self.testing),
        ]
        with m.If(test.ready):
            m.d.sync += have.eq(Mux(test.valid, words, 0))
        with m.Elif(full & target.ready):
            m.d.sync += have.eq(0)
        with m.Elif(source.ready & source.valid):
            m.d.sync += have.eq(have + 1)
        for index in range(words):
            # Into its own place, since words that moved on through those of others would keep bits that nobody reads.
            word = bits.word_select(index, 32)
            with m.If(test.ready | (source.ready & source.valid & (have == index))):
                m.d.sync += word.eq(Mux(self.testing, whole.word_select(index, 32), source.payload[: len(word)]))
        return bits


class Results(Component):
    """Words that wait to be read, in one block RAM; a word that is read comes a few clocks after the one before.

    Members
    -------
    put, half : In
        Stores half a word, the lower half of each first. Not without ``room``.
    room : Out
        There is a place.
    words : Out(stream)
        The words, in order, each once both halves are there.
    """

    def __init__(self):
        super().__init__(
            {"put": In(1), "half": In(HALF_BITS), "room": Out(1), "words": Out(stream.Signature(2 * HALF_BITS))}
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.submodules.memory = memory = BlockRam(width=HALF_BITS, depth=2 * RESULT_WORDS, name="results")
        bits = len(memory.address)
        # The bit above the address tells an empty memory from a full one.
        written = Signal(bits + 1)
        read = Signal(bits + 1)
        empty = Signal()
        there = Signal()
        onward = Signal()
        low = Signal(HALF_BITS, reset_less=True)
        wait = Signal(range(memory.latency + 1), init=memory.latency)
        m.d.comb += [
            empty.eq(written == read),
            self.room.eq((written ^ read) != 1 << bits),
            memory.write_enable.eq(self.put),
            memory.write_address.eq(written[:bits]),
            memory.write_data.eq(self.half),
            memory.address.eq(read[:bits]),
            there.eq(wait == 0),
            self.words.payload.eq(Cat(low, memory.data)),
            self.words.valid.eq(there & read[0]),
            onward.eq(there & (~read[0] | self.words.ready)),
        ]
        with m.If(self.put):
            m.d.sync += written.eq(written + 1)
        # A half is read again until it is there: in the clock in which it is written it must not count.
        with m.If(empty | onward):
            m.d.sync += wait.eq(wait.init)
        with m.Elif(~there):
            m.d.sync += wait.eq(wait - 1)
        with m.If(onward):
            m.d.sync += read.eq(read + 1)
            with m.If(~read[0]):
                m.d.sync += low.eq(memory.data)
        return m
