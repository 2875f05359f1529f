"""DP16KD and PDPW16KD against Lattice's description of them (docs/cells.md says which documents)."""

import itertools
import random
from collections.abc import Sequence

import pytest

from .bench import Cell, Job, Row, text
from .block_ram import ECP5, Access, BlockRam, Port, random_accesses, rows_and_expected

DUAL = Cell(
    family="ecp5",
    module="DP16KD",
    inputs={
        "DIA": 18, "ADA": 14, "CEA": 1, "OCEA": 1, "CLKA": 1, "WEA": 1, "CSA": 3, "RSTA": 1,
        "DIB": 18, "ADB": 14, "CEB": 1, "OCEB": 1, "CLKB": 1, "WEB": 1, "CSB": 3, "RSTB": 1,
    },
    outputs={"DOA": 18, "DOB": 18},
    bit_pins=True,
)  # fmt: skip
PSEUDO = Cell(
    family="ecp5",
    module="PDPW16KD",
    inputs={
        "DI": 36, "ADW": 9, "BE": 4, "CEW": 1, "CLKW": 1, "CSW": 3,
        "ADR": 14, "CER": 1, "OCER": 1, "CLKR": 1, "CSR": 3, "RST": 1,
    },
    outputs={"DO": 36},
    bit_pins=True,
)  # fmt: skip
WRITE_MODES = {"hold": "NORMAL", "new": "WRITETHROUGH", "old": "READBEFOREWRITE"}
WIDTHS = (1, 2, 4, 9, 18)


def contents_of(words: Sequence[int]) -> list[int]:
    """The bits of an array that holds 1024 words of 18 bits."""
    return [word >> bit & 1 for word in words for bit in range(18)]


def initial_values(words: Sequence[int], *, as_text: bool = False) -> dict[str, str]:
    """INITVAL_00 to INITVAL_3F: 16 words of 18 bits each, in fields of 20 bits, the first word lowest."""
    values = {}
    for row in range(64):
        value = sum(word << 20 * place for place, word in enumerate(words[16 * row : 16 * row + 16]))
        values[f"INITVAL_{row:02X}"] = text(f"0x{value:080X}") if as_text else f"320'h{value:x}"
    return values


def dual_pins(accesses: Sequence[Access]) -> Row:
    row = {}
    for side, access in zip("AB", accesses, strict=True):
        row |= {
            f"AD{side}": access.address, f"CE{side}": access.enable, f"OCE{side}": access.register_enable,
            f"CLK{side}": access.rising, f"WE{side}": access.write, f"RST{side}": access.reset,
            f"DI{side}": access.data % 2**18,
        }  # fmt: skip
    if accesses[0].data >= 2**18:  # 36 bits: the upper half goes in by port B
        row["DIB"] = accesses[0].data >> 18
    return row


def dual_job(rng: random.Random, ports: tuple[Port, Port], mode: str, steps: int = 120) -> tuple[Job, list[Row]]:
    """A DP16KD under random accesses with random contents, and what it should show."""
    words = [rng.randrange(2**18) for _ in range(1024)]
    ram = BlockRam(ECP5, contents_of(words), ports, asynchronous=mode == "ASYNC")
    widest = max(port.width for port in ports)
    chosen = random_accesses(ram, rng, (True, widest < 36), steps)
    parameters = initial_values(words, as_text=rng.random() < 0.5)
    parameters |= {"RESETMODE": text(mode), "ASYNC_RESET_RELEASE": text(mode)}
    for side, port in zip("AB", ports, strict=True):
        parameters |= {
            f"DATA_WIDTH_{side}": str(port.width),
            f"WRITEMODE_{side}": text(WRITE_MODES[port.write_mode]),
            f"REGMODE_{side}": text("OUTREG" if port.registered else "NOREG"),
        }
    if ports[1].width == 36:
        parameters["REGMODE_A"] = parameters["REGMODE_B"]
    rows, shown = rows_and_expected(ram, chosen, dual_pins)
    if ports[1].width == 36:
        outputs = [{"DOA": b % 2**18, "DOB": b >> 18} for _, b in shown]
    else:
        outputs = [{"DOA": a if ports[0].width < 36 else 0, "DOB": b} for a, b in shown]
    return Job(DUAL, rows, parameters), outputs


def check(pairs: Sequence[tuple[Job, list[Row]]], run_jobs) -> None:
    for (job, outputs), seen in zip(pairs, run_jobs([job for job, _ in pairs]), strict=True):
        assert seen == outputs, {name: value for name, value in job.parameters.items() if "INITVAL" not in name}


def test_every_pair_of_widths_and_every_write_mode(run_jobs):
    """True dual port, both ports reading and writing in each other's neighbourhood."""
    rng = random.Random(11)
    modes = itertools.cycle(itertools.product(WRITE_MODES, repeat=2))
    pairs = []
    for width_a, width_b in itertools.product(WIDTHS, repeat=2):
        mode_a, mode_b = next(modes)
        pairs.append(dual_job(rng, (Port(width_a, mode_a), Port(width_b, mode_b)), "SYNC"))
    check(pairs, run_jobs)


def test_output_registers_and_resets(run_jobs):
    """OUTREG with its own enable; a synchronous reset blocks the write and needs OCE in the output register."""
    rng = random.Random(12)
    pairs = []
    for registered, mode, write_mode in itertools.product((False, True), ("SYNC", "ASYNC"), WRITE_MODES):
        width_a, width_b = rng.choice(WIDTHS), 18
        ports = Port(width_a, write_mode, registered), Port(width_b, write_mode, not registered)
        pairs.append(dual_job(rng, ports, mode))
    check(pairs, run_jobs)


def test_pseudo_dual_port_of_36_bits(run_jobs):
    """36 bits in by both data inputs, or out by both data outputs, or both; four byte enables."""
    rng = random.Random(13)
    pairs = []
    for width, mode, registered in itertools.product((*WIDTHS, 36), ("SYNC", "ASYNC"), (False, True)):
        pairs.append(dual_job(rng, (Port(36), Port(width, registered=registered)), mode))
        if width < 36:
            pairs.append(dual_job(rng, (Port(width), Port(36, registered=registered)), mode))
    check(pairs, run_jobs)


def test_pdpw16kd_swaps_the_halves_of_36_bits(run_jobs):
    """Diamond's own netlists of 36-bit memories connect DO18 to bit 0 of the word and DO0 to bit 18."""
    rng = random.Random(14)
    pairs = []
    for width, registered in itertools.product((*WIDTHS, 36), (False, True)):
        words = [rng.randrange(2**18) for _ in range(1024)]
        ram = BlockRam(ECP5, contents_of(words), (Port(36), Port(width, registered=registered)), asynchronous=False)
        chosen = [
            [Access(**{**a.__dict__, "write": True, "reset": False}), Access(**{**b.__dict__, "write": False})]
            for a, b in random_accesses(ram, rng, (True, False), 120)
        ]

        def pins(accesses: Sequence[Access]) -> Row:
            write, read = accesses
            return {
                "DI": write.data, "ADW": write.address >> 5, "BE": write.address & 15, "CEW": write.enable,
                "CLKW": write.rising, "ADR": read.address, "CER": read.enable, "OCER": read.register_enable,
                "CLKR": read.rising, "RST": read.reset,
            }  # fmt: skip

        rows, shown = rows_and_expected(ram, chosen, pins)
        outputs = [{"DO": (b % 2**18 << 18 | b >> 18) if width == 36 else b} for _, b in shown]
        parameters = initial_values(words) | {"DATA_WIDTH_R": str(width)}
        parameters["REGMODE"] = text("OUTREG" if registered else "NOREG")
        pairs.append((Job(PSEUDO, rows, parameters), outputs))
    check(pairs, run_jobs)


def reads(width: int, count: int, side: str = "B") -> list[Row]:
    """Read the first words of ``width`` bits, one after the other."""
    shift = {1: 0, 2: 1, 4: 2, 9: 3, 18: 4, 36: 5}[width]
    rows = []
    for word in range(count):
        row = {f"AD{side}": word << shift, f"CE{side}": 1, f"OCE{side}": 1}
        rows += [row, row | {f"CLK{side}": 1}]
    return rows


@pytest.mark.parametrize("as_text", [False, True], ids=["number", "text"])
def test_the_order_of_bits_in_the_initial_values(as_text, run_jobs):
    """Word by word, from the ranges of INITVAL that hold them."""
    rng = random.Random(15)
    words = [rng.randrange(2**18) for _ in range(1024)]
    given = initial_values(words, as_text=as_text)
    jobs = [Job(DUAL, reads(width, 40), given | {"DATA_WIDTH_B": str(width)}) for width in (1, 2, 4, 9, 18, 36)]
    seen = [[row["DOA"] | row["DOB"] << 18 for row in rows[1::2]] for rows in run_jobs(jobs)]
    bytes_of_9 = [byte for word in words for byte in (word % 512, word >> 9)]
    low_bytes = sum((byte % 256) << 8 * place for place, byte in enumerate(bytes_of_9[:40]))
    assert seen[3] == [byte << 18 for byte in bytes_of_9[:40]]
    assert seen[4] == [word << 18 for word in words[:40]]
    assert seen[5] == [words[2 * place] | words[2 * place + 1] << 18 for place in range(40)]
    for place, width in enumerate((1, 2, 4)):  # the ninth bit of a byte is not for them
        assert seen[place] == [(low_bytes >> width * word) % 2**width << 18 for word in range(40)]


def test_the_last_word_too(run_jobs):
    row = {"ADB": 1023 << 4, "CEB": 1}
    value = 0x2A5C3 << 20 * 15
    jobs = [Job(DUAL, [row, row | {"CLKB": 1}], {"INITVAL_3F": f"320'h{value:x}"})]
    assert run_jobs(jobs)[0][1]["DOB"] == 0x2A5C3


def test_chip_selects(run_jobs):
    """A port is enabled by CE and by its CS pins where they equal CSDECODE."""
    jobs, outputs = [], []
    for decode in range(8):
        rows = []
        for select in range(8):
            row = {"ADB": (select + 1) << 4, "CSB": select, "CEB": 1}
            rows += [row, row | {"CLKB": 1}]
        value = sum((word + 100) << 20 * word for word in range(16))
        jobs.append(Job(DUAL, rows, {"CSDECODE_B": text(f"0b{decode:03b}"), "INITVAL_00": f"320'h{value:x}"}))
        outputs.append([decode + 101 if select >= decode else 0 for select in range(8)])
    for seen, expected in zip(run_jobs(jobs), outputs, strict=True):
        assert [row["DOB"] for row in seen[1::2]] == expected


def test_inverted_clocks(run_jobs):
    """With CLKxMUX INV a port acts when its clock falls."""
    value = sum((word + 100) << 20 * word for word in range(16))
    row = {"ADA": 3 << 4, "ADB": 5 << 4, "CEA": 1, "CEB": 1}
    high = row | {"CLKA": 1}
    rows = [{}, high, high | {"CLKB": 1}, row, high]  # an inverted clock rises when time begins: disabled there
    jobs = [Job(DUAL, rows, {"CLKAMUX": text("INV"), "INITVAL_00": f"320'h{value:x}"})]
    (seen,) = run_jobs(jobs)
    assert [(row["DOA"], row["DOB"]) for row in seen] == [(0, 0), (0, 0), (0, 105), (103, 105), (103, 105)]


def test_what_the_other_port_writes_meanwhile_is_not_what_is_read(run_jobs):
    """Lattice's library gives unknown bits; these are the complement: neither the old word nor the new one passes."""
    write = {"ADA": 7 << 4 | 3, "DIA": 0x15555, "CEA": 1, "WEA": 1}
    half = {"ADA": 7 << 4 | 1, "DIA": 0x15555, "CEA": 1, "WEA": 1}
    read = {"ADB": 7 << 4, "CEB": 1}
    both, later = {"CLKA": 1, "CLKB": 1}, {"CLKB": 1}
    stored = {"INITVAL_00": f"320'h{0x0F0F3 << 140:x}"}
    jobs = [
        Job(DUAL, [write | read, write | read | both, read, read | later], stored),
        Job(DUAL, [half | read, half | read | both, read, read | later], stored),
    ]
    whole, part = run_jobs(jobs)
    assert [whole[1]["DOB"], whole[3]["DOB"]] == [0x0F0F3 ^ 0x3FFFF, 0x15555]
    assert [part[1]["DOB"], part[3]["DOB"]] == [0x0F0F3 ^ 0x001FF, 0x0F000 | 0x155]


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"DATA_WIDTH_A": "8"}, "DATA_WIDTH_A"),
        ({"DATA_WIDTH_B": "72"}, "DATA_WIDTH_B"),
        ({"REGMODE_A": text("YES")}, "REGMODE_A"),
        ({"WRITEMODE_B": text("YES")}, "WRITEMODE_B"),
        ({"CSDECODE_A": text("0b222")}, "CSDECODE_A"),
        ({"CLKBMUX": text("1")}, "CLKBMUX"),
        ({"WEAMUX": text("INV")}, "control pin of port A"),
        ({"CSB2MUX": text("0")}, "control pin of port B"),
        ({"DATA_WIDTH_B": "36", "REGMODE_B": text("OUTREG")}, "must agree"),
        ({"RESETMODE": text("ASYNC")}, "ASYNC_RESET_RELEASE"),
        ({"RESETMODE": text("YES")}, "RESETMODE"),
        ({"GSR": text("YES")}, "GSR"),
        ({"INIT_DATA": text("DYNAMIC")}, "INIT_DATA"),
    ],
)
def test_what_is_not_modelled_stops_the_simulation_at_once(parameters, reason, refusal):
    printed, rows = refusal(Job(DUAL, [{}, {}], parameters))
    assert "bench.cell_0" in printed
    assert reason in printed
    assert rows == 0


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"DATA_WIDTH_W": "18"}, "DATA_WIDTH_W"),
        ({"CLKRMUX": text("1")}, "CLKRMUX"),
        ({"CLKWMUX": text("CLKA")}, "CLKWMUX"),
        ({"REGMODE": text("YES")}, "REGMODE"),
    ],
)
def test_pdpw16kd_refuses_too(parameters, reason, refusal):
    printed, rows = refusal(Job(PSEUDO, [{}, {}], parameters))
    assert reason in printed
    assert rows == 0


def test_two_writes_of_one_byte_at_once_stop_the_simulation(refusal):
    write = {"CEA": 1, "WEA": 1, "CEB": 1, "WEB": 1, "ADA": 5 << 4 | 1, "ADB": 5 << 4}
    clocks = {"CLKA": 1, "CLKB": 1}
    other_byte = write | {"ADB": 5 << 4 | 2}
    same_byte = write | {"ADB": 5 << 4 | 3}
    printed, rows = refusal(Job(DUAL, [other_byte, other_byte | clocks, same_byte, same_byte | clocks, {}]))
    assert "both ports write the same byte" in printed
    assert rows == 3


def test_port_b_cannot_write_beside_36_bits(refusal):
    row = {"CEB": 1, "WEB": 1}
    printed, rows = refusal(Job(DUAL, [row, row | {"CLKB": 1}, {}], {"DATA_WIDTH_A": "36"}))
    assert "WEB is high" in printed
    assert rows == 1


@pytest.mark.parametrize("pin", ["CEA", "OCEA", "WEA", "RSTA", "CSA1"])
def test_an_open_control_pin_is_refused_at_the_first_clock(pin, refusal):
    printed, rows = refusal(Job(DUAL, [{}, {"CLKB": 1}, {"CLKA": 1}, {}], without=[pin]))
    assert "not connected" in printed
    assert rows == 2
