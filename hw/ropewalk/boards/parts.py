"""The parts that a build can be for, by their makers' names."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import InputError
from . import tools
from .families import ECP5, GW1N, GW2A, ICE40, XILINX, Family
from .tools import Tool

PARTS = (
    "LFE5U-12F-6, LFE5U-25F-6, LFE5U-45F-6, LFE5U-85F-6 (speed 6, 7 or 8; a package may follow, as in "
    "LFE5U-85F-6BG381), ICE40UP5K-SG48, GW1NR-LV9QN88PC6/I5, GW2A-LV18PG256C8/I7, XC7A35T and XC7A100T"
)
"""What a refusal lists."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """What a part has, or a netlist takes, counted as a report counts it.

    ``comb`` are look-up tables, ``ff`` registers, ``dsp`` multipliers, ``block_ram`` block RAMs, which may be halves.
    """

    comb: int
    ff: int
    dsp: float
    block_ram: float

    def over(self, room: "Room") -> list[tuple[str, float, float]]:
        """What this takes more of than ``room`` has: its name, how many, and how many there are."""
        return [
            (title, getattr(self, name), getattr(room, name))
            for name, title in _TITLES.items()
            if getattr(self, name) > getattr(room, name)
        ]


_TITLES = {
    "comb": "look-up tables (comb)",
    "ff": "registers (ff)",
    "dsp": "multipliers (dsp)",
    "block_ram": "block RAMs (block_ram)",
}


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part: its name, its family, what it has, and how nextpnr and the packer are told of it.

    ``room`` is what nextpnr finds in it; ``sold`` what its maker promises where that is less. ``placer`` is None where
    none of ours places it: then there is an area, and no clock. ``clock_pin`` is a pin for the clock of a netlist
    without others, where the placer does not choose one.
    """

    name: str
    family: Family
    room: Room
    sold: Room | None = None
    placer: Tool | None = None
    placer_options: tuple[str, ...] = ()
    packer: Tool | None = None
    packer_options: tuple[str, ...] = ()
    clock_pin: str = ""


_ECP5 = re.compile(r"LFE5U-(?P<size>12|25|45|85)F-(?P<speed>[678])-?(?P<package>[A-Z]{2}\d{3})?C?I?")
_PACKAGES = {
    "BG256": ("CABGA256", (12, 25, 45)),
    "BG381": ("CABGA381", (12, 25, 45, 85)),
    "BG554": ("CABGA554", (45, 85)),
    "BG756": ("CABGA756", (85,)),
    "MG285": ("CSFBGA285", (12, 25, 45, 85)),
    "TG144": ("TQFP144", (12, 25, 45)),
}
"""Packages of an ECP5 as in its order code: their names to nextpnr, and the sizes that they come with."""

_ECP5_ROOM = {
    12: Room(comb=24_288, ff=24_288, dsp=28, block_ram=56),
    25: Room(comb=24_288, ff=24_288, dsp=28, block_ram=56),
    45: Room(comb=43_848, ff=43_848, dsp=72, block_ram=108),
    85: Room(comb=83_640, ff=83_640, dsp=156, block_ram=208),
}
_SOLD_AS_12 = Room(comb=12_000, ff=12_000, dsp=28, block_ram=32)
"""What Lattice promises of an LFE5U-12F (FPGA-DS-02012); to nextpnr it is an LFE5U-25F."""

_XILINX = re.compile(r"XC7A(35|100)T(?:I?[A-Z]{3}\d{3}(?:-[123]L?)?)?")


def _ecp5(name: str) -> Part | None:
    match = _ECP5.fullmatch(name)
    if match is None:
        return None
    size, package = int(match["size"]), match["package"] or "BG381"
    fitting = [code for code, (_, sizes) in _PACKAGES.items() if size in sizes]
    if package not in fitting:
        raise InputError(f"an LFE5U-{size}F has no package {package}; its packages are {', '.join(fitting)}")
    return Part(
        name=f"LFE5U-{size}F-{match['speed']}{match['package'] or ''}",
        family=ECP5,
        room=_ECP5_ROOM[size],
        sold=_SOLD_AS_12 if size == 12 else None,
        placer=tools.NEXTPNR_ECP5,
        placer_options=(f"--{size}k", "--speed", match["speed"], "--package", _PACKAGES[package][0]),
        packer=tools.ECPPACK,
    )


def _ice40(name: str) -> Part | None:
    if name not in ("ICE40UP5K-SG48", "ICE40UP5K"):
        return None
    return Part(
        name="ICE40UP5K-SG48",
        family=ICE40,
        room=Room(comb=5_280, ff=5_280, dsp=8, block_ram=30),
        placer=tools.NEXTPNR_ICE40,
        placer_options=("--up5k", "--package", "sg48"),
        packer=tools.ICEPACK,
    )


_GOWIN = {
    "GW1NR-LV9QN88PC6/I5": (GW1N, "GW1N-9C", "52", Room(comb=8_640, ff=6_480, dsp=20, block_ram=26)),
    "GW2A-LV18PG256C8/I7": (GW2A, "GW2A-18C", "H11", Room(comb=20_736, ff=15_552, dsp=48, block_ram=46)),
}
"""Gowin parts: their family, the name of their series to nextpnr and the packer, a pin for a clock, and their room."""


def _gowin(name: str) -> Part | None:
    if name not in _GOWIN:
        return None
    family, series, clock_pin, room = _GOWIN[name]
    return Part(
        name=name,
        family=family,
        room=room,
        placer=tools.NEXTPNR_GOWIN,
        placer_options=("--device", name, "--vopt", f"family={series}"),
        packer=tools.GOWIN_PACK,
        packer_options=("-d", series),
        clock_pin=clock_pin,
    )


_XILINX_ROOM = {
    "35": Room(comb=20_800, ff=41_600, dsp=90, block_ram=50),
    "100": Room(comb=63_400, ff=126_800, dsp=240, block_ram=135),
}
"""As DS180 has it."""


def _xilinx(name: str) -> Part | None:
    match = _XILINX.fullmatch(name)
    return Part(name=name, family=XILINX, room=_XILINX_ROOM[match[1]]) if match else None


_READERS: tuple[Callable[[str], Part | None], ...] = (_ecp5, _ice40, _gowin, _xilinx)


def part_of(name: str) -> Part:
    """The part called ``name``, in upper or lower case.

    Raises
    ------
    InputError
        If there is no such part, or nothing here builds for it.
    """
    for read in _READERS:
        part = read(name.upper())
        if part is not None:
            return part
    raise InputError(f"there is no part {name}; these can be built for: {PARTS}")
