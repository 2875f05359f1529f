"""The area benchmark: what each unit takes on a Lattice ECP5, from synthesis of the emitted Verilog by Yosys.

With --place, nextpnr too: TRELLIS_COMB and clock on an LFE5U-85F of speed grade 6, out of context, with a register at
every port; the median of some seeds.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import median

import click
import numpy as np
from ropewalk.boards.placement import Placement, place
from ropewalk.boards.synthesis import Synthesis, synthesise
from ropewalk.design import Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.learned import learned_design
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.emit.alibi import alibi_files
from ropewalk.emit.folder import design_files
from ropewalk.emit.learned import learned_files
from ropewalk.emit.sinusoidal import sinusoidal_files
from ropewalk.emit.verilog import emit_top
from ropewalk.family import Family
from ropewalk.gateware.alibi.contents import alibi_contents
from ropewalk.gateware.alibi.engine import AlibiEngine
from ropewalk.geometry import only_rotary
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.geometry.sinusoidal import SinusoidalGeometry
from ropewalk.models import read_model
from ropewalk.order import StreamPairing

from .console import progress, show_table, table

Files = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Area:
    """What one unit takes."""

    unit: str
    lut4: int
    ccu2c: int
    trellis_dpr16x4: int
    comb_estimate: int
    trellis_ff: int
    mult18x18d: float
    dp16kd: float
    memory_bits: int
    comb: int | None = None
    clock_mhz: float | None = None
    seeds: int = 0
    critical_path: tuple[str, ...] = ()


def alibi(family: Family, *, registers: bool) -> AlibiDesign:
    """4 lanes, 16-bit scores, 32 heads; the table has room for 256, as ``generate`` makes it."""
    geometry = AlibiGeometry(model_type="bench", heads=32, slopes=alibi_slopes(32), mode="relative")
    return AlibiDesign(geometry=geometry, registers=registers, family=family)


def alibi_engine(family: Family) -> Files:
    """The unit without its registers, all modes: emitted without its ports, so that the mode is an input."""
    design = alibi(family, registers=False)
    return emit_top(AlibiEngine(design), alibi_contents(design), family=family)


def learned(family: Family, storage: str) -> Files:
    """A table of the size of all-MiniLM-L6-v2's; what it holds changes no area."""
    geometry = LearnedGeometry(
        model_type="bench", rows=512, row_offset=0, dimension=384, mask="ignored", masked_row=None
    )
    entries = np.random.default_rng(1).normal(size=(512, 384))
    return learned_files(*learned_design(geometry, entries, storage=storage, family=family))


def sinusoidal(family: Family, layout: str, generators: int) -> Files:
    """A row of 512 elements, four a beat."""
    geometry = read_model("transformer-base" if layout == "interleaved" else "tensor2tensor-base")
    if not isinstance(geometry, SinusoidalGeometry) or geometry.layout != layout:
        raise RuntimeError(f"there is no preset of layout {layout}")
    return sinusoidal_files(SinusoidalDesign(geometry=geometry, generators=generators, family=family))


def rotary(family: Family, pairing: StreamPairing) -> Files:
    """Llama-3.1-8B, four pairs a beat."""
    geometry = only_rotary(read_model("llama-3.1-8b"))
    design = Design(geometry=geometry, lanes=4, input_pairing=pairing, output_pairing=pairing, family=family)
    return design_files(design)


UNITS: dict[str, tuple[Callable[[Family], Files], str]] = {
    "ALiBi, 4 lanes, no registers": (alibi_engine, "clk"),
    "ALiBi, 4 lanes": (lambda family: alibi_files(alibi(family, registers=True)), "aclk"),
    "learned 512 x 384, 4 lanes, block RAM": (lambda family: learned(family, "block-ram"), "aclk"),
    "learned 512 x 384, 4 lanes, outside": (lambda family: learned(family, "external"), "aclk"),
    "sinusoidal 512, 4 lanes, interleaved, 1 generator": (lambda family: sinusoidal(family, "interleaved", 1), "aclk"),
    "sinusoidal 512, 4 lanes, interleaved, 2 generators": (lambda family: sinusoidal(family, "interleaved", 2), "aclk"),
    "sinusoidal 512, 4 lanes, half, 1 generator": (lambda family: sinusoidal(family, "half", 1), "aclk"),
    "sinusoidal 512, 4 lanes, half, 2 generators": (lambda family: sinusoidal(family, "half", 2), "aclk"),
    "rotary, Llama-3.1-8B, 4 lanes, interleaved": (lambda family: rotary(family, "interleaved"), "aclk"),
    "rotary, Llama-3.1-8B, 4 lanes, both pairings": (lambda family: rotary(family, "both"), "aclk"),
}
"""Units by name: their files, and their clock."""


def area(unit: str, synthesis: Synthesis, placements: list[Placement]) -> Area:
    """The area of a unit, with the medians of its placements."""
    slowest = min(placements, key=lambda one: one.clock_mhz, default=None)
    return Area(
        unit=unit,
        lut4=synthesis.luts,
        ccu2c=synthesis.carries,
        trellis_dpr16x4=synthesis.distributed_rams,
        comb_estimate=synthesis.comb,
        trellis_ff=synthesis.registers,
        mult18x18d=synthesis.multipliers,
        dp16kd=synthesis.block_rams,
        memory_bits=synthesis.memory_bits(),
        comb=placements[0].comb if placements else None,
        clock_mhz=round(median(one.clock_mhz for one in placements), 1) if placements else None,
        seeds=len(placements),
        critical_path=slowest.critical_path if slowest else (),
    )


@click.command(help=__doc__)
@click.argument("words", nargs=-1)
@click.option("--place", "placed", is_flag=True, help="Place and route as well: minutes for each unit and seed.")
@click.option("--seeds", default=3, show_default=True, type=click.IntRange(1, 20), help="Seeds for --place.")
@click.option(
    "--family",
    default="ecp5",
    show_default=True,
    type=click.Choice(["generic", "ecp5"]),
    help="Whose primitives: the ECP5's own, or those that Yosys infers from the portable Verilog.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of a table.")
def main(words: tuple[str, ...], placed: bool, seeds: int, family: Family, as_json: bool) -> None:
    """Measure the units whose names contain all WORDS, and print them."""
    chosen = {name: unit for name, unit in UNITS.items() if all(word.lower() in name.lower() for word in words)}
    if not chosen:
        raise click.UsageError(f"no unit has {' and '.join(words)} in its name; there are: {'; '.join(UNITS)}")
    areas = []
    with progress("measuring") as step:
        for number, (name, (files, clock)) in enumerate(chosen.items()):
            step(number, len(chosen))
            synthesis = synthesise(files(family))
            placements = [place(synthesis, clock=clock, seed=seed + 1) for seed in range(seeds if placed else 0)]
            areas.append(area(name, synthesis, placements))
    if as_json:
        click.echo(json.dumps([asdict(one) for one in areas], indent=1))
        return
    shown = table(
        "unit", "LUT4", "CCU2C", "DPR16X4", "FF", "MULT18X18D", "DP16KD", "inferred bits", "COMB", "MHz", left=("unit",)
    )
    for one in areas:
        shown.add_row(
            one.unit, str(one.lut4), str(one.ccu2c), str(one.trellis_dpr16x4), str(one.trellis_ff),
            f"{one.mult18x18d:g}", f"{one.dp16kd:g}", str(one.memory_bits),
            f"about {one.comb_estimate}" if one.comb is None else str(one.comb),
            "" if one.clock_mhz is None else f"{one.clock_mhz:.1f}",
        )  # fmt: skip
    show_table(shown)
    click.echo("Inferred bits are those of memories that no block of the family was instantiated for.")
    click.echo("COMB is nextpnr's TRELLIS_COMB; 'about' is LUT4 + 2 CCU2C + 6 DPR16X4, without what nextpnr adds.")
    for one in areas:
        if one.critical_path:
            click.echo(f"{one.unit}: slowest path of {one.seeds} seeds: {' > '.join(one.critical_path)}")


if __name__ == "__main__":
    main()
