"""Where each slot lies, for slots that can be loaded: there is one place more than slots, the spare."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..design import Design
from .compare import below
from .component import Component
from .families import form_of
from .slots import physical_slots, place_bits, slot_bits


class SlotPlaces(Component):
    """A place for each slot, in distributed RAM where the part has it, and the spare one. Survives reset.

    Members
    -------
    number : In
        A slot that is looked up.
    place, filled : Out
        Where it lies, and whether it holds anything, in the same clock.
    slot : In
        The slot that is loaded or scanned.
    place_of_slot : Out
        Where it lies, a clock later.
    place_of_0, spare : Out
        Where slot 0 lies; which place is free.
    clear : In
        ``slot`` lies where it does at the start. So it must be told of each slot, once.
    swap : In
        ``slot`` takes the spare place, and is filled; its own becomes the spare. ``slot`` must not have changed in the
        clock before.
    """

    def __init__(self, design: Design):
        self._design = design
        super().__init__(
            {
                "number": In(slot_bits(design)),
                "place": Out(place_bits(design)),
                "filled": Out(1),
                "slot": In(slot_bits(design)),
                "place_of_slot": Out(place_bits(design)),
                "place_of_0": Out(place_bits(design)),
                "spare": Out(place_bits(design)),
                "clear": In(1),
                "swap": In(1),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        design = self._design
        depth, bits = 1 << slot_bits(design), place_bits(design)
        attrs = dict(form_of(platform).small_ram_attributes)
        # One memory for each reader.
        m.submodules.looked_up = looked_up = Memory(shape=unsigned(bits + 1), depth=depth, init=[], attrs=attrs)
        m.submodules.own = own = Memory(shape=unsigned(bits), depth=depth, init=[], attrs=attrs)
        look_up, look, set_up, set_own = (
            looked_up.read_port(domain="comb"), own.read_port(), looked_up.write_port(), own.write_port(),
        )  # fmt: skip
        place_of_0 = Signal(bits, reset_less=True)
        spare = Signal(bits, init=physical_slots(design) - 1, reset_less=True)
        slot_0 = Signal(reset_less=True)
        m.d.sync += slot_0.eq(self.slot == 0)
        with m.If(self.swap):
            m.d.sync += spare.eq(self.place_of_slot)
        with m.If(self.swap & slot_0):
            m.d.sync += place_of_0.eq(spare)
        m.d.comb += [
            look_up.addr.eq(self.number),
            look.addr.eq(self.slot),
            Cat(self.place, self.filled).eq(look_up.data),
            self.place_of_slot.eq(look.data),
            self.place_of_0.eq(place_of_0),
            self.spare.eq(spare),
            set_own.data.eq(Mux(self.swap, spare, self.slot)),
            set_up.data.eq(Cat(set_own.data, self.swap | below(self.slot, len(design.variants)))),
            *(port.addr.eq(self.slot) for port in (set_up, set_own)),
            *(port.en.eq(self.swap | self.clear) for port in (set_up, set_own)),
        ]
        return m
