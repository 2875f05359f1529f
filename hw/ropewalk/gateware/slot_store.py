"""The slots: what every slot holds besides its steps, the loading of slots at run time, and their CRC-32.

There is one physical slot more than slots. A load goes into the spare one; committing it swaps two pointers, so that
a descriptor sees the old content or the new one and nothing between. The spare stays busy while a token that was taken
before the swap may still need it. Loaded slots survive reset.
"""

from amaranth.hdl import Array, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import crc, data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import POSITION_BITS, Design
from ..tables.slot_words import HEADER_WORDS
from .component import Component
from .contents import slot_contents
from .slots import entry_address_bits, entry_bits, loadable, physical_slots, slot_layout

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
    changed : Out
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
        The CRC of a slot, one clock later.
    """

    latency = 2

    def __init__(self, design: Design):
        self._design = design
        physical = range(physical_slots(design))
        address = entry_address_bits(design)
        super().__init__(
            {
                "slot": In(8),
                "lookup": In(1),
                "known": Out(1),
                "physical": Out(physical),
                "header": Out(slot_layout(design)),
                "hold": Out(1),
                "changed": Out(1),
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
        )
