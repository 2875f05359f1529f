"""The pins in constraints/, and the boards' clocks and polarities, against amaranth-boards."""

import re
from importlib import import_module

import pytest
from ropewalk.boards.registry import BOARDS, PORTS, board_of
from ropewalk.errors import InputError
from ropewalk_cli.board_pins import SOURCES, text

BOARD_CLASSES = {
    "ulx3s-85f": ("ulx3s", "ULX3S_85F_Platform"),
    "ulx3s-45f": ("ulx3s", "ULX3S_45F_Platform"),
    "ulx3s-25f": ("ulx3s", "ULX3S_25F_Platform"),
    "ulx3s-12f": ("ulx3s", "ULX3S_12F_Platform"),
    "icepi-zero": ("icepi_zero", "IcepiZero1_3Platform"),
    "orangecrab": ("orangecrab_r0_2", "OrangeCrabR0_2_25FPlatform"),
    "icebreaker": ("icebreaker", "ICEBreakerPlatform"),
    "tang-nano-9k": ("tang_nano_9k", "TangNano9kPlatform"),
    "tang-primer-20k": ("tang_primer_20k", "TangPrimer20kDockPlatform"),
    "arty-a7-35t": ("arty_a7", "ArtyA7_35Platform"),
    "arty-a7-100t": ("arty_a7", "ArtyA7_100Platform"),
}

SITES = {
    ".lpf": r'LOCATE COMP "(\w+)" SITE "(\w+)";',
    ".pcf": r"set_io (?:-pullup yes )?(\w+) (\w+)",
    ".cst": r'IO_LOC "(\w+)" (\w+);',
    ".xdc": r"PACKAGE_PIN (\w+) IOSTANDARD LVCMOS33\} \[get_ports (\w+)\]",
}


def platform_of(name):
    module, platform = BOARD_CLASSES[name]
    return getattr(import_module(f"amaranth_boards.{module}"), platform)()


def sites(board):
    """The pin of each port, as the board's file has it."""
    ending = board.pins[-4:]
    found = re.findall(SITES[ending], board.constraints())
    return {one[-1]: one[0] for one in found} if ending == ".xdc" else dict(found)


def signals(platform):
    """Every pin of a board: the resource and signal on it, and whether it is active low."""
    for (name, number), resource in platform.resources.items():
        for signal in resource.ios:
            leaf = getattr(signal, "ios", None)
            pin, inner = (leaf[0], signal.name) if leaf is not None else (signal, "")
            if hasattr(pin, "names"):
                for site in pin.names:
                    yield site, name, number, inner, pin.dir, pin.invert


def test_every_board_has_a_class():
    assert list(BOARDS) == list(BOARD_CLASSES)


@pytest.mark.parametrize("name", BOARDS)
def test_the_pins_are_those_of_the_board(name):
    board, platform = BOARDS[name], platform_of(name)
    wanted = {
        "clk": {platform.default_clk},
        "reset_button": {"button", "button_fire", "rst"},
        "uart_rx": {"uart rx"},
        "uart_tx": {"uart tx"},
        "led_pass": {"led", "led_g", "rgb_led g"},
        "led_fail": {"led", "led_r", "rgb_led r"},
    }
    pins = sites(board)
    assert set(pins) == set(PORTS)
    assert len(set(pins.values())) == len(pins)
    known = list(signals(platform))
    if name == "orangecrab":
        # Contacts 0 and 1 of a Feather are its serial line, seen from it: receive and transmit.
        contacts = platform.connectors["io", 0].mapping
        assert (pins.pop("uart_rx"), pins.pop("uart_tx")) == (contacts["0"], contacts["1"]) == ("N17", "M18")
    for port, site in pins.items():
        there = [one for one in known if one[0] == site and f"{one[1]} {one[3]}".strip() in wanted[port]]
        assert there, (port, site)
        for _, _, _, _, direction, inverted in there:
            assert direction == ("i" if port in ("clk", "reset_button", "uart_rx") else "o")
            assert inverted == (port in board.inverted)


@pytest.mark.parametrize("name", BOARDS)
def test_the_clock_and_the_part_are_those_of_the_board(name):
    board, platform = BOARDS[name], platform_of(name)
    assert board.clock_mhz * 1e6 == platform.default_clk_frequency
    names = ("part",) if hasattr(platform, "part") else ("device", "speed", "package")
    if board.part.upper().startswith("XC7"):
        names = ("device", "package", "speed")
    # The makers' order codes differ in their hyphens, and amaranth-boards leaves out that of an iCE40.
    wanted = "".join(getattr(platform, name, "") for name in names)
    assert re.sub(r"[-/]", "", board.part).upper() == re.sub(r"[-/]", "", wanted).upper()


@pytest.mark.parametrize("file", SOURCES)
def test_a_file_is_what_the_script_writes(file):
    board = next(board for board in BOARDS.values() if board.pins == file)
    assert board.constraints() == text(file)


@pytest.mark.parametrize("name", BOARDS)
def test_the_clock_stands_in_the_file_where_it_can(name):
    board = BOARDS[name]
    said = {
        ".lpf": f'FREQUENCY PORT "clk" {board.clock_mhz:g} MHZ;',
        ".pcf": f"set_frequency clk {board.clock_mhz:g}",
        ".xdc": f"create_clock -name clk -period {1000 / board.clock_mhz:g} [get_ports clk]",
    }
    if board.pins[-4:] in said:
        assert said[board.pins[-4:]] in board.constraints().splitlines()


def test_a_board_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="there is no board ulx4s; there are ulx3s-85f, "):
        board_of("ulx4s")
