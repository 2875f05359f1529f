"""A second description of the block RAMs: words as ranges of bits in one array, as the vendors count them."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from .bench import Row

ADDRESS_BITS = 14


@dataclass(frozen=True)
class Rules:
    """What differs between vendors.

    Attributes
    ----------
    byte : bits of a byte; an array has 2048 of them.
    reset_blocks_writes, register_reset_needs_enable : of a synchronous reset.
    unwritten_shown : whether a write-through shows what is stored in bytes that it does not write.
    """

    byte: int
    reset_blocks_writes: bool
    register_reset_needs_enable: bool
    unwritten_shown: bool


ECP5 = Rules(byte=9, reset_blocks_writes=True, register_reset_needs_enable=True, unwritten_shown=False)
GOWIN_X8 = Rules(byte=8, reset_blocks_writes=False, register_reset_needs_enable=False, unwritten_shown=True)
GOWIN_X9 = Rules(byte=9, reset_blocks_writes=False, register_reset_needs_enable=False, unwritten_shown=True)


@dataclass
class Port:
    """One port and what it holds: ``write_mode`` is ``hold``, ``new`` or ``old``; bit lists begin with the lowest."""

    width: int
    write_mode: str = "hold"
    registered: bool = False
    latch: list[int] = field(default_factory=list)
    register: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.latch, self.register = [0] * self.width, [0] * self.width


@dataclass(frozen=True)
class Access:
    """What one port is asked for at a clock."""

    rising: bool
    enable: bool
    write: bool
    register_enable: bool
    reset: bool
    address: int
    data: int


class BlockRam:
    """Contents, two ports and their output registers.

    A word of ``w`` bits is the w bits from ``w * k`` on, k being the address without the bits that choose within a
    word; where bytes have nine bits, words narrower than a byte skip each ninth bit.
    """

    def __init__(self, rules: Rules, contents: Sequence[int], ports: tuple[Port, Port], asynchronous: bool) -> None:
        self.rules, self.bits, self.ports, self.asynchronous = rules, list(contents), ports, asynchronous
        assert len(self.bits) == 2048 * rules.byte

    def places(self, port: Port, address: int) -> list[int]:
        width = port.width
        word = address >> (width // self.rules.byte * 8 or width).bit_length() - 1
        start = width * word
        if width < self.rules.byte == 9:
            start += start // 8
        return list(range(start, start + width))

    def written(self, port: Port, access: Access) -> dict[int, int]:
        """The bits that the access writes, by place. Bit n of the address enables byte n of a wider word."""
        if not (access.rising and access.enable and access.write):
            return {}
        if access.reset and not self.asynchronous and self.rules.reset_blocks_writes:
            return {}
        return {
            place: access.data >> bit & 1
            for bit, place in enumerate(self.places(port, access.address))
            if port.width < 2 * self.rules.byte or access.address >> bit // self.rules.byte & 1
        }

    def step(self, accesses: tuple[Access, Access]) -> tuple[int, int]:
        """Both ports at one moment; returns what they show after it."""
        changes = [self.written(port, access) for port, access in zip(self.ports, accesses, strict=True)]
        assert not {place // self.rules.byte for place in changes[0]} & {p // self.rules.byte for p in changes[1]}
        for port, access, own, others in zip(self.ports, accesses, changes, reversed(changes), strict=True):
            if access.reset and self.asynchronous:
                port.latch, port.register = [0] * port.width, [0] * port.width
            elif access.rising:
                before = port.latch
                if access.reset:
                    port.latch = [0] * port.width
                elif access.enable and (not access.write or port.write_mode != "hold"):
                    places = self.places(port, access.address)
                    port.latch = [self.shown(port, access, place, own, others) for place in places]
                if access.reset and (access.register_enable or not self.rules.register_reset_needs_enable):
                    port.register = [0] * port.width
                elif access.register_enable:
                    port.register = before
        for change in changes:
            for place, bit in change.items():
                self.bits[place] = bit
        return tuple(
            sum(bit << place for place, bit in enumerate(port.register if port.registered else port.latch))
            for port in self.ports
        )  # pyright: ignore[reportReturnType]

    def shown(self, port: Port, access: Access, place: int, own: dict[int, int], others: dict[int, int]) -> int:
        if access.write and port.write_mode == "new":
            if place in own:
                return own[place]
            if not self.rules.unwritten_shown:
                return 1 - self.bits[place]
        return self.bits[place] ^ (place in others)


def random_accesses(ram: BlockRam, rng: random.Random, writers: tuple[bool, bool], steps: int) -> list[list[Access]]:
    """Accesses that meet often (64 bits' worth of addresses near each other) and never write one byte twice at once."""
    chosen = []
    base = rng.randrange(2**ADDRESS_BITS) & ~0xFF
    while len(chosen) < steps:
        rising = rng.choice([(True, True), (True, True), (True, False), (False, True)])
        accesses = [
            Access(
                rising=rising[side], enable=rng.random() < 0.85, write=writers[side] and rng.random() < 0.5,
                register_enable=rng.random() < 0.8, reset=rng.random() < 0.08,
                address=base + rng.randrange(0x100) if rng.random() < 0.9 else rng.randrange(2**ADDRESS_BITS),
                data=rng.randrange(2**port.width),
            )
            for side, port in enumerate(ram.ports)
        ]  # fmt: skip
        touched = [
            {place // ram.rules.byte for place in ram.written(port, access)}
            for port, access in zip(ram.ports, accesses, strict=True)
        ]
        if not touched[0] & touched[1]:
            chosen.append(accesses)
    return chosen


def held(access: Access) -> Access:
    """The same pins before the clock rises."""
    return replace(access, rising=False)


def rows_and_expected(
    ram: BlockRam, chosen: Sequence[Sequence[Access]], pins_of: Callable[[Sequence[Access]], Row]
) -> tuple[list[Row], list[tuple[int, int]]]:
    """Two rows for each pair of accesses: the clocks low, then those that rise; and what both ports show after each."""
    rows, shown = [], []
    for accesses in chosen:
        for moment in ([held(access) for access in accesses], accesses):
            rows.append(pins_of(moment))
            shown.append(ram.step((moment[0], moment[1])))
    return rows, shown
