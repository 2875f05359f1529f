"""Faults planted in the sinusoidal adder: each must show as a difference from the model, or the tests prove nothing."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib.wiring import Out
from ropewalk.gateware import sine
from ropewalk.gateware.contents import RomContents
from ropewalk.gateware.sinusoidal import descriptor, engine, generator, joiner, source, store
from ropewalk.gateware.units import adder
from ropewalk.tables.sinusoidal_words import slot_crc
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.errors import EngineError
from ropewalk_sim.sinusoidal.engines import run_engine
from ropewalk_sim.sinusoidal.model import run_model
from ropewalk_sim.sinusoidal.scenarios import design_of, faulty, mixed_tokens, read, scanned

simulate = partial(run_engine, "amaranth", None)

# 20 of 21 fraction bits: every second value is a tie, and every error of a sine shows.
DESIGN = design_of(
    "marian", 11, lanes=4, generators=2, data_width=24, fraction_bits=20, coefficient_width=22, row_offset=2,
    zero_row=7, mask="counted", max_position=40,
)  # fmt: skip
SCALED = design_of("paper", 6, lanes=2, amplitude=0.7, data_width=10)

Patch = Callable[[pytest.MonkeyPatch], None]


def patched(module: Any, name: str, value: Any) -> Patch:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value, raising=False)


def changed_word(make: Callable[..., RomContents], word: int, bit: int) -> Callable[..., RomContents]:
    def changed(*arguments: Any) -> RomContents:
        contents = make(*arguments)
        words = list(contents.words)
        words[word] ^= 1 << bit
        return replace(contents, words=words)

    return changed


def wrong_delay(module: Any, which: str, by: int) -> Patch:
    original = module.delayed

    def delayed(m: Any, value: Any, clocks: int, *, name: str) -> Any:
        return original(m, value, clocks + by if name.startswith(which) else clocks, name=name)

    return patched(module, "delayed", delayed)


def other_plan(**changes: Callable[[int], int]) -> Patch:
    original = source.Plan

    def plan(**numbers: int) -> source.Plan:
        return original(**{name: changes.get(name, lambda same: same)(value) for name, value in numbers.items()})

    return patched(source, "Plan", plan)


def around(original: type, change: Callable[[Module, Any], None]) -> type:
    """A component that is another of the class ``original`` inside, all ports joined, but for a ``change`` of those."""

    class Around(original):
        def __init__(self, *arguments: Any):
            super().__init__(*arguments)
            self._arguments = arguments

        def elaborate(self, platform: Any) -> Module:
            m = Module()
            m.submodules.inside = inside = original(*self._arguments)
            for path, member, port in self.signature.flatten(self):
                other = inside
                for step in path:
                    other = getattr(other, str(step))
                m.d.comb += port.eq(other) if member.flow == Out else other.eq(port)
            change(m, inside)
            return m

    return Around


def never_cut_short(m: Module, inside: Any) -> None:
    m.d.comb += inside.beat.payload.part.tail.eq(inside.beat.payload.side.last)


def one_position_more(m: Module, inside: Any) -> None:
    m.d.comb += [header.limit.eq(DESIGN.limit + 1) for header in inside.headers]


MUTANTS = {
    "a bit of a sine": (DESIGN, patched(sine, "sine_contents", changed_word(sine.sine_contents, 3, 12))),
    "a bit of a step": (DESIGN, patched(generator, "step_contents", changed_word(generator.step_contents, 1, 40))),
    "the row a clock late": (DESIGN, wrong_delay(generator, "row", 1)),
    "a sign a clock late": (SCALED, wrong_delay(generator, "sign_", 1)),
    "ties of negative sines away from 0": (DESIGN, patched(generator, "max", lambda word, _: word + 1)),
    "cosines from another place of the word": (DESIGN, other_plan(start=lambda _: 0)),
    "sums that wrap": (SCALED, patched(adder, "Mux", lambda _, clipped, plain: plain)),
    "rows cut short and not drained": (DESIGN, patched(engine, "Joiner", around(joiner.Joiner, never_cut_short))),
    "a position past the limit": (
        DESIGN,
        patched(engine, "DescriptorPort", around(descriptor.DescriptorPort, one_position_more)),
    ),
    "another shape in the CRC": (DESIGN, patched(store, "shape_words", lambda design: (design.dimension + 1, 0))),
}


def run(design: Any) -> bool:
    """Whether the gateware, as it is now, gives what the model gives, and the CRC of the slot."""
    stream = faulty(mixed_tokens(design, 40, 21), design, 22)
    script = Script(registers=(scanned(), read("geometry_crc")))
    output = simulate(design, stream, Stalls(seed=5, data=0.1, output=0.1), script)
    return output.same(run_model(design, stream)) and output.answers[1].value == slot_crc(design)


@pytest.mark.parametrize("design", [DESIGN, SCALED], ids=["exact", "scaled"])
def test_without_a_fault_they_agree(design):
    assert run(design)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_shows(name, monkeypatch):
    design, plant = MUTANTS[name]
    plant(monkeypatch)
    try:
        agree = run(design)
    except EngineError:
        agree = False
    assert not agree
