"""The slot: what it holds beside its steps, its loading at run time, and its CRC-32.

There are two places. A load goes into the spare one, and committing it exchanges the two, so that a descriptor sees the
old content or the new one and nothing between. The spare stays busy while a token that was taken before may still
need it. What has been loaded survives reset.
"""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import (
    crc,  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
    data,
)
from amaranth.lib.wiring import In, Out

from ...design import POSITION_BITS
from ...designs.sinusoidal import SinusoidalDesign
from ...geometry.sinusoidal import MAX_ROW_OFFSET
from ...tables.sinusoidal_words import HEADER_WORDS, NO_ROW, shape_words
from ...tables.steps import amplitude_word
from ..component import Component
from ..slot_loader import BUSY, NOT_BEGUN, NOTHING, OUT_OF_RANGE, WRONG_COUNT
from .contents import PLACES, STEP_BITS
from .layouts import header_layout


class SlotStore(Component):
    """The slot's header, a loader, and the CRC.

    Members
    -------
    place, headers : Out
        Which place is in use, and the header in each.
    taken, retired, rows_idle, row_begun : In
        A descriptor was taken; a token left the descriptor port; no row is being issued; one was begun.
    begin, word_valid, word, commit : In
        The load registers.
    refusal, refused, loading, busy, scanning, words : Out
        High for a clock when something was refused, and why; a load is under way; the spare place is in use; the CRC
        is being computed; the words of the load so far.
    load, load_place, load_pair, load_step : Out
        Writes a step.
    read, read_place, read_pair, granted, step : Out, Out, Out, In, In
        Reads a step; it is there two clocks after ``granted``.
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
                "rows_idle": In(1),
                "row_begun": In(1),
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
        committed = Signal()

        # The spare holds what was in use before the last commit. Tokens taken before it may still need it: until they
        # have all left the descriptor port, the row that was begun for the last of them has been issued, and has left
        # the pipeline.
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
        with m.If(issuing & (self.rows_idle | self.row_begun)):
            m.d.sync += [issuing.eq(0), flowing.eq(self._pipeline)]
        m.d.comb += self.busy.eq(fenced | issuing | (flowing != 0) | self.scanning)

        with m.If(self.begin):
            m.d.sync += self.loading.eq(0)
            with m.If(self.busy):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(BUSY)
            with m.Else():
                m.d.sync += [self.loading.eq(1), self.refused.eq(NOTHING), self.words.eq(0), bad.eq(0)]

        # Words beyond those of a row are counted and not written: commit refuses them.
        index = Signal(17)
        word = self.word
        step = Cat(low, word[:16])
        m.d.comb += [
            index.eq(self.words - HEADER_WORDS),
            self.load_place.eq(~place),
            self.load_pair.eq(index >> 1),
            self.load_step.eq(step),
        ]
        most = (1 << len(self.words)) - 1
        with m.If(self.word_valid & ~self.loading):
            m.d.comb += self.refusal.eq(1)
            m.d.sync += self.refused.eq(NOT_BEGUN)
        with m.If(self.word_valid & self.loading):
            with m.If(self.words != most):
                m.d.sync += self.words.eq(self.words + 1)
            with m.Switch(self.words):
                for number, fixed in enumerate(shape_words(design)):
                    with m.Case(number), m.If(word != fixed):
                        m.d.sync += bad.eq(1)
                with m.Case(2):
                    m.d.sync += header.limit.eq(word)
                    with m.If((word == 0) | (word > 1 << POSITION_BITS)):
                        m.d.sync += bad.eq(1)
                with m.Case(3):
                    m.d.sync += header.row_offset.eq(word)
                    with m.If(word > MAX_ROW_OFFSET):
                        m.d.sync += bad.eq(1)
                with m.Case(4):
                    m.d.sync += [header.zero_row.eq(word), header.zeros.eq(word != NO_ROW)]
                    with m.If((word > MAX_ROW_OFFSET) & (word != NO_ROW)):
                        m.d.sync += bad.eq(1)
                with m.Case(5):
                    m.d.sync += header.amplitude.eq(word)
                    allowed = (word != 0) & (word >> len(header.amplitude) == 0)
                    if not design.scaled:
                        allowed = word == amplitude_word(1.0)
                    with m.If(~allowed):
                        m.d.sync += bad.eq(1)
                with m.Default():
                    m.d.sync += low.eq(word)
                    with m.If(index[0]):
                        m.d.comb += self.load.eq(index >> 1 < design.pairs)
                        with m.If((word[16:] != 0) | (step >> design.phase_bits != 0)):
                            m.d.sync += bad.eq(1)

        with m.If(self.commit):
            m.d.sync += self.loading.eq(0)
            with m.If(~self.loading):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NOT_BEGUN)
            with m.Elif(self.words != HEADER_WORDS + 2 * design.pairs):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(WRONG_COUNT)
            with m.Elif(bad):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(OUT_OF_RANGE)
            with m.Else():
                m.d.comb += committed.eq(1)
                m.d.sync += [place.eq(~place), fence.eq(taken + self.taken), fenced.eq(1)]
                for number, held in enumerate(headers):
                    with m.If(place != number):
                        m.d.sync += held.eq(header)
        return committed

    def _scan(self, m: Module, headers: list[data.View], place: Signal, committed: Signal) -> None:
        """Computes the CRC of content that is new: from what the memory of the generators and the header hold."""
        design = self._design
        pending = Signal(init=1, reset_less=True)
        header = Signal(header_layout())
        processor = m.submodules.crc_processor = crc.catalog.CRC32_ETHERNET(data_width=32).create()
        pair = Signal(range(max(2, design.pairs)), reset_less=True)
        step = Signal(STEP_BITS, reset_less=True)
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
            *shape_words(design),
            header.limit,
            header.row_offset,
            Cat(header.zero_row | (~header.zeros).replicate(len(header.zero_row)), (~header.zeros).replicate(11)),
            header.amplitude,
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += processor.start.eq(1)
                m.d.sync += pair.eq(0)
                with m.If(pending & ~committed):
                    m.next = "WORD_0"
            for number, word in enumerate(words):
                with m.State(f"WORD_{number}"):
                    m.d.comb += [processor.valid.eq(1), processor.data.eq(word)]
                    m.next = f"WORD_{number + 1}" if number + 1 < len(words) else "ASK"
            with m.State("ASK"):
                m.d.comb += self.read.eq(1)
                with m.If(self.granted):
                    m.next = "WAIT"
            with m.State("WAIT"):
                m.next = "ENTRY"
            with m.State("ENTRY"):
                m.d.sync += step.eq(self.step)
                m.next = "LOW"
            with m.State("LOW"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(step[:32])]
                m.next = "HIGH"
            with m.State("HIGH"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(step[32:])]
                m.d.sync += pair.eq(pair + 1)
                m.next = "ASK"
                with m.If(pair == design.pairs - 1):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.sync += [pending.eq(0), value.eq(processor.crc)]
                m.next = "IDLE"
