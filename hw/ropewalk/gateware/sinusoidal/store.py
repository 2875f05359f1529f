"""The slot: what it holds beside its steps, its loading at run time, and its CRC-32.

There are two places. A load goes into the spare one, and committing it exchanges the two, so that a descriptor sees the
old content or the new one and nothing between. The spare stays busy while a token that was taken before may still
need it. What has been loaded survives reset.
"""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from ...design import POSITION_BITS
from ...designs.sinusoidal import SinusoidalDesign
from ...geometry.sinusoidal import MAX_ROW_OFFSET
from ...tables.sinusoidal_words import HEADER_WORDS, NO_ROW, shape_words
from ...tables.steps import amplitude_word
from ..component import Component
from ..crc32 import START, crc32_after
from ..slot_loader import BUSY, NOT_BEGUN, NOTHING, OUT_OF_RANGE, WRONG_COUNT
from ..slot_scan import padded
from .contents import PLACES, STEP_BITS
from .generator import PairGenerator
from .layouts import header_layout

CRC_BITS = 4
"""Bits that the CRC takes in a clock."""


class SlotStore(Component):
    """The slot's header, a loader, and the CRC.

    Members
    -------
    place, headers : Out
        Which place is in use, and the header in each.
    taken, retired, rows : In
        A descriptor was taken; a token left the descriptor port; of each place, whether a row is yet to be issued.
    begin, word_valid, word, commit : In
        The load registers: as a :class:`~ropewalk.gateware.register_port.RegisterPort` tells of them, which has the
        word before it is written and after, and leaves clocks between writes.
    refusal, refused, loading, busy, scanning, words : Out
        High for a clock when something was refused, and why; a load is under way; the spare place is in use; the CRC
        is being computed; the words of the load so far.
    load, load_place, load_pair, load_step : Out
        Writes a step.
    read, read_place, read_pair, granted, step : Out, Out, Out, In, In
        Reads a step; it is there ``PairGenerator.step_latency`` clocks after ``granted``.
    crc : Out
        The CRC of the content in use; 0 until it is known.
    """

    def __init__(self, design: SinusoidalDesign, *, pipeline: int):
        self._design = design
        self._pipeline = pipeline
        super().__init__(
            {
                "place": Out(1),
                "headers": Out(data.ArrayLayout(header_layout(), PLACES)),
                "taken": In(1),
                "retired": In(1),
                "rows": In(PLACES),
                "begin": In(1),
                "word_valid": In(1),
                "word": In(32),
                "commit": In(1),
                "refusal": Out(1),
                "refused": Out(3),
                "loading": Out(1),
                "busy": Out(1),
                "scanning": Out(1),
                "words": Out(17),
                "load": Out(1),
                "load_place": Out(1),
                "load_pair": Out(16),
                "load_step": Out(STEP_BITS),
                "read": Out(1),
                "read_place": Out(1),
                "read_pair": Out(16),
                "granted": In(1),
                "step": In(STEP_BITS),
                "crc": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        geometry = self._design.geometry
        first = header_layout().const(
            {
                "limit": self._design.limit,
                "row_offset": geometry.row_offset,
                "zero_row": geometry.zero_row or 0,
                "zeros": int(geometry.zero_row is not None),
                "amplitude": amplitude_word(self._design.amplitude),
            }
        )
        # They survive reset, like the steps that they speak of.
        headers = [
            Signal(header_layout(), name="header_0", init=first, reset_less=True),
            Signal(header_layout(), name="header_1", reset_less=True),
        ]
        place = Signal(reset_less=True)
        m.d.comb += [
            self.place.eq(place),
            *(self.headers[number].eq(header) for number, header in enumerate(headers)),
        ]
        committed = self._load(m, headers, place)
        self._scan(m, headers, place, committed)
        return m

    def _load(self, m: Module, headers: list[data.View], place: Signal) -> Signal:
        """Takes the words of a load into the spare place and commits it; high in the clock of a commit."""
        design = self._design
        header = Signal(header_layout(), reset_less=True)
        bad = Signal(reset_less=True)
        low = Signal(32, reset_less=True)

        # The spare holds what was in use before the last commit. Tokens taken before it may still need it: until they
        # have all left the descriptor port, their rows have been issued, and have left the pipeline.
        taken, retired = Signal(8), Signal(8)
        fence = Signal(8, reset_less=True)
        fenced, issuing = Signal(), Signal()
        flowing = Signal(range(self._pipeline + 1))
        with m.If(self.taken):
            m.d.sync += taken.eq(taken + 1)
        with m.If(self.retired):
            m.d.sync += retired.eq(retired + 1)
        with m.If(flowing != 0):
            m.d.sync += flowing.eq(flowing - 1)
        with m.If(fenced & (retired == fence)):
            m.d.sync += [fenced.eq(0), issuing.eq(1)]
        with m.If(issuing & ~Mux(place, self.rows[0], self.rows[1])):
            m.d.sync += [issuing.eq(0), flowing.eq(self._pipeline)]
        m.d.sync += self.busy.eq(fenced | issuing | (flowing != 0) | self.scanning)

        # Words beyond those of a row are counted and not written: commit refuses them. What a write is judged by is
        # known before it comes.
        word = self.word
        step = Cat(low, word[:16])
        index = Signal(17, reset_less=True)
        most, inside, complete = (Signal(name=name, reset_less=True) for name in ("most", "inside", "complete"))
        m.d.comb += [self.load_place.eq(~place), self.load_pair.eq(index >> 1), self.load_step.eq(step)]
        m.d.sync += [
            index.eq(self.words - HEADER_WORDS),
            inside.eq(index >> 1 < design.pairs),
            most.eq(self.words.all()),
            complete.eq(self.words == HEADER_WORDS + 2 * design.pairs),
            self.load.eq(0),
        ]
        allowed = (word != 0) & (word >> len(header.amplitude) == 0)
        if not design.scaled:
            allowed = word == amplitude_word(1.0)
        # The row of zeros is judged in two clocks.
        no_offset, no_row, wrong = (Signal(name=name, reset_less=True) for name in ("no_offset", "no_row", "wrong"))
        unfit = [
            *(word != fixed for fixed in shape_words(design)),
            (word == 0) | (word > 1 << POSITION_BITS),
            word > MAX_ROW_OFFSET,
            no_offset & ~no_row,
            ~allowed,
            (word[16:] != 0) | (step >> design.phase_bits != 0),
        ]
        misfits = Signal(len(unfit), reset_less=True)
        # Which word comes next: one of the header, or one half of a step.
        here = Signal(HEADER_WORDS, reset_less=True)
        is_low, is_high = Signal(reset_less=True), Signal(reset_less=True)
        m.d.sync += [
            here.eq(Cat(self.words == number for number in range(HEADER_WORDS))),
            is_low.eq((self.words >= HEADER_WORDS) & ~self.words[0]),
            is_high.eq((self.words >= HEADER_WORDS) & self.words[0]),
            misfits.eq(Cat(unfit)),
            no_offset.eq(word > MAX_ROW_OFFSET),
            no_row.eq(word == NO_ROW),
            wrong.eq((misfits & Cat(here, is_high)).any()),
        ]
        reason = Signal(3)
        with m.If(self.begin & self.busy):
            m.d.comb += reason.eq(BUSY)
        with m.If((self.word_valid | self.commit) & ~self.loading):
            m.d.comb += reason.eq(NOT_BEGUN)
        with m.Elif(self.commit & ~complete):
            m.d.comb += reason.eq(WRONG_COUNT)
        with m.Elif(self.commit & bad):
            m.d.comb += reason.eq(OUT_OF_RANGE)
        # What is not refused happens a clock later.
        begun, took, committed = Signal(), Signal(), Signal()
        m.d.comb += self.refusal.eq(reason != NOTHING)
        m.d.sync += [
            begun.eq(self.begin & ~self.refusal),
            took.eq(self.word_valid & ~self.refusal),
            committed.eq(self.commit & ~self.refusal),
        ]
        with m.If(self.begin | self.refusal):
            m.d.sync += self.refused.eq(reason)
        with m.If(self.begin | self.commit):
            m.d.sync += self.loading.eq(0)
        with m.If(begun):
            m.d.sync += [self.loading.eq(1), self.words.eq(0), bad.eq(0)]
        with m.If(took):
            with m.If(~most):
                m.d.sync += self.words.eq(self.words + 1)
            with m.If(wrong):
                m.d.sync += bad.eq(1)
            with m.If(here[2]):
                m.d.sync += header.limit.eq(word)
            with m.If(here[3]):
                m.d.sync += header.row_offset.eq(word)
            with m.If(here[4]):
                m.d.sync += [header.zero_row.eq(word), header.zeros.eq(~no_row)]
            with m.If(here[5]):
                m.d.sync += header.amplitude.eq(word)
            with m.If(is_low):
                m.d.sync += low.eq(word)
            m.d.sync += self.load.eq(is_high & inside)
        # Those that are taken in the clock of the commit see the old content: they are counted in the next.
        swapped = Signal()
        m.d.sync += swapped.eq(committed)
        with m.If(swapped):
            m.d.sync += [fence.eq(taken), fenced.eq(1)]
        with m.If(committed):
            m.d.sync += place.eq(~place)
            for number, held in enumerate(headers):
                with m.If(place != number):
                    m.d.sync += held.eq(header)
        return committed

    def _scan(self, m: Module, headers: list[data.View], place: Signal, committed: Signal) -> None:
        """Computes the CRC of content that is new: from what the memory of the generators and the header hold.

        Two words at a time, :data:`CRC_BITS` bits in a clock.
        """
        design = self._design
        pending = Signal(init=1, reset_less=True)
        header = Signal(header_layout())
        number = Signal(range(HEADER_WORDS // 2 + 1))
        pair = Signal(range(design.pairs + 1), reset_less=True)
        two_words = Signal(2 * 32, reset_less=True)
        clocks = 2 * 32 // CRC_BITS
        left = Signal(range(clocks), init=clocks - 1)
        last = Signal(reset_less=True)
        check = Signal(32, init=START, reset_less=True)
        value = Signal(32, reset_less=True)
        m.d.comb += [
            self.crc.eq(value),
            header.eq(Array(headers)[place]),
            self.scanning.eq(pending),
            self.read_place.eq(place),
            self.read_pair.eq(pair),
        ]
        with m.If(committed):
            m.d.sync += [pending.eq(1), value.eq(0)]
        words = [
            *(Const(word, 32) for word in shape_words(design)),
            padded(header.limit, 32),
            padded(header.row_offset, 32),
            Cat(header.zero_row | (~header.zeros).replicate(len(header.zero_row)), (~header.zeros).replicate(11)),
            padded(header.amplitude, 32),
        ]
        # The words of the header are chosen while those before them go into the CRC.
        chosen = Signal(2 * 32, reset_less=True)
        with m.Switch(number):
            for two in range(HEADER_WORDS // 2):
                with m.Case(two):
                    m.d.sync += chosen.eq(Cat(words[2 * two : 2 * two + 2]))
        m.d.sync += last.eq(pair == design.pairs)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [check.eq(START), pair.eq(0)]
                with m.If(pending & ~committed):
                    m.next = "HEADER"
            with m.State("HEADER"):
                m.d.sync += [two_words.eq(chosen), number.eq(number + 1)]
                m.next = "FEED"
            with m.State("FEED"):
                m.d.sync += [
                    check.eq(crc32_after(Cat(check[:CRC_BITS] ^ two_words[:CRC_BITS], check[CRC_BITS:]), CRC_BITS)),
                    two_words.eq(two_words >> CRC_BITS),
                    left.eq(left - 1),
                ]
                with m.If(left == 0):
                    with m.If(last):
                        m.next = "DONE"
                    with m.Elif(number == HEADER_WORDS // 2):
                        m.next = "ASK"
                    with m.Else():
                        m.next = "HEADER"
            with m.State("ASK"):
                m.d.comb += self.read.eq(1)
                with m.If(self.granted):
                    m.next = "WAIT_1"
            for wait in range(1, PairGenerator.step_latency):
                with m.State(f"WAIT_{wait}"):
                    m.next = f"WAIT_{wait + 1}" if wait + 1 < PairGenerator.step_latency else "ENTRY"
            with m.State("ENTRY"):
                m.d.sync += [two_words.eq(self.step), pair.eq(pair + 1)]
                m.next = "FEED"
            with m.State("DONE"):
                m.d.sync += [pending.eq(0), value.eq(check), number.eq(0)]
                m.next = "IDLE"
