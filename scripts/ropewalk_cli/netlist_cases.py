"""The units whose netlists :mod:`.netlist_trials` simulates, each for every family, and what goes through them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import Design
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.designs.any_design import AnyDesign
from ropewalk.designs.learned import learned_design
from ropewalk.family import Family, default_coefficient_width
from ropewalk.geometry import only_rotary
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.models import read_model
from ropewalk.tables.learned import Words
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim import scenarios
from ropewalk_sim.alibi.unit import AlibiUnit
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import open_engine
from ropewalk_sim.learned.unit import LearnedUnit
from ropewalk_sim.registers import load_slot, read_crcs
from ropewalk_sim.sinusoidal.scenarios import design_of
from ropewalk_sim.sinusoidal.unit import SinusoidalUnit
from ropewalk_sim.stream_model import run_model
from ropewalk_sim.units.unit import Unit, compare_octets

MODEL = "qwen2.5-0.5b"
"""The preset of the rotary engines: heads of 64 elements."""

TABLE_POSITIONS = 128
STALLS = Stalls(seed=7, data=0.2, token=0.2, output=0.2, registers=0.2)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What a run came to: beats that came out of the netlist, bits of them that the model has otherwise, the first."""

    beats: int
    differing_bits: int
    first: str | None


Trial = Callable[[AnyDesign, Path, str, int, int], Compared]
"""Takes a design, a folder, an engine, a seed and about how many beats."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A unit for every family: its design, the words of its table where it has one, and a run of it."""

    make: Callable[[Family], tuple[AnyDesign, Words | None]]
    run: Trial


def rotary(**options: Any) -> Case:
    """A rotary engine of eight slots, of which one is loaded while others are in use, where they can be."""

    def make(family: Family) -> tuple[AnyDesign, Words | None]:
        geometry = replace(only_rotary(read_model(MODEL)), query_heads=2, key_heads=1)
        return Design(
            geometry=geometry, family=family, coefficient_width=default_coefficient_width(family), **options
        ), None

    def run(design: Any, folder: Path, engine: str, seed: int, beats: int) -> Compared:
        stream = scenarios.everything(design, seed=seed, tokens=max(8, beats // design.beats_per_token))
        # What a table has in its slots stays there.
        loads = load_slot(2, design, 0, start=30) if design.loadable else ()
        slots = [0, 2] if design.loadable else [0]
        script = Script(meanwhile=(*loads, *read_crcs(slots)))
        output = open_engine(engine, folder).run(stream, stalls=replace(STALLS, seed=seed), script=script)
        found = compare(design, run_model(design, stream), output, stream)
        first = str(found.places[0]) if found.places else None
        for slot, answer in zip(slots, output.answers[-len(slots) :], strict=True):
            if answer.value != slot_crc(design, 0):
                first = first or f"the CRC of slot {slot} is {answer.value:08x} and should be {slot_crc(design, 0):08x}"
        if found.beats != found.beats_expected:
            first = first or f"{found.beats} beats came out and should be {found.beats_expected}"
        return Compared(beats=output.beats, differing_bits=found.differing_bits, first=first)

    return Case(make=make, run=run)


def other(make: Callable[[Family], tuple[AnyDesign, Words | None]], unit: Callable[[Any, Path], Unit]) -> Case:
    """One of the other units: sound tokens at half of the beats, and every corner case at the others."""

    def run(design: Any, folder: Path, engine: str, seed: int, beats: int) -> Compared:
        one = unit(design, folder)
        given = bits = 0
        first = None
        for kind in (one.plain, one.corners):
            stream = kind(beats // 2, seed)
            output = one.octets(one.run(engine, stream, stalls=replace(STALLS, seed=seed)))
            found = compare_octets(one.octets(one.run("model", stream)), output)
            given, bits, first = given + output.beats, bits + found.differing_bits, first or found.first
        return Compared(beats=given, differing_bits=bits, first=first)

    return Case(make=make, run=run)


def _alibi(family: Family) -> tuple[AnyDesign, None]:
    geometry = AlibiGeometry(model_type="trial", heads=32, slopes=alibi_slopes(32), mode="relative")
    return AlibiDesign(geometry=geometry, family=family), None


def _learned(family: Family) -> tuple[AnyDesign, Words | None]:
    geometry = LearnedGeometry(model_type="trial", rows=64, row_offset=2, dimension=96, mask="counted", masked_row=1)
    table = np.random.default_rng(1).normal(size=(geometry.rows, geometry.dimension))
    return learned_design(geometry, table, family=family)


def _sinusoidal(family: Family) -> tuple[AnyDesign, None]:
    width = default_coefficient_width(family)
    return design_of("paper", 62, lanes=4, generators=2, family=family, coefficient_width=width), None


CASES: dict[str, Case] = {
    "rotary-1-lane": rotary(lanes=1, input_pairing="interleaved", output_pairing="interleaved"),
    "rotary-1-lane-table": rotary(
        lanes=1, source="table", positions=TABLE_POSITIONS, input_pairing="interleaved", output_pairing="interleaved"
    ),
    "rotary-4-lanes": rotary(lanes=4, input_pairing="interleaved", output_pairing="interleaved"),
    "rotary-4-lanes-both": rotary(lanes=4, input_pairing="both", output_pairing="both"),
    "rotary-4-lanes-both-table": rotary(
        lanes=4, source="table", positions=TABLE_POSITIONS, input_pairing="both", output_pairing="both"
    ),
    "alibi": other(_alibi, AlibiUnit),
    "learned-block-ram": other(_learned, LearnedUnit),
    "sinusoidal": other(_sinusoidal, SinusoidalUnit),
}
"""Every case by name."""
