"""Writes the pins of the boards into constraints/, from the board descriptions of amaranth-boards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click
from ropewalk.boards.registry import BOARDS, CONSTRAINTS, PORTS

Resource = tuple[str, int, str]
"""A resource of a board: its name, its number, and the signal in it; an empty one where it is a signal itself."""


@dataclass(frozen=True)
class Contact:
    """A contact of connector 0 of a board that has no resource for a port, and what is said of it in the file."""

    connector: str
    name: str
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Source:
    """Where the pins of a file come from: a module and a class of amaranth-boards, and a place for each port."""

    module: str
    platform: str
    resources: Mapping[str, Resource | Contact]


@dataclass(frozen=True)
class Pin:
    """A pin: the port on it, its name on the part, whether it is active low, its attributes, and its clock."""

    port: str
    site: str
    inverted: bool
    attributes: Mapping[str, str]
    mhz: float | None


_UART = {"uart_rx": ("uart", 0, "rx"), "uart_tx": ("uart", 0, "tx")}
_LEDS = {"led_pass": ("led", 0, ""), "led_fail": ("led", 1, "")}


def _resources(clock: str, button: str, lights: Mapping[str, Resource]) -> dict[str, Resource | Contact]:
    return {"clk": (clock, 0, ""), "reset_button": (button, 0, ""), **_UART, **lights}


SOURCES = {
    "ulx3s.lpf": Source("ulx3s", "ULX3S_85F_Platform", _resources("clk25", "button_fire", _LEDS)),
    "icepi-zero.lpf": Source("icepi_zero", "IcepiZero1_3Platform", _resources("clk50", "button", _LEDS)),
    # The board has no serial line of its own: these are the contacts that a Feather has it on.
    "orangecrab.lpf": Source(
        "orangecrab_r0_2",
        "OrangeCrabR0_2_25FPlatform",
        {
            **_resources("clk", "button", {"led_pass": ("rgb_led", 0, "g"), "led_fail": ("rgb_led", 0, "r")}),
            "uart_rx": Contact("io", "0", {"IO_TYPE": "LVCMOS33", "PULLMODE": "UP"}),
            "uart_tx": Contact("io", "1", {"IO_TYPE": "LVCMOS33"}),
        },
    ),
    "icebreaker.pcf": Source(
        "icebreaker",
        "ICEBreakerPlatform",
        _resources("clk12", "button", {"led_pass": ("led_g", 0, ""), "led_fail": ("led_r", 0, "")}),
    ),
    "tang-nano-9k.cst": Source("tang_nano_9k", "TangNano9kPlatform", _resources("clk27", "button", _LEDS)),
    "tang-primer-20k.cst": Source("tang_primer_20k", "TangPrimer20kDockPlatform", _resources("clk27", "button", _LEDS)),
    "arty-a7.xdc": Source(
        "arty_a7",
        "ArtyA7_35Platform",
        _resources("clk100", "rst", {"led_pass": ("rgb_led", 0, "g"), "led_fail": ("rgb_led", 0, "r")}),
    ),
}
"""The files in constraints/, by name."""


def pins(source: Source) -> Iterator[Pin]:
    """The pins of a board, in the order of :data:`PORTS`."""
    platform = getattr(import_module(f"amaranth_boards.{source.module}"), source.platform)()
    for port in PORTS:
        place = source.resources[port]
        if isinstance(place, Contact):
            site = platform.connectors[place.connector, 0].mapping[place.name]
            yield Pin(port=port, site=site, inverted=False, attributes=place.attributes, mhz=None)
            continue
        name, number, inner = place
        resource = platform.lookup(name, number)
        attributes = dict(resource.attrs)
        signal = resource
        if inner:
            signal = next(one for one in resource.ios if one.name == inner)
            attributes |= dict(signal.attrs)
        physical = signal.ios[0]
        yield Pin(
            port=port,
            site=physical.names[0],
            inverted=physical.invert,
            attributes=attributes,
            mhz=resource.clock.frequency / 1e6 if resource.clock is not None else None,
        )


def _lpf(pin: Pin) -> Iterator[str]:
    yield f'LOCATE COMP "{pin.port}" SITE "{pin.site}";'
    yield f'IOBUF PORT "{pin.port}" {" ".join(f"{key}={value}" for key, value in pin.attributes.items())};'
    if pin.mhz is not None:
        yield f'FREQUENCY PORT "{pin.port}" {pin.mhz:g} MHZ;'


def _pcf(pin: Pin) -> Iterator[str]:
    pull = "-pullup yes " if pin.attributes.get("PULLUP") else ""
    yield f"set_io {pull}{pin.port} {pin.site}"
    if pin.mhz is not None:
        yield f"set_frequency {pin.port} {pin.mhz:g}"


def _cst(pin: Pin) -> Iterator[str]:
    yield f'IO_LOC "{pin.port}" {pin.site};'
    yield f'IO_PORT "{pin.port}" {" ".join(f"{key}={value}" for key, value in pin.attributes.items())};'


def _xdc(pin: Pin) -> Iterator[str]:
    words = " ".join(f"{key} {value}" for key, value in {"PACKAGE_PIN": pin.site, **pin.attributes}.items())
    yield f"set_property -dict {{{words}}} [get_ports {pin.port}]"
    if pin.mhz is not None:
        yield f"create_clock -name {pin.port} -period {1e3 / pin.mhz:g} [get_ports {pin.port}]"


_WRITERS = {".lpf": _lpf, ".pcf": _pcf, ".cst": _cst, ".xdc": _xdc}


def text(file: str) -> str:
    """What a file in constraints/ must hold."""
    boards = ", ".join(board.name for board in BOARDS.values() if board.pins == file)
    lines = [f"# {boards}: written by scripts/board_pins from amaranth-boards"]
    if file.endswith(".cst"):
        lines[0] = lines[0].replace("#", "//")
    for pin in pins(SOURCES[file]):
        lines += _WRITERS[Path(file).suffix](pin)
    return "\n".join(lines) + "\n"


@click.command(help=__doc__)
def main() -> None:
    """Write all files."""
    for file in SOURCES:
        (CONSTRAINTS / file).write_text(text(file), encoding="utf-8")
        click.echo(f"constraints/{file}")


if __name__ == "__main__":
    main()
