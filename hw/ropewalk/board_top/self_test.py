"""The self-test: tokens made on the spot go through the engine, and a signature of all that comes out is compared."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ..design import Design
from ..gateware.component import Component
from ..gateware.layouts import descriptor_layout
from .bridge import beat_layout, packet_layout
from .crc import POLYNOMIAL
from .protocol import FAILED, PASSED, RUNNING
from .vectors import (
    AXIS_TURN,
    DATA_START,
    ELEMENT_TURN,
    LONG_BITS,
    POSITION_TURN,
    SHIFT_BITS,
    SHORT_BITS,
    SIGNATURE_TURN,
    STEP,
    TOKEN_START,
    token_count,
)

RESET_CLOCKS = 16


class SelfTest(Component):
    """Resets the engine, sends it :func:`~ropewalk.board_top.vectors.token_count` tokens, and judges what comes out.

    It runs once after every reset, and whenever it is asked to. One that does not end in time has failed.

    Parameters
    ----------
    design
        The engine's.
    expected
        The signature of an engine that is right in every bit.

    Members
    -------
    start : In
        Run it, from the beginning if it is running.
    restart : In
        Run it from the beginning if it is running.
    clear : Out
        The engine is to be in reset.
    running : Out
        The engine's streams are those of the self-test.
    state : Out
        ``RUNNING``, ``PASSED``, ``FAILED`` of :mod:`ropewalk.board_top.protocol`.
    signature_word : Out
        That of the last run.
    descriptor, packet : Out(stream)
        To the engine.
    beat : In(stream)
        From the engine; taken in every clock.
    """

    def __init__(self, design: Design, expected: int):
        self._design = design
        self._expected = expected
        super().__init__(
            {
                "start": In(1),
                "restart": In(1),
                "clear": Out(1),
                "running": Out(1),
                "state": Out(3),
                "signature_word": Out(32),
                "descriptor": Out(stream.Signature(descriptor_layout(design.axes).size)),
                "packet": Out(stream.Signature(packet_layout(design))),
                "beat": In(stream.Signature(beat_layout(design))),
            }
        )

    @property
    def most_clocks(self) -> int:
        """After so many clocks the engine is taken to hang."""
        design = self._design
        row = max(shape.rotary_dim for shape in design.shapes) * design.clocks_per_pair
        return 4 * token_count(design) * (design.beats_per_token + row) + 1024 * (design.slots + 8)

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        again = Signal()
        m.d.comb += again.eq(self.start | (self.restart & self.running))
        clocks = Signal(range(self.most_clocks + 1))
        running = Signal(init=1)
        passed = Signal()
        failed = Signal()
        clearing = Signal(init=1)
        ended = self._judge(m, again)
        self._offer_tokens(m, again)
        self._offer_data(m, again)
        m.d.comb += [
            self.clear.eq(clearing),
            self.running.eq(running),
            self.state.eq(Mux(running, RUNNING, 0) | Mux(passed, PASSED, 0) | Mux(failed, FAILED, 0)),
        ]
        with m.If(again):
            m.d.sync += [clocks.eq(0), running.eq(1), clearing.eq(1), passed.eq(0), failed.eq(0)]
        with m.Elif(running):
            m.d.sync += clocks.eq(clocks + 1)
            with m.If(clocks == RESET_CLOCKS - 1):
                m.d.sync += clearing.eq(0)
            with m.If(ended | (clocks == self.most_clocks)):
                right = ended & (self.signature_word == self._expected)
                m.d.sync += [passed.eq(right), failed.eq(~right), running.eq(0)]
        return m

    def _judge(self, m: Module, again: Value) -> Value:
        """Takes up the signature; gives whether the last token has come out."""
        beat = self.beat
        bits = Value.cast(beat.payload)
        folded = 0
        for index in range(-(-len(bits) // 32)):
            folded ^= Cat(bits.word_select(index, 32), Signal(32))[:32].rotate_left(SIGNATURE_TURN * index)
        left = Signal(range(token_count(self._design) + 1), init=token_count(self._design))
        m.d.comb += beat.ready.eq(1)
        with m.If(again):
            m.d.sync += [self.signature_word.eq(0), left.eq(left.init)]
        with m.Elif(beat.valid & self.running & ~self.clear & (left != 0)):
            signature = self.signature_word
            m.d.sync += signature.eq((signature >> 1) ^ Mux(signature[0], POLYNOMIAL, 0) ^ folded)
            m.d.sync += left.eq(left - beat.payload.last)
        return left == 0

    def _offer_tokens(self, m: Module, again: Value) -> None:
        design = self._design
        register, number, slot = _register(TOKEN_START, "token_register"), Signal(8), Signal(range(design.slots + 1))
        view = data.View(descriptor_layout(design.axes), self.descriptor.payload)
        m.d.comb += [
            view.slot.eq(slot),
            view.tag.eq(number),
            view.flags.inverse.eq(register[0]),
            view.flags.pass_.eq(register[1:4] == 0),
            view.flags.unit_amplitude.eq(register[4:6].all()),
        ]
        for axis in range(design.axes):
            turned = register.rotate_right(POSITION_TURN + AXIS_TURN * axis)
            m.d.comb += view.position[axis].eq(Mux(register[6], turned[:LONG_BITS], turned[:SHORT_BITS]))
        self._advance(m, self.descriptor, again, register, number, [slot], last=1)
        with m.If(~again & self.descriptor.valid & self.descriptor.ready):
            m.d.sync += slot.eq(Mux(slot == len(design.variants), 0, slot + 1))

    def _offer_data(self, m: Module, again: Value) -> None:
        design = self._design
        register, number = _register(DATA_START, "data_register"), Signal(8)
        place = Signal(range(design.beats_per_token))
        packet = self.packet.payload
        for index in range(design.elements):
            begin = index * design.container_bits
            element = register.rotate_right(ELEMENT_TURN * index)[: design.data_width]
            m.d.comb += packet.data[begin : begin + design.data_width].eq(element)
        m.d.comb += [packet.tid.eq(number), packet.last.eq(place == design.beats_per_token - 1)]
        self._advance(m, self.packet, again, register, number, [place], last=packet.last)
        with m.If(~again & self.packet.valid & self.packet.ready):
            m.d.sync += place.eq(Mux(packet.last, 0, place + 1))

    def _advance(
        self, m: Module, port: Any, again: Value, register: Signal, number: Signal, others: list[Signal], *, last: Any
    ) -> None:
        """Offer on ``port`` until ``number`` has counted all tokens, moving on whenever something is taken."""
        m.d.comb += port.valid.eq(self.running & ~self.clear & (number != token_count(self._design)))
        with m.If(again):
            m.d.sync += [signal.eq(signal.init) for signal in (register, number, *others)]
        with m.Elif(port.valid & port.ready):
            m.d.sync += [
                register.eq(Cat(register[:STEP] ^ register[SHIFT_BITS - STEP :], register[: SHIFT_BITS - STEP])),
                number.eq(number + last),
            ]


def _register(start: int, name: str) -> Signal:
    return Signal(SHIFT_BITS, init=start, name=name)
