"""The slots: what every slot holds besides its steps, the loading of slots at run time, and their CRC-32.

There is one physical slot more than slots. A load goes into the spare one; committing it swaps two pointers, so that
a descriptor sees the old content or the new one and nothing between. The spare stays busy while a token that was taken
before the swap may still need it. Loaded slots survive reset.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import (
    crc,  # pyright: ignore[reportAttributeAccessIssue]  (the stubs leave it out)
    data,
    wiring,
)
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import POSITION_BITS, Design
from ..tables.slot_words import HEADER_WORDS
from .component import Component
from .contents import slot_contents
from .slots import (
    entry_address_bits,
    entry_bits,
    entry_count,
    layout_fits,
    pair_bits,
    physical_slots,
    slot_layout,
    table_bases,
    table_lengths,
)

NOTHING, BUSY, NO_SLOT, NOT_BEGUN, WRONG_COUNT, OUT_OF_RANGE = range(6)
"""Why a begin or a commit was refused."""


class SlotStore(Component):
    """Slot headers by slot number, a loader, and the CRCs.

    Looking a slot up takes :attr:`latency` clocks; a lookup may start in every clock in which ``hold`` is low.

    Members
    -------
    slot, lookup : In
        The slot of a descriptor that is taken in this clock.
    known, physical, header : Out
        :attr:`latency` clocks later: whether the slot is loaded, where, and its header.
    hold : Out
        Descriptors must not be taken in this clock: the header memory is read for a CRC.
    changed, changed_slot : Out
        A slot was committed in this clock: what was known of slots may no longer hold.
    taken, retired, rows_idle, row_begun : In
        A descriptor was taken; a token left the planner; the row source is between rows; it began a row.
    begin, begin_slot, word_valid, word, commit : In
        The load registers.
    refused, loading, busy, scanning, words : Out
        Their state; ``refusal`` is high for a clock when something was refused.
    entry_write, entry_address, entry_data : Out
        Writes a step into the row source's memory.
    read, read_address, granted, read_data : Out, Out, In, In
        Reads that memory; ``read_data`` is valid two clocks after ``granted``.
    crc_slot, crc_value : In, Out
        The CRC of a slot, two clocks later.
    """

    latency = 2

    def __init__(self, design: Design):
        self._design = design
        super().__init__(self.members(design))

    @staticmethod
    def members(design: Design) -> dict[str, wiring.Member]:
        """The members of the slot store of ``design``."""
        physical = range(max(2, physical_slots(design)))
        address = entry_address_bits(design)
        return {
            "slot": In(8),
            "lookup": In(1),
            "known": Out(1),
            "physical": Out(physical),
            "header": Out(slot_layout(design)),
            "hold": Out(1),
            "changed": Out(1),
            "changed_slot": Out(range(max(2, design.slots))),
            "taken": In(1),
            "retired": In(1),
            "rows_idle": In(1),
            "row_begun": In(1),
            "begin": In(1),
            "begin_slot": In(8),
            "word_valid": In(1),
            "word": In(32),
            "commit": In(1),
            "refusal": Out(1),
            "refused": Out(3),
            "loading": Out(1),
            "busy": Out(1),
            "scanning": Out(1),
            "words": Out(16),
            "entry_write": Out(1),
            "entry_address": Out(address),
            "entry_data": Out(64),
            "read": Out(1),
            "read_address": Out(address),
            "granted": In(1),
            "read_data": In(entry_bits(design)),
            "crc_slot": In(range(max(2, design.slots))),
            "crc_value": Out(32),
        }

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        loaded_at_start = len(design.variants)
        slot_range = range(max(2, design.slots))
        physical_range = range(physical_slots(design))

        # Which place each slot has, and whether it holds anything: survive reset, like the memories they speak of.
        place = Array(
            Signal(physical_range, name=f"place_{slot}", init=min(slot, physical_range[-1]), reset_less=True)
            for slot in range(design.slots)
        )
        filled = Signal(design.slots, init=(1 << loaded_at_start) - 1, reset_less=True)
        spare = Signal(physical_range, init=physical_slots(design) - 1, reset_less=True)

        contents = slot_contents(design)
        headers = m.submodules.slots = Memory(shape=unsigned(contents.width), depth=contents.depth, init=contents.words)
        read = headers.read_port()

        # Lookup: the place, then the header.
        held_place = Signal(physical_range, reset_less=True)
        held_first = Signal(physical_range, reset_less=True)
        known = Signal(reset_less=True)
        number = self.slot[: len(Signal(slot_range))]
        scan_place = Signal(physical_range, reset_less=True)
        scan_header = Signal()
        m.d.sync += [
            held_place.eq(place[number]),
            held_first.eq(place[0]),
            known.eq((self.slot < design.slots) & filled.bit_select(number, 1)),
            self.known.eq(known),
            self.physical.eq(held_place),
        ]
        m.d.comb += [
            # A token without a slot goes out in the order of slot 0.
            read.addr.eq(Mux(scan_header, scan_place, Mux(known, held_place, held_first))),
            self.header.eq(data.View(slot_layout(design), read.data)),
        ]

        if design.registers:
            self._scan(m, place, filled, read, scan_place, scan_header)
        if design.loadable:
            self._load(m, headers.write_port(), place, filled, spare)
        elif design.registers:
            with m.If(self.begin):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NO_SLOT)
            with m.If(self.commit | self.word_valid):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NOT_BEGUN)
        return m

    def _load(self, m: Module, write, place: Array, filled: Signal, spare: Signal) -> None:
        """Takes the words of a load into the spare place and commits it."""
        design = self._design
        target = Signal(range(max(2, design.slots)), reset_less=True)
        header = Signal(slot_layout(design), reset_less=True)
        bad = Signal(reset_less=True)
        low = Signal(32, reset_less=True)
        expected = Signal(18)
        m.d.comb += expected.eq(HEADER_WORDS + 2 * header.pairs)

        # The spare holds what the target held before the last commit. Tokens taken before it may still need it: until
        # they have all left the planner, and the row that was begun for the last of them is done.
        taken, retired = Signal(8), Signal(8)
        fence = Signal(8, reset_less=True)
        fenced, draining = Signal(), Signal()
        with m.If(self.taken):
            m.d.sync += taken.eq(taken + 1)
        with m.If(self.retired):
            m.d.sync += retired.eq(retired + 1)
        with m.If(fenced & (retired == fence)):
            m.d.sync += [fenced.eq(0), draining.eq(1)]
        with m.If(draining & ~fenced & (self.rows_idle | self.row_begun)):
            m.d.sync += draining.eq(0)
        m.d.comb += self.busy.eq(fenced | draining | self.scanning)

        with m.If(self.begin):
            m.d.sync += self.loading.eq(0)
            with m.If(self.begin_slot >= design.slots):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NO_SLOT)
            with m.Elif(self.busy):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(BUSY)
            with m.Else():
                m.d.sync += [
                    self.loading.eq(1),
                    self.refused.eq(NOTHING),
                    self.words.eq(0),
                    bad.eq(0),
                    target.eq(self.begin_slot),
                    header.eq(0),
                ]

        # Words beyond those that a head can have are counted and not written: commit refuses them.
        index = self.words - HEADER_WORDS
        most = design.geometry.head_dim // 2
        word = self.word
        with m.If(self.word_valid & ~self.loading):
            m.d.comb += self.refusal.eq(1)
            m.d.sync += self.refused.eq(NOT_BEGUN)
        with m.If(self.word_valid & self.loading):
            with m.If(self.words != 0xFFFF):
                m.d.sync += self.words.eq(self.words + 1)
            with m.Switch(self.words):
                with m.Case(0):
                    m.d.sync += [header.start.eq(word[:16]), header.pairs.eq(word[16:])]
                    with m.If((word[16:] == 0) | (word[:16] + word[16:] > most)):
                        m.d.sync += bad.eq(1)
                with m.Case(1):
                    m.d.sync += header.layout.eq(word[:2])
                    with m.If(~layout_fits(design, word, header.start, header.pairs)):
                        m.d.sync += bad.eq(1)
                with m.Case(2):
                    m.d.sync += header.limit.eq(word)
                    with m.If((word == 0) | (word > 1 << POSITION_BITS)):
                        m.d.sync += bad.eq(1)
                with m.Case(3):
                    m.d.sync += header.amplitude.eq(word)
                    with m.If((word == 0) | (word >> len(header.amplitude) != 0)):
                        m.d.sync += bad.eq(1)
                with m.Default():
                    m.d.sync += low.eq(word)
                    step = Cat(low, word[:16])
                    axis = word[30:]
                    with m.If(index[0]):
                        m.d.comb += self.entry_write.eq(index >> 1 < most)
                        with m.If((step >> design.phase_bits != 0) | (word[16:30] != 0) | (axis >= design.axes)):
                            m.d.sync += bad.eq(1)
        m.d.comb += [
            self.entry_address.eq(Cat(index[1 : 1 + pair_bits(design)], spare)),
            self.entry_data.eq(Cat(low, word)),
        ]

        m.d.comb += [write.addr.eq(spare), write.data.eq(header)]
        with m.If(self.commit):
            m.d.sync += self.loading.eq(0)
            with m.If(~self.loading):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NOT_BEGUN)
            with m.Elif(self.words != expected):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(WRONG_COUNT)
            with m.Elif(bad):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(OUT_OF_RANGE)
            with m.Else():
                m.d.comb += [write.en.eq(1), self.changed.eq(1)]
                m.d.sync += [
                    place[target].eq(spare),
                    spare.eq(place[target]),
                    filled.bit_select(target, 1).eq(1),
                    fence.eq(taken + self.taken),
                    fenced.eq(1),
                ]
        m.d.comb += self.changed_slot.eq(target)

    def _scan(self, m: Module, place: Array, filled: Signal, read, scan_place: Signal, scan_header: Signal) -> None:
        """Computes the CRCs of slots whose content is new, one after the other."""
        design = self._design
        slot_range = range(max(2, design.slots))
        pending = Signal(design.slots, init=(1 << len(design.variants)) - 1, reset_less=True)
        values = m.submodules.crcs = Memory(shape=unsigned(32), depth=1 << (design.slots - 1).bit_length(), init=[])
        result, store = values.read_port(), values.write_port()
        known = Signal(design.slots, reset_less=True)
        shown = Signal(reset_less=True)
        m.d.sync += [shown.eq(known.bit_select(self.crc_slot, 1)), self.crc_value.eq(Mux(shown, result.data, 0))]
        m.d.comb += result.addr.eq(self.crc_slot)

        processor = m.submodules.crc = crc.catalog.CRC32_ETHERNET(data_width=32).create()
        slot = Signal(slot_range, reset_less=True)
        first = Signal(slot_range)
        for number in reversed(range(design.slots)):
            with m.If(pending[number]):
                m.d.comb += first.eq(number)
        header = Signal(slot_layout(design), reset_less=True)
        left = Signal(range(entry_count(design) + 1), reset_less=True)
        address = Signal(len(self.read_address), reset_less=True)
        entry = Signal(64, reset_less=True)
        if design.source == "synth":
            entry_words = Cat(self.read_data[:48], Signal(14), self.read_data[48:])
            entries, begin = header.pairs, Cat(Signal(pair_bits(design)), scan_place)
        else:
            entry_words = self.read_data
            # A table's slots cannot be loaded: where their rows lie, and how many words they are, never changes.
            empty = [0] * (design.slots - len(design.variants))
            entries, begin = Array(table_lengths(design) + empty)[slot], Array(table_bases(design) + empty)[slot]
        words = [
            Cat(header.start, header.pairs),
            header.layout,
            header.limit,
            header.amplitude,
        ]
        with m.If(self.changed):
            m.d.sync += [
                pending.bit_select(self.changed_slot, 1).eq(1),
                known.bit_select(self.changed_slot, 1).eq(0),
            ]
        m.d.comb += [
            self.scanning.eq(pending.any()),
            self.read_address.eq(address),
            store.addr.eq(slot),
            store.data.eq(processor.crc),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [slot.eq(first), scan_place.eq(place[first])]
                with m.If(pending.any() & ~self.changed):
                    m.next = "HOLD"
            with m.State("HOLD"):
                # A descriptor that was taken in the clock before still reads the header memory in this one.
                m.d.comb += [self.hold.eq(1), processor.start.eq(1)]
                m.next = "ADDRESS"
            with m.State("ADDRESS"):
                m.d.comb += scan_header.eq(1)
                m.next = "HEADER"
            with m.State("HEADER"):
                m.d.sync += header.eq(data.View(slot_layout(design), read.data))
                m.next = "WORD_0"
            for number, word in enumerate(words):
                with m.State(f"WORD_{number}"):
                    m.d.comb += [processor.valid.eq(1), processor.data.eq(word)]
                    m.d.sync += [left.eq(entries), address.eq(begin)]
                    m.next = f"WORD_{number + 1}" if number + 1 < len(words) else "ASK"
            with m.State("ASK"):
                m.d.comb += self.read.eq(1)
                with m.If(self.granted):
                    m.next = "WAIT"
            with m.State("WAIT"):
                m.next = "ENTRY"
            with m.State("ENTRY"):
                m.d.sync += entry.eq(entry_words)
                m.next = "LOW"
            with m.State("LOW"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(entry[:32])]
                m.next = "HIGH"
            with m.State("HIGH"):
                m.d.comb += [processor.valid.eq(1), processor.data.eq(entry[32:])]
                m.d.sync += [left.eq(left - 1), address.eq(address + 1)]
                m.next = "ASK"
                with m.If(left == 1):
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += store.en.eq(1)
                m.d.sync += [pending.bit_select(slot, 1).eq(0), known.bit_select(slot, 1).eq(1)]
                m.next = "IDLE"
