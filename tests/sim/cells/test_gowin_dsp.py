"""Gowin's multipliers and multiply-adders against Gowin's description of them (docs/cells.md says which documents)."""

import itertools
import random
from collections.abc import Callable, Mapping
from functools import partial

import pytest

from .bench import Cell, Job, Row, integer, text

CONTROLS = {"CE": 1, "CLK": 1, "RESET": 1}


def multiplier(width: int) -> Cell:
    inputs = dict.fromkeys(("A", "B", "SIA", "SIB"), width) | dict.fromkeys(("ASIGN", "BSIGN", "ASEL", "BSEL"), 1)
    return Cell("gowin", f"MULT{width}X{width}", inputs | CONTROLS, {"DOUT": 2 * width, "SOA": width, "SOB": width})


WIDE = Cell("gowin", "MULT36X36", {"A": 36, "B": 36, "ASIGN": 1, "BSIGN": 1, **CONTROLS}, {"DOUT": 72})
ADDER = Cell(
    "gowin",
    "MULTALU36X18",
    {"A": 18, "B": 36, "C": 54, "ASIGN": 1, "BSIGN": 1, "ACCLOAD": 1, "CASI": 55, **CONTROLS},
    {"DOUT": 54, "CASO": 55},
)
DOUBLE = Cell(
    "gowin",
    "MULTADDALU18X18",
    {
        "A0": 18, "B0": 18, "A1": 18, "B1": 18, "C": 54, "SIA": 18, "SIB": 18, "ASIGN": 2, "BSIGN": 2, "ASEL": 2,
        "BSEL": 2, "CASI": 55, "ACCLOAD": 1, **CONTROLS,
    },
    {"DOUT": 54, "CASO": 55, "SOA": 18, "SOB": 18},
)  # fmt: skip


class Stages:
    """Registers by name, all with one clock, enable and reset; a stage whose parameter is 0 is a wire.

    ``wiring`` says what each stage is fed with, given the pins and a function that gives what a stage shows.
    """

    def __init__(self, parameters: Mapping[str, str], wiring: Mapping[str, Callable]) -> None:
        self.present = {name for name in wiring if parameters.get(name, "0").endswith("1")}
        self.asynchronous = parameters.get("MULT_RESET_MODE") == text("ASYNC")
        self.wiring = wiring
        self.held = dict.fromkeys(wiring, 0)
        self.clock = 0

    def value(self, name: str, pins: Row) -> int:
        if name in self.present:
            return self.held[name]
        return self.wiring[name](pins, lambda other: self.value(other, pins))

    def step(self, pins: Row) -> None:
        rising = pins.get("CLK", 0) and not self.clock
        self.clock = pins.get("CLK", 0)
        if pins["RESET"] and (rising or self.asynchronous):
            self.held = dict.fromkeys(self.wiring, 0)
        elif rising and pins["CE"]:
            self.held = {name: feed(pins, lambda other: self.value(other, pins)) for name, feed in self.wiring.items()}


def random_rows(rng: random.Random, cell: Cell, steps: int) -> list[Row]:
    """Random pins, then the clock rises; operands are often at the ends of their ranges."""
    rows = []
    for _ in range(steps):
        row = {name: rng.randrange(2**width) for name, width in cell.inputs.items() if name not in CONTROLS}
        for name, width in cell.inputs.items():
            if width > 2 and rng.random() < 0.2:
                row[name] = rng.choice((0, 1, 2 ** (width - 1) - 1, 2 ** (width - 1), 2**width - 1))
        row |= {"CE": rng.random() < 0.85, "RESET": rng.random() < 0.08}
        rows += [row, row | {"CLK": 1}]
    return rows


def multiplier_wiring(width: int, output: str = "OUT_REG") -> dict[str, Callable]:
    def product(pins: Row, at: Callable[[str], int]) -> int:
        a = integer(at("AREG"), at("ASIGN_REG"), width)
        return a * integer(at("BREG"), at("BSIGN_REG"), width) % 2 ** (2 * width)

    return {
        "AREG": lambda pins, at: pins["SIA"] if pins.get("ASEL") else pins["A"],
        "BREG": lambda pins, at: pins["SIB"] if pins.get("BSEL") else pins["B"],
        "ASIGN_REG": lambda pins, at: pins["ASIGN"],
        "BSIGN_REG": lambda pins, at: pins["BSIGN"],
        "SOA_REG": lambda pins, at: at("AREG"),
        "PIPE_REG": product,
        output: lambda pins, at: at("PIPE_REG"),
    }


def expected(job: Job, wiring: Mapping[str, Callable], outputs: Mapping[str, Callable]) -> list[Row]:
    stages = Stages(job.parameters, wiring)
    rows = []
    for pins in job.rows:
        stages.step(pins)
        shown = partial(stages.value, pins=pins)
        rows.append({name: value(shown) for name, value in outputs.items()})
    return rows


def check(jobs: list[Job], wiring: Callable, outputs: Mapping[str, Callable], run_jobs) -> None:
    """``wiring`` gives what a job's stages are fed with."""
    for job, seen in zip(jobs, run_jobs(jobs), strict=True):
        assert seen == expected(job, wiring(job), outputs), job.parameters


def settings(rng: random.Random, names: list[str], count: int) -> list[dict[str, str]]:
    """No register, every register, each alone, and ``count`` sets at random; both reset modes."""
    sets = [set(), set(names), *({name} for name in names)]
    sets += [{name for name in names if rng.random() < 0.5} for _ in range(count)]
    return [
        {name: f"1'b{name in chosen:d}" for name in names} | {"MULT_RESET_MODE": text(mode)}
        for chosen, mode in zip(sets, itertools.cycle(("SYNC", "ASYNC")), strict=False)
    ]


@pytest.mark.parametrize("width", [9, 18])
def test_multipliers_in_every_mode(width, run_jobs):
    rng = random.Random(31)
    wiring = multiplier_wiring(width)
    jobs = [
        Job(multiplier(width), random_rows(rng, multiplier(width), 60), parameters)
        for parameters in settings(rng, list(wiring), 20)
    ]
    outputs = {"DOUT": lambda at: at("OUT_REG"), "SOA": lambda at: at("SOA_REG"), "SOB": lambda at: at("BREG")}
    check(jobs, lambda job: wiring, outputs, run_jobs)


def test_the_use_that_gowins_ip_generator_makes_of_a_multiplier(run_jobs):
    """A signed 16 x 16 product, as the IP generator of Gowin's IDE writes it (V1.9.9).

    The operands' top bits are repeated to 18 bits, ASIGN and BSIGN are high, AREG and BREG 1 and nothing else; the low
    32 bits are the product, one clock later.
    """
    rng = random.Random(32)
    numbers = [(rng.randrange(-(2**15), 2**15), rng.randrange(-(2**15), 2**15)) for _ in range(50)]
    ends = (-(2**15), -1, 0, 1, 2**15 - 1)
    numbers += [(a, b) for a in ends for b in ends]
    rows = []
    for a, b in numbers:
        row = {"A": a % 2**18, "B": b % 2**18, "ASIGN": 1, "BSIGN": 1, "CE": 1}
        rows += [row, row | {"CLK": 1}]
    (seen,) = run_jobs([Job(multiplier(18), rows, {"AREG": "1'b1", "BREG": "1'b1"})])
    assert [row["DOUT"] % 2**32 for row in seen[1::2]] == [a * b % 2**32 for a, b in numbers]


def test_36_by_36_bits(run_jobs):
    """OUT1_REG delays all but the lowest 18 bits once more."""
    rng = random.Random(33)
    wiring = multiplier_wiring(36, "OUT0_REG") | {"OUT1_REG": lambda pins, at: at("OUT0_REG") >> 18}
    del wiring["SOA_REG"]
    jobs = [Job(WIDE, random_rows(rng, WIDE, 40), parameters) for parameters in settings(rng, list(wiring), 12)]
    check(jobs, lambda job: wiring, {"DOUT": lambda at: at("OUT1_REG") << 18 | at("OUT0_REG") % 2**18}, run_jobs)


def alu_outputs(pipes: tuple[str, ...]) -> dict[str, Callable]:
    """Bit 54 of CASO repeats the sign where a product is signed."""

    def cascade(at: Callable) -> int:
        result = at("OUT_REG") % 2**54
        return result | (any(at(pipe)[0] if at(pipe) else 0 for pipe in pipes) and result >> 53) << 54

    return {"DOUT": lambda at: at("OUT_REG") % 2**54, "CASO": cascade}


def adder_wiring(job: Job) -> dict[str, Callable]:
    mode, subtract = int(job.parameters.get("MULTALU36X18_MODE", "0")), job.parameters.get("C_ADD_SUB") == "1'b1"

    def product(pins: Row, at: Callable) -> tuple[int, int]:
        a, b = integer(at("AREG"), at("ASIGN_REG"), 18), integer(at("BREG"), at("BSIGN_REG"), 36)
        return at("ASIGN_REG") | at("BSIGN_REG"), a * b

    def total(pins: Row, at: Callable) -> int:
        value = at("PIPE_REG")[1] if at("PIPE_REG") else 0
        if mode == 1:
            value += at("OUT_REG") if pins["ACCLOAD"] else 0
        elif mode == 2:
            value += pins["CASI"]
        else:
            value += -at("CREG") if subtract else at("CREG")
        return value % 2**55

    wiring = {name: (lambda pins, at, pin=name[0]: pins[pin]) for name in ("AREG", "BREG", "CREG")}
    wiring |= {f"{pin}_REG": (lambda pins, at, pin=pin: pins[pin]) for pin in ("ASIGN", "BSIGN")}
    return wiring | {"PIPE_REG": product, "OUT_REG": total}


def test_36_by_18_bits_with_an_adder(run_jobs):
    """A*B +/- C, A*B + the last result, A*B + CASI, each with many sets of registers."""
    rng = random.Random(34)
    names = ["AREG", "BREG", "CREG", "ASIGN_REG", "BSIGN_REG", "PIPE_REG", "OUT_REG"]
    jobs = []
    for mode, subtract in ((0, 0), (0, 1), (1, 0), (2, 0)):
        for parameters in settings(rng, names, 6):
            parameters |= {"MULTALU36X18_MODE": str(mode), "C_ADD_SUB": f"1'b{subtract}"}
            if mode == 1:
                parameters["OUT_REG"] = "1'b1"
            jobs.append(Job(ADDER, random_rows(rng, ADDER, 30), parameters))
    check(jobs, adder_wiring, alu_outputs(("PIPE_REG",)), run_jobs)


def double_wiring(job: Job) -> dict[str, Callable]:
    mode = int(job.parameters.get("MULTADDALU18X18_MODE", "0"))
    minus_b, minus_c = (job.parameters.get(name) == "1'b1" for name in ("B_ADD_SUB", "C_ADD_SUB"))

    def product(number: int) -> Callable:
        def feed(pins: Row, at: Callable) -> tuple[int, int]:
            signs = at(f"ASIGN{number}_REG"), at(f"BSIGN{number}_REG")
            a, b = (integer(at(f"{pin}{number}REG"), sign, 18) for pin, sign in zip("AB", signs, strict=True))
            return signs[0] | signs[1], a * b

        return feed

    def total(pins: Row, at: Callable) -> int:
        first, second = (at(f"PIPE{number}_REG")[1] if at(f"PIPE{number}_REG") else 0 for number in (0, 1))
        value = first - second if minus_b else first + second
        if mode == 1:
            value += at("OUT_REG") if pins["ACCLOAD"] else 0
        elif mode == 2:
            value += pins["CASI"]
        else:
            value += -at("CREG") if minus_c else at("CREG")
        return value % 2**55

    wiring: dict[str, Callable] = {"CREG": lambda pins, at: pins["C"]}
    for pin in "AB":
        wiring[f"{pin}0REG"] = lambda pins, at, pin=pin: pins[f"SI{pin}" if pins[f"{pin}SEL"] & 1 else f"{pin}0"]
        wiring[f"{pin}1REG"] = lambda pins, at, pin=pin: at(f"{pin}0REG") if pins[f"{pin}SEL"] & 2 else pins[f"{pin}1"]
        for number in (0, 1):
            wiring[f"{pin}SIGN{number}_REG"] = lambda pins, at, pin=pin, bit=number: pins[f"{pin}SIGN"] >> bit & 1
    wiring |= {f"PIPE{number}_REG": product(number) for number in (0, 1)}
    return wiring | {"SOA_REG": lambda pins, at: at("A1REG"), "OUT_REG": total}


def test_the_sum_and_the_difference_of_two_products(run_jobs):
    """A0*B0 +/- A1*B1 with +/- C, the last result, or CASI; shift chains through both multipliers."""
    rng = random.Random(35)
    names = list(double_wiring(Job(DOUBLE, [])))
    jobs = []
    for mode, minus_b, minus_c in [*itertools.product((0,), (0, 1), (0, 1)), *itertools.product((1, 2), (0, 1), (0,))]:
        for parameters in settings(rng, names, 4):
            parameters |= {
                "MULTADDALU18X18_MODE": str(mode), "B_ADD_SUB": f"1'b{minus_b}", "C_ADD_SUB": f"1'b{minus_c}",
            }  # fmt: skip
            if mode == 1:
                parameters["OUT_REG"] = "1'b1"
            jobs.append(Job(DOUBLE, random_rows(rng, DOUBLE, 20), parameters))
    outputs = alu_outputs(("PIPE0_REG", "PIPE1_REG"))
    outputs |= {"SOA": lambda at: at("SOA_REG"), "SOB": lambda at: at("B1REG")}
    check(jobs, double_wiring, outputs, run_jobs)


@pytest.mark.parametrize(
    ("cell", "parameters", "reason"),
    [
        (multiplier(9), {"MULT_RESET_MODE": text("NONE")}, "reset mode"),
        (multiplier(18), {"MULT_RESET_MODE": text("NONE")}, "reset mode"),
        (WIDE, {"MULT_RESET_MODE": text("NONE")}, "reset mode"),
        (ADDER, {"MULT_RESET_MODE": text("NONE")}, "reset mode"),
        (ADDER, {"MULTALU36X18_MODE": "3"}, "mode is 0, 1 or 2"),
        (ADDER, {"MULTALU36X18_MODE": "1"}, "needs OUT_REG"),
        (ADDER, {"ACCLOAD_REG0": "1'b1"}, "ACCLOAD_REG0"),
        (DOUBLE, {"MULT_RESET_MODE": text("NONE")}, "reset mode"),
        (DOUBLE, {"MULTADDALU18X18_MODE": "1"}, "needs OUT_REG"),
        (DOUBLE, {"MULTADDALU18X18_MODE": "4"}, "mode is 0, 1 or 2"),
        (DOUBLE, {"ACCLOAD_REG1": "1'b1"}, "ACCLOAD_REG1"),
    ],
)
def test_what_is_not_modelled_stops_the_simulation_at_once(cell, parameters, reason, refusal):
    printed, rows = refusal(Job(cell, [{}, {}], parameters))
    assert "bench.cell_0" in printed
    assert reason in printed
    assert rows == 0
