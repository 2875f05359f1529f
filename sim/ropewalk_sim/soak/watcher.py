"""The soak's watcher: looks at every interface in the middle of each clock, where everything has settled."""

from collections.abc import Callable
from typing import Any

from cocotb.triggers import Event, FallingEdge, RisingEdge

from .notes import UNANSWERED, Notes
from .wrapper import STATE, pair

TOKEN, DATA, OUTPUT, ADDRESS, WRITE, ANSWER, READ = map(pair, ("token", "data", "output", "aw", "w", "b", "r"))
PORT = ADDRESS | WRITE | ANSWER | pair("ar") | READ
VALIDS = sum(1 << 2 * place for place in range(len(STATE)))
READIES = VALIDS << 1
OUTPUT_VALID = OUTPUT & VALIDS
RESETN = 1 << 2 * len(STATE)
LOW_IN_RESET = (TOKEN | DATA) & READIES | (OUTPUT | ANSWER | READ) & VALIDS


class Fault(Exception):
    """The engine broke a protocol, or the bench a promise."""


class Watcher:
    """Writes down each beat and register write with its clock, counts waits, and watches the protocols.

    ``on_token`` is called with each descriptor in the clock in which it is taken, ``on_clock`` at the end of each
    clock. ``quiet`` counts clocks in which no stream moved; ``flushed`` is set in the clock from which no beat of an
    emptied stream can be on offer any more.
    """

    def __init__(self, dut: Any, notes: Notes, on_token: Callable[[int], None], on_clock: Callable[[], None]) -> None:
        self.dut, self.notes = dut, notes
        self.on_token, self.on_clock = on_token, on_clock
        self.clock = 0
        self.quiet = 0
        self.flushed = Event()
        self.state = 0
        """The valids and readies of the last clock (:data:`.wrapper.STREAMS`)."""

    async def run(self) -> None:
        """For ever.

        Raises
        ------
        Fault
            If a protocol is broken.
        """
        dut, notes = self.dut, self.notes
        edge = FallingEdge(dut.aclk)
        states, seen = notes.states, dut.watch_state
        token_word, data_beat, output_beat = dut.s_axis_token_tdata, dut.watch_data, dut.watch_output
        mask, bits = (1 << notes.job["beat_bits"]) - 1, notes.job["beat_bits"]
        held = held_answer = held_read = None
        unanswered: tuple[int, int, int] | None = None
        emptying, soft = 0, False
        in_reset = 0
        for _ in range(2):  # before the first clocks, not everything has a value
            await RisingEdge(dut.aclk)
        while True:
            await edge
            self.clock = clock = self.clock + 1
            # First, so that a descriptor sees what was written in the clocks before.
            if unanswered is not None:
                unanswered = self.answer(unanswered)
            try:
                state = int(seen.value)
            except ValueError:
                raise Fault(f"a valid or a ready is undefined: {seen.value}") from None
            if not state & RESETN:
                in_reset += 1
                held = held_answer = held_read = None
                emptying, soft = 0, False
                if in_reset > 1 and state & LOW_IN_RESET:
                    raise Fault("a valid, or a ready of a stream, was high in reset")
                continue
            in_reset = 0
            states[state] = states.get(state, 0) + 1
            moved = False
            if state & TOKEN == TOKEN:
                word = int(token_word.value)
                notes.token(clock, word)
                self.on_token(word)
                moved = True
            if state & DATA == DATA:
                beat = int(data_beat.value)
                notes.data(clock, beat & mask, beat >> bits)
                moved = True
            if state & OUTPUT_VALID:
                if soft:
                    raise Fault("m_axis_tvalid was high in the clock after a soft reset")
                try:
                    beat = int(output_beat.value)
                except ValueError:
                    raise Fault(f"m_axis is undefined under valid: {output_beat.value}") from None
                if held is not None and held != beat:
                    raise Fault("the payload of m_axis changed before the beat was taken")
                if state & OUTPUT == OUTPUT:
                    notes.output(clock, beat & mask, beat >> bits)
                    moved = True
                    held = None
                else:
                    held = beat
            else:
                if held is not None and not soft:  # a soft reset takes back what is on offer
                    raise Fault("m_axis_tvalid fell before the beat was taken")
                held = None
            # In the clock after a flush acted, and in later ones, nothing on offer means that it is done.
            if emptying and held is None:
                emptying, soft = 0, False
                self.flushed.set()
            if state & PORT:
                if state & ADDRESS == ADDRESS:
                    if state & WRITE != WRITE:
                        raise Fault("an address was taken without its data")
                    acts = clock + notes.job["write_clocks"]
                    unanswered = acts, int(dut.s_axil_awaddr.value), int(dut.s_axil_wdata.value)
                if held_answer is not None or state & ANSWER:
                    held_answer = hold("b", held_answer, state & ANSWER, (dut.s_axil_bresp,))
                if held_read is not None or state & READ:
                    held_read = hold("r", held_read, state & READ, (dut.s_axil_rresp, dut.s_axil_rdata))
            elif held_answer is not None or held_read is not None:
                raise Fault("an answer of the register port was taken back")
            if unanswered is not None and unanswered[:2] == (clock, notes.control) and unanswered[2] & 9:
                emptying, soft = 1, bool(unanswered[2] & 1)
            self.quiet = 0 if moved else self.quiet + 1
            self.state = state
            self.on_clock()

    def answer(self, write: tuple[int, int, int]) -> tuple[int, int, int] | None:
        """Note a write, with the clock in which it acts, when its answer is on offer; until then, the write."""
        job, acts = self.notes.job, write[0]
        if self.clock == acts + 1:
            self.notes.written(*write[1:])
        if not int(self.dut.aresetn.value):
            if self.clock >= acts:
                self.notes.write(*write, UNANSWERED)
            return None
        if not int(self.dut.s_axil_bvalid.value):
            return write
        if self.clock < acts - job["write_clocks"] + job["answer_clocks"]:
            raise Fault("a write was answered too early")
        self.notes.write(*write, int(self.dut.s_axil_bresp.value))
        return None


def hold(name: str, held: Any, state: int, payload: tuple[Any, ...]) -> Any:
    """What is on offer on an answering channel and has not been taken; a ``Fault`` if it is not what it was.

    ``state`` are the channel's valid and ready.
    """
    if not state & VALIDS:
        if held is not None:
            raise Fault(f"s_axil_{name}valid fell before the answer was taken")
        return None
    now = tuple(int(signal.value) for signal in payload)
    if held not in (None, now):
        raise Fault(f"the payload of s_axil_{name} changed before it was taken")
    return None if state & READIES else now
