"""Gowin's block RAMs and ROMs against Gowin's description of them (docs/cells.md says which documents)."""

import itertools
import random
from collections.abc import Sequence

import pytest

from .bench import Cell, Job, Row, text
from .block_ram import GOWIN_X8, GOWIN_X9, Access, BlockRam, Port, Rules, random_accesses, rows_and_expected

SIDE_PINS = {"AD": 14, "CE": 1, "CLK": 1, "RESET": 1}
WRITE_MODES = {"hold": 0, "new": 1, "old": 2}
WIDTHS = {"X8": (1, 2, 4, 8, 16, 32), "X9": (9, 18, 36)}
RULES = {"X8": GOWIN_X8, "X9": GOWIN_X9}
NAMES = {
    "single": {"X8": "SP", "X9": "SPX9"}, "semi": {"X8": "SDPB", "X9": "SDPX9B"}, "dual": {"X8": "DPB", "X9": "DPX9B"},
    "rom": {"X8": "pROM", "X9": "pROMX9"},
}  # fmt: skip


def cell_of(kind: str, bits: str) -> Cell:
    widest = max(WIDTHS[bits]) // (2 if kind == "dual" else 1)
    inputs, outputs = {}, {"DO": widest}
    if kind in ("single", "rom"):
        inputs |= {**SIDE_PINS, "OCE": 1}
        if kind == "single":
            inputs |= {"DI": widest, "BLKSEL": 3, "WRE": 1}
    else:
        inputs |= {f"{pin}{side}": width for pin, width in SIDE_PINS.items() for side in "AB"}
        inputs |= {"BLKSELA": 3, "BLKSELB": 3}
        if kind == "semi":
            inputs |= {"DI": widest, "OCE": 1}
        else:
            inputs |= {"DIA": widest, "DIB": widest, "WREA": 1, "WREB": 1, "OCEA": 1, "OCEB": 1}
            outputs = {"DOA": widest, "DOB": widest}
    return Cell("gowin", NAMES[kind][bits], inputs, outputs)


def initial_values(rules: Rules, contents: Sequence[int]) -> dict[str, str]:
    """INIT_RAM_00 to INIT_RAM_3F: 32 bytes each, the array's bits without gaps, the first lowest."""
    size = 32 * rules.byte
    values = {}
    for row in range(64):
        value = sum(bit << place for place, bit in enumerate(contents[size * row : size * (row + 1)]))
        values[f"INIT_RAM_{row:02X}"] = f"{size}'h{value:x}"
    return values


def pins_of(kind: str, accesses: Sequence[Access]) -> Row:
    def side_pins(access: Access, side: str) -> Row:
        return {
            f"AD{side}": access.address, f"CE{side}": access.enable, f"CLK{side}": access.rising,
            f"RESET{side}": access.reset,
        }  # fmt: skip

    a, b = accesses
    if kind == "rom":
        return side_pins(a, "") | {"OCE": a.register_enable}
    if kind == "single":
        return side_pins(a, "") | {"OCE": a.register_enable, "DI": a.data, "WRE": a.write}
    both = side_pins(a, "A") | side_pins(b, "B")
    if kind == "semi":
        both["CEA"] = a.enable and a.write
        return both | {"DI": a.data, "OCE": b.register_enable}
    return both | {
        "DIA": a.data, "DIB": b.data, "WREA": a.write, "WREB": b.write,
        "OCEA": a.register_enable, "OCEB": b.register_enable,
    }  # fmt: skip


def job_of(rng: random.Random, kind: str, bits: str, ports: tuple[Port, Port], mode: str) -> tuple[Job, list[Row]]:
    rules = RULES[bits]
    contents = [rng.randrange(2) for _ in range(2048 * rules.byte)]
    ram = BlockRam(rules, contents, ports, asynchronous=mode == "ASYNC")
    writers = {"single": (True, False), "semi": (True, False), "dual": (True, True), "rom": (False, False)}[kind]
    rows, shown = rows_and_expected(ram, random_accesses(ram, rng, writers, 100), lambda moment: pins_of(kind, moment))
    parameters = initial_values(rules, contents) | {"RESET_MODE": text(mode)}
    a, b = ports
    if kind in ("single", "rom"):
        parameters |= {"BIT_WIDTH": str(a.width), "READ_MODE": f"1'b{a.registered:d}"}
        if kind == "single":
            parameters["WRITE_MODE"] = f"2'd{WRITE_MODES[a.write_mode]}"
    else:
        parameters |= {"BIT_WIDTH_0": str(a.width), "BIT_WIDTH_1": str(b.width)}
        if kind == "semi":
            parameters["READ_MODE"] = f"1'b{b.registered:d}"
        else:
            parameters |= {"READ_MODE0": f"1'b{a.registered:d}", "READ_MODE1": f"1'b{b.registered:d}"}
            parameters |= {f"WRITE_MODE{side}": f"2'd{WRITE_MODES[port.write_mode]}" for side, port in enumerate(ports)}
    names = {"dual": ("DOA", "DOB"), "semi": (None, "DO")}.get(kind, ("DO", None))
    outputs = [{name: value for name, value in zip(names, values, strict=True) if name} for values in shown]
    return Job(cell_of(kind, bits), rows, parameters), outputs


def check(pairs: Sequence[tuple[Job, list[Row]]], run_jobs) -> None:
    for (job, outputs), seen in zip(pairs, run_jobs([job for job, _ in pairs]), strict=True):
        told = {name: value for name, value in job.parameters.items() if "INIT" not in name}
        assert seen == outputs, (job.cell.module, told)


@pytest.mark.parametrize("bits", ["X8", "X9"])
def test_one_port_in_every_width_and_mode(bits, run_jobs):
    """SP, SPX9, pROM, pROMX9: widths, write modes, bypass and pipeline reads, both resets, byte enables."""
    rng = random.Random(21)
    spare = max(width for width in WIDTHS[bits] if width < 32)
    reset_modes = itertools.cycle(("SYNC", "ASYNC"))
    pairs = []
    for width, registered in itertools.product(WIDTHS[bits], (False, True)):
        for write_mode in WRITE_MODES:
            ports = Port(width, write_mode, registered), Port(spare)
            pairs.append(job_of(rng, "single", bits, ports, next(reset_modes)))
    for width, registered in itertools.product(WIDTHS[bits], (False, True)):
        pairs.append(job_of(rng, "rom", bits, (Port(width, "hold", registered), Port(spare)), next(reset_modes)))
    check(pairs, run_jobs)


@pytest.mark.parametrize("bits", ["X8", "X9"])
def test_a_writing_and_a_reading_port(bits, run_jobs):
    """SDPB, SDPX9B in every pair of widths; what the one writes while the other reads it is spoilt."""
    rng = random.Random(22)
    modes = itertools.cycle([(mode, registered) for mode in ("SYNC", "ASYNC") for registered in (False, True)])
    pairs = []
    for written, read in itertools.product(WIDTHS[bits], repeat=2):
        mode, registered = next(modes)
        pairs.append(job_of(rng, "semi", bits, (Port(written), Port(read, "hold", registered)), mode))
    check(pairs, run_jobs)


@pytest.mark.parametrize("bits", ["X8", "X9"])
def test_two_ports_that_read_and_write(bits, run_jobs):
    """DPB, DPX9B, to 16 or 18 bits."""
    rng = random.Random(23)
    widths = [width for width in WIDTHS[bits] if width < 32]
    modes = itertools.cycle(itertools.product(("SYNC", "ASYNC"), WRITE_MODES, WRITE_MODES))
    registers = itertools.cycle((False, True, True))
    pairs = []
    for width_a, width_b in [*itertools.product(widths, repeat=2)] * (1 if bits == "X8" else 4):
        (mode, mode_a, mode_b), registered = next(modes), next(registers)
        ports = Port(width_a, mode_a, registered), Port(width_b, mode_b, not registered)
        pairs.append(job_of(rng, "dual", bits, ports, mode))
    check(pairs, run_jobs)


def test_the_order_of_bits_in_the_initial_values(run_jobs):
    """The first words of pROM: 256 bits a parameter, 0xF1E0D3C2B5A49786 lowest, in each width from the low end."""
    start = 0xF1E0D3C2B5A49786
    jobs, expected = [], []
    for width, shift in ((1, 0), (2, 1), (4, 2), (8, 3), (16, 4), (32, 5)):
        rows = []
        for word in range(64 // width):
            row = {"AD": word << shift, "CE": 1}
            rows += [row, row | {"CLK": 1}]
        jobs.append(Job(cell_of("rom", "X8"), rows, {"BIT_WIDTH": str(width), "INIT_RAM_00": f"256'h{start:x}"}))
        expected.append([start >> width * word & 2**width - 1 for word in range(64 // width)])
    assert [[row["DO"] for row in seen[1::2]] for seen in run_jobs(jobs)] == expected


def test_the_order_of_nine_bit_bytes(run_jobs):
    """pROMX9: 288 bits a parameter, bytes of nine bits with nothing between them; INIT_RAM_3F holds the last."""
    first, last = 0x1_2345_6789, 0xA_BCDE_F012
    jobs = []
    for address in (0, 511 << 5):
        row = {"AD": address, "CE": 1}
        given = {"INIT_RAM_00": f"288'h{first:x}", "INIT_RAM_3F": f"288'h{last << 252:x}"}
        jobs.append(Job(cell_of("rom", "X9"), [row, row | {"CLK": 1}], given))
    assert [seen[1]["DO"] for seen in run_jobs(jobs)] == [first, last]


@pytest.mark.parametrize(("kind", "side"), [("single", ""), ("semi", "B"), ("dual", "A"), ("dual", "B")])
def test_a_block_select_gates_reads(kind, side, run_jobs):
    """A port reads only where its BLKSEL equals the parameter; the last word read stays."""
    parameter = {"": "BLK_SEL", "A": "BLK_SEL_0", "B": "BLK_SEL_1"}[side]
    size, shift = (16, 4) if kind == "dual" else (32, 5)
    stored = {"INIT_RAM_00": f"256'h{sum(word + 1 << size * word for word in range(8)):x}"}
    jobs = []
    for chosen in (0, 5):
        rows = []
        for select in range(8):
            row = {f"AD{side}": select << shift, f"CE{side}": 1, f"BLKSEL{side}": select}
            rows += [row, row | {f"CLK{side}": 1}]
        jobs.append(Job(cell_of(kind, "X8"), rows, stored | {parameter: f"3'd{chosen}"}))
    name = f"DO{side}" if kind == "dual" else "DO"
    for chosen, seen in zip((0, 5), run_jobs(jobs), strict=True):
        assert [row[name] for row in seen[1::2]] == [chosen + 1 if select >= chosen else 0 for select in range(8)]


def test_a_block_select_gates_writes(run_jobs):
    """SDPB's writing port has no other enable than CEA and BLKSELA."""
    rows = []
    for select in range(8):
        write = {"ADA": select << 5 | 15, "DI": select + 1, "CEA": 1, "BLKSELA": select}
        read = {"ADB": select << 5, "CEB": 1}
        rows += [write, write | {"CLKA": 1}, read, read | {"CLKB": 1}]
    jobs = [Job(cell_of("semi", "X8"), rows, {"BLK_SEL_0": f"3'd{chosen}"}) for chosen in (0, 5)]
    for chosen, seen in zip((0, 5), run_jobs(jobs), strict=True):
        assert [row["DO"] for row in seen[3::4]] == [select + 1 if select == chosen else 0 for select in range(8)]


@pytest.mark.parametrize(
    ("kind", "bits", "parameters", "reason"),
    [
        ("single", "X8", {"BIT_WIDTH": "9"}, "width"),
        ("single", "X9", {"BIT_WIDTH": "8"}, "width"),
        ("single", "X8", {"WRITE_MODE": "2'b11"}, "write mode"),
        ("semi", "X8", {"BIT_WIDTH_1": "36"}, "width"),
        ("dual", "X8", {"BIT_WIDTH_0": "32"}, "width"),
        ("dual", "X9", {"BIT_WIDTH_1": "36"}, "width"),
        ("dual", "X9", {"WRITE_MODE1": "2'b11"}, "write mode"),
        ("rom", "X8", {"RESET_MODE": text("NONE")}, "reset mode"),
    ],
)
def test_what_does_not_exist_stops_the_simulation_at_once(kind, bits, parameters, reason, refusal):
    printed, rows = refusal(Job(cell_of(kind, bits), [{}, {}], parameters))
    assert "bench.cell_0" in printed
    assert reason in printed
    assert rows == 0
