"""The slots: what every slot holds besides its steps, the loading of slots at run time, and their CRC-32.

There is one physical slot more than slots. A load goes into the spare one; committing it swaps two pointers, so that
a descriptor sees the old content or the new one and nothing between. The spare stays busy while a token that was taken
before the swap may still need it. Loaded slots survive reset.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import Design
from .capacity import token_places
from .compare import below
from .component import Component
from .contents import slot_contents
from .slot_loader import LOADER_MEMBERS, NO_SLOT, NOT_BEGUN, SlotLoader
from .slot_places import SlotPlaces
from .slot_scan import SlotScan
from .slots import entry_address_bits, entry_bits, place_bits, slot_bits, slot_layout
from .spare_guard import SpareGuard


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
        Descriptors must not be taken in this clock: the header memory is read for a CRC, or the slots are not set up
        yet, which takes two clocks for each after configuration.
    changed, changed_slot : Out
        A slot was committed in this clock: what was known of slots may no longer hold.
    taken, retired, rows_idle, row_begun : In
        A descriptor was taken; a token left the planner; the row source is between rows; it began a row.
    begin, begin_slot, word_valid, word, commit : In
        The load registers; how they may be written, :class:`~ropewalk.gateware.slot_loader.SlotLoader` says.
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
        address = entry_address_bits(design)
        return {
            "slot": In(8),
            "lookup": In(1),
            "known": Out(1),
            "physical": Out(place_bits(design)),
            "header": Out(slot_layout(design)),
            "hold": Out(1),
            "changed": Out(1),
            "changed_slot": Out(slot_bits(design)),
            "taken": In(1),
            "retired": In(1),
            "rows_idle": In(1),
            "row_begun": In(1),
            **LOADER_MEMBERS,
            "busy": Out(1),
            "scanning": Out(1),
            "entry_write": Out(1),
            "entry_address": Out(address),
            "entry_data": Out(64),
            "read": Out(1),
            "read_address": Out(address),
            "granted": In(1),
            "read_data": In(entry_bits(design)),
            "crc_slot": In(slot_bits(design)),
            "crc_value": Out(32),
        }

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        contents = slot_contents(design)
        headers = m.submodules.slots = Memory(shape=unsigned(contents.width), depth=contents.depth, init=contents.words)
        read = headers.read_port()
        # The slot that is loaded or scanned.
        slot = Signal(slot_bits(design), reset_less=True)
        number = self.slot[: len(slot)]

        # A lookup: in the first clock the place, which a scan may ask for instead; in the second the header. A token
        # without a slot goes out in the order of slot 0.
        place, place_of_0, place_of_slot = (Signal(place_bits(design)) for _ in range(3))
        filled = Signal()
        known, found, other = (
            Signal(reset_less=True),
            Signal.like(place, reset_less=True),
            Signal.like(place, reset_less=True),
        )
        m.d.sync += [
            known.eq(below(self.slot, design.slots) & filled & ~self.hold),
            found.eq(place),
            other.eq(Mux(self.hold, place_of_slot, place_of_0)),
            self.known.eq(known),
            self.physical.eq(found),
        ]
        m.d.comb += [
            read.addr.eq(Mux(known, found, other)),
            self.header.eq(data.View(slot_layout(design), read.data)),
        ]

        clear = self._scan(m, slot, place_of_slot) if design.registers else Const(0)
        if design.loadable:
            m.submodules.places = places = SlotPlaces(design)
            m.d.comb += [
                places.number.eq(number),
                places.slot.eq(slot),
                places.clear.eq(clear),
                places.swap.eq(self.changed),
                Cat(place, filled).eq(Cat(places.place, places.filled)),
                place_of_0.eq(places.place_of_0),
                place_of_slot.eq(places.place_of_slot),
            ]
            self._load(m, slot, places.spare, headers.write_port())
        else:
            m.d.comb += [place.eq(number), filled.eq(below(self.slot, len(design.variants))), place_of_slot.eq(slot)]
            with m.If(self.begin):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NO_SLOT)
            with m.If(self.commit | self.word_valid):
                m.d.comb += self.refusal.eq(1)
                m.d.sync += self.refused.eq(NOT_BEGUN)
        return m

    def _load(self, m: Module, slot: Signal, spare: Signal, header) -> None:
        """Let the host load ``slot`` into the place ``spare``, whose header ``header`` writes."""
        m.submodules.loader = loader = SlotLoader(self._design)
        for name, member in LOADER_MEMBERS.items():
            outside, inside = getattr(self, name), getattr(loader, name)
            m.d.comb += outside.eq(inside) if member.flow == Out else inside.eq(outside)
        m.submodules.guard = guard = SpareGuard(token_places(self._design))
        m.d.sync += self.busy.eq(guard.needed | self.scanning)
        m.d.comb += [
            guard.swapped.eq(loader.accepted),
            *(getattr(guard, name).eq(getattr(self, name)) for name in ("taken", "retired", "rows_idle", "row_begun")),
            loader.busy.eq(self.busy),
            self.changed.eq(loader.accepted),
            self.changed_slot.eq(slot),
            header.addr.eq(spare),
            header.data.eq(loader.header),
            # The spare is free for the whole of the load.
            header.en.eq(self.loading),
            self.entry_write.eq(loader.entry_write),
            self.entry_address.eq(Cat(loader.pair, spare)),
            self.entry_data.eq(loader.entry_data),
        ]

    def _scan(self, m: Module, slot: Signal, place: Signal) -> Signal:
        """Have the CRCs computed; whether ``slot`` is to be set to what it is at the start in this clock."""
        design = self._design
        m.submodules.scan = scan = SlotScan(design)
        # A load begins with any slot: where there is no such slot, nothing comes of it.
        at_work = Signal()
        m.d.sync += at_work.eq(scan.scanning)
        with m.If(Mux(at_work, scan.advance, self.begin)):
            m.d.sync += slot.eq(Mux(at_work, scan.following, self.begin_slot))
        crcs = m.submodules.crcs = Memory(shape=unsigned(32), depth=1 << len(slot), init=[])
        shown, store = crcs.read_port(), crcs.write_port()
        m.d.sync += self.crc_value.eq(shown.data)
        m.d.comb += [
            scan.slot.eq(slot),
            scan.place.eq(place),
            scan.loaded.eq(self.changed),
            scan.header.eq(self.header),
            scan.granted.eq(self.granted),
            scan.read_data.eq(self.read_data),
            *(getattr(self, name).eq(getattr(scan, name)) for name in ("hold", "scanning", "read", "read_address")),
            shown.addr.eq(self.crc_slot),
            store.addr.eq(slot),
            store.data.eq(scan.value),
            store.en.eq(scan.store),
        ]
        return scan.clearing
