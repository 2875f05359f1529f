"""Between the words of the serial link and the engine's streams."""

from typing import Any

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..gateware.component import Component
from ..gateware.layouts import descriptor_layout

RESULT_WORDS = 256
"""Words of results that wait for the host."""


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
    """Puts words together into descriptors and beats, and takes beats apart into words.

    A word per clock. Between taking the last word of a beat and offering the beat passes one clock, in which no
    word is taken until the beat is; results wait in a block RAM of :data:`RESULT_WORDS`, and behind it the engine does.

    Members
    -------
    token, data : In(stream)
        Words of descriptors and of beats.
    result : Out(stream)
        Words of beats that came out.
    descriptor, packet : Out(stream)
        To the engine; ``packet`` has a :func:`packet_layout`.
    beat : In(stream)
        From the engine: a :func:`beat_layout`.
    """

    def __init__(self, design: Design):
        self._design = design
        self._token_words = descriptor_layout(design.axes).size // 32
        word = stream.Signature(32)
        super().__init__(
            {
                "token": In(word),
                "data": In(word),
                "result": Out(word),
                "descriptor": Out(stream.Signature(32 * self._token_words)),
                "packet": Out(stream.Signature(packet_layout(design))),
                "beat": In(stream.Signature(beat_layout(design))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        token = self._gather(m, self.token, self.descriptor, self._token_words, name="token")
        m.d.comb += self.descriptor.payload.eq(token)

        words = data_words(self._design)
        gathered = self._gather(m, self.data, self.packet, words, name="data")
        side = 32 * (words - 1)
        packet, beat = self.packet.payload, self.beat.payload
        m.d.comb += [
            packet.data.eq(gathered),
            packet.tid.eq(gathered[side : side + 8]),
            packet.last.eq(gathered[side + 8]),
        ]

        m.submodules.results = results = SyncFIFOBuffered(width=32, depth=RESULT_WORDS)
        bits = Signal(32 * words)
        m.d.comb += bits.eq(Cat(beat.data, Signal(side - data_bits(self._design)), beat.tid, beat.last, beat.user))
        number = Signal(range(words))
        m.d.comb += [
            results.w_data.eq(Array(bits.word_select(index, 32) for index in range(words))[number]),
            results.w_en.eq(self.beat.valid),
            self.beat.ready.eq(results.w_rdy & (number == words - 1)),
            self.result.payload.eq(results.r_data),
            self.result.valid.eq(results.r_rdy),
            results.r_en.eq(self.result.ready),
        ]
        with m.If(self.beat.valid & results.w_rdy):
            m.d.sync += number.eq(number + 1)
            with m.If(self.beat.ready):
                m.d.sync += number.eq(0)
        return m

    @staticmethod
    def _gather(m: Module, source: Any, target: Any, words: int, *, name: str) -> Signal:
        """Take ``words`` words, then offer ``target`` until it is taken; gives all bits, the first word lowest."""
        bits = Signal(32 * words, name=f"{name}_bits", reset_less=True)
        have = Signal(range(words + 1), name=f"{name}_have")
        m.d.comb += [target.valid.eq(have == words), source.ready.eq(have != words)]
        with m.If(target.valid), m.If(target.ready):
            m.d.sync += have.eq(0)
        with m.Elif(source.valid):
            m.d.sync += [bits.eq(Cat(bits[32:], source.payload)), have.eq(have + 1)]
        return bits
