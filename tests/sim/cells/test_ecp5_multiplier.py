"""MULT18X18D against Lattice's description of it (docs/cells.md says which documents)."""

import itertools
import random
from typing import Any

import pytest

from .bench import Cell, Job, Row, integer, text

MULTIPLIER = Cell(
    family="ecp5",
    module="MULT18X18D",
    inputs={
        "A": 18, "B": 18, "C": 18, "SRIA": 18, "SRIB": 18, "SIGNEDA": 1, "SIGNEDB": 1, "SOURCEA": 1, "SOURCEB": 1,
        "CLK": 4, "CE": 4, "RST": 4,
    },
    outputs={"P": 36, "SROA": 18, "SROB": 18, "ROA": 18, "ROB": 18, "ROC": 18, "SIGNEDP": 1},
    bit_pins=True,
)  # fmt: skip
STAGES = ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
EDGES = (0, 1, 2**17 - 1, 2**17, 2**17 + 1, 2**18 - 1)


def random_operand(rng: random.Random) -> int:
    return rng.choice(EDGES) if rng.random() < 0.3 else rng.randrange(2**18)


def toggling_rows(rng: random.Random, steps: int) -> list[Row]:
    """Random inputs, then a random choice of clocks rises; enables are mostly high and resets mostly low."""
    rows = []
    for _ in range(steps):
        row = {name: random_operand(rng) for name in ("A", "B", "C", "SRIA", "SRIB")}
        row |= {name: rng.randrange(2) for name in ("SIGNEDA", "SIGNEDB")}
        row |= {name: rng.random() < 0.2 for name in ("SOURCEA", "SOURCEB")}
        row["CE"] = sum((rng.random() < 0.8) << bit for bit in range(4))
        row["RST"] = sum((rng.random() < 0.1) << bit for bit in range(4))
        rows += [row, row | {"CLK": rng.choice((15, 15, rng.randrange(16)))}]
    return rows


def expected(parameters: dict[str, str], rows: list[Row]) -> list[Row]:
    """What the documents say that comes out, row by row.

    Every register has a clock, an enable and a reset of its own choice. Operand and sign share one; the pipeline
    register carries the product with its sign. The reset wins over the enable, and waits for the clock but in ASYNC.
    """

    def given(name: str, default: str) -> str:
        return parameters.get(name, text(default)).strip('"')

    present = {stage: given(f"REG_{stage}_CLK", "NONE") != "NONE" for stage in STAGES}
    number = {
        (stage, pin): int(given(f"REG_{stage}_{pin}", f"{pin}0")[-1]) if present[stage] else 0
        for stage in STAGES for pin in ("CLK", "CE", "RST")
    }  # fmt: skip
    cascade = given("CAS_MATCH_REG", "FALSE") == "TRUE"
    zero = {"INPUTA": (0, 0), "INPUTB": (0, 0), "MATCH": 0, "PIPELINE": (0, 0), "OUTPUT": 0}
    held: dict[str, Any] = dict(zero)
    before, outputs = 0, []

    def passing(row: Row) -> dict[str, Any]:
        """What stands at the input of each register, and at the outputs, with the registers as they are."""
        at: dict[str, Any] = {"INPUTA": (row["SIGNEDA"], row["SRIA"] if row["SOURCEA"] else row["A"])}
        direct = row["C"] if given("SOURCEB_MODE", "B_SHIFT") == "C_SHIFT" else row["B"]
        at["INPUTB"] = (row["SIGNEDB"], row["SRIB"] if row["SOURCEB"] else direct)
        (sign_a, a), (sign_b, b) = (held[name] if present[name] else at[name] for name in ("INPUTA", "INPUTB"))
        at["MATCH"] = a
        at["PIPELINE"] = (sign_a | sign_b, integer(a, sign_a, 18) * integer(b, sign_b, 18) % 2**36)
        sign_p, at["OUTPUT"] = held["PIPELINE"] if present["PIPELINE"] else at["PIPELINE"]
        p = held["OUTPUT"] if present["OUTPUT"] else at["OUTPUT"]
        at["pins"] = {
            "P": 0 if given("MULT_BYPASS", "DISABLED") == "ENABLED" else p, "SIGNEDP": sign_p, "ROA": a, "ROB": b,
            "SROA": held["MATCH"] if cascade and present["INPUTA"] else a, "SROB": b, "ROC": row["C"],
        }  # fmt: skip
        return at

    for row in rows:
        rising = row.get("CLK", 0) & ~before
        before = row.get("CLK", 0)
        arriving = passing(row)
        for name in zero:
            stage = "INPUTA" if name == "MATCH" else name
            reset = row["RST"] >> number[stage, "RST"] & 1
            if reset and given("RESETMODE", "SYNC") == "ASYNC":
                held[name] = zero[name]
            elif rising >> number[stage, "CLK"] & 1:
                if reset:
                    held[name] = zero[name]
                elif row["CE"] >> number[stage, "CE"] & 1:
                    held[name] = arriving[name]
        outputs.append(passing(row)["pins"])
    return outputs


def test_products_of_every_sign_mode(run_jobs):
    """Each operand is signed or not by its own pin; 36 bits hold every product."""
    rng = random.Random(1)
    rows, products = [], []
    for sign_a, sign_b in itertools.product((0, 1), repeat=2):
        pairs = list(itertools.product(EDGES, repeat=2))
        pairs += [(rng.randrange(2**18), rng.randrange(2**18)) for _ in range(200)]
        for a, b in pairs:
            rows.append({"A": a, "B": b, "SIGNEDA": sign_a, "SIGNEDB": sign_b})
            products.append(integer(a, sign_a, 18) * integer(b, sign_b, 18))
    (seen,) = run_jobs([Job(MULTIPLIER, rows)])
    assert [row["P"] for row in seen] == [product % 2**36 for product in products]
    assert [row["SIGNEDP"] for row in seen] == [row["SIGNEDA"] | row["SIGNEDB"] for row in rows]
    assert min(products) == -(2**17) * (2**18 - 1)  # the sign modes were mixed
    assert max(products) == (2**18 - 1) ** 2


def test_the_operands_of_lattices_sign_extension_example(run_jobs):
    """LatticeECP2/M family data sheet, "Signed and Unsigned with Different Widths", Table 2-8.

    +5 as an unsigned or a signed operand of 18 bits is 000000000000000101, -6 as a signed one 111111111111111010.
    """
    plus_5, minus_6 = 0b000000000000000101, 0b111111111111111010
    rows = [
        {"A": plus_5, "B": plus_5},
        {"A": plus_5, "B": minus_6, "SIGNEDA": 1, "SIGNEDB": 1},
        {"A": plus_5, "B": minus_6, "SIGNEDB": 1},  # +5 is not signed here: the same number
        {"A": minus_6, "B": minus_6, "SIGNEDA": 1, "SIGNEDB": 1},
    ]
    (seen,) = run_jobs([Job(MULTIPLIER, rows)])
    assert [row["P"] for row in seen] == [25, 2**36 - 30, 2**36 - 30, 36]


def test_every_set_of_registers(run_jobs):
    """All sixteen sets, with both resets; each register with a clock, an enable and a reset of its own."""
    rng = random.Random(2)
    jobs = []
    for used, mode in itertools.product(itertools.product((False, True), repeat=4), ("SYNC", "ASYNC")):
        parameters = {"RESETMODE": text(mode)}
        for stage, is_used in zip(STAGES, used, strict=True):
            numbers = {pin: rng.randrange(4) for pin in ("CLK", "CE", "RST")}
            parameters |= {f"REG_{stage}_{pin}": text(f"{pin}{number}") for pin, number in numbers.items()}
            if not is_used:
                parameters[f"REG_{stage}_CLK"] = text("NONE")
        jobs.append(Job(MULTIPLIER, toggling_rows(rng, 60), parameters))
    for job, seen in zip(jobs, run_jobs(jobs), strict=True):
        assert seen == expected(dict(job.parameters), list(job.rows)), job.parameters


def test_every_clock_enable_and_reset_pin(run_jobs):
    rng = random.Random(3)
    jobs = []
    for stage, pin, number in itertools.product(STAGES, ("CLK", "CE", "RST"), range(4)):
        parameters = {f"REG_{stage}_CLK": text("CLK0"), f"REG_{stage}_{pin}": text(f"{pin}{number}")}
        jobs.append(Job(MULTIPLIER, toggling_rows(rng, 20), parameters))
    for job, seen in zip(jobs, run_jobs(jobs), strict=True):
        assert seen == expected(dict(job.parameters), list(job.rows)), job.parameters


@pytest.mark.parametrize(
    "special",
    [{"CAS_MATCH_REG": "TRUE"}, {"SOURCEB_MODE": "C_SHIFT"}, {"MULT_BYPASS": "ENABLED"}, {"CLK3_DIV": "DISABLED"}],
    ids=lambda special: "-".join(next(iter(special.items()))),
)
def test_shift_chains_sources_and_bypass(special, run_jobs):
    """With and without the input registers; a clock that no register uses may have any divider."""
    rng = random.Random(4)
    jobs = []
    for clock in ("NONE", "CLK1"):
        parameters = {f"REG_{stage}_CLK": text(clock) for stage in ("INPUTA", "INPUTB")}
        parameters |= {name: text(value) for name, value in special.items()}
        jobs.append(Job(MULTIPLIER, toggling_rows(rng, 60), parameters))
    for job, seen in zip(jobs, run_jobs(jobs), strict=True):
        assert seen == expected(dict(job.parameters), list(job.rows)), job.parameters


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"SOURCEB_MODE": "B_C_DYNAMIC"}, "SOURCEB_MODE"),
        ({"SOURCEB_MODE": "HIGHSPEED"}, "SOURCEB_MODE"),
        ({"HIGHSPEED_CLK": "CLK0"}, "HIGHSPEED_CLK"),
        ({"REG_INPUTC_CLK": "CLK0"}, "register of C"),
        ({"REG_INPUTA_CLK": "CLK1", "CLK1_DIV": "DISABLED"}, "double-rate"),
        ({"REG_OUTPUT_CLK": "CLK4"}, "CLK0 to CLK3"),
        ({"REG_PIPELINE_CE": "RST0"}, "CE0 to CE3"),
        ({"REG_INPUTB_RST": "NONE"}, "RST0 to RST3"),
        ({"REG_INPUTC_CE": "CE9"}, "REG_INPUTC_CE"),
        ({"REG_INPUTC_RST": "RST9"}, "REG_INPUTC_RST"),
        ({"RESETMODE": "NEITHER"}, "RESETMODE"),
        ({"CAS_MATCH_REG": "YES"}, "CAS_MATCH_REG"),
        ({"MULT_BYPASS": "YES"}, "MULT_BYPASS"),
        ({"GSR": "YES"}, "GSR"),
        *(({f"CLK{number}_DIV": "YES"}, f"CLK{number}_DIV") for number in range(4)),
    ],
)
def test_what_is_not_modelled_stops_the_simulation_at_once(parameters, reason, refusal):
    job = Job(MULTIPLIER, [{}, {}], {name: text(value) for name, value in parameters.items()})
    printed, rows = refusal(job)
    assert "bench.cell_0" in printed
    assert reason in printed
    assert rows == 0


@pytest.mark.parametrize("pin", ["CE2", "RST3"])
def test_an_open_enable_or_reset_of_a_register_in_use_is_refused(pin, refusal):
    parameters = {"REG_INPUTA_CLK": text("CLK1"), "REG_INPUTA_CE": text("CE2"), "REG_INPUTA_RST": text("RST3")}
    printed, _ = refusal(Job(MULTIPLIER, [{}, {"CLK": 2}], parameters, without=[pin]))
    assert "not connected" in printed
