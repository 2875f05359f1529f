"""Faults planted in the gateware: each must show as a difference from the model, or the comparison proves nothing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from ropewalk.gateware import descriptor, framer, generator, planner, rotator, sine, slot_store, table
from ropewalk.gateware.contents import RomContents
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream_model import run_model


def changed_word(make: Callable[[Any], RomContents], word: int, *bits: int) -> Callable[[Any], RomContents]:
    def changed(argument: Any) -> RomContents:
        contents = make(argument)
        words = list(contents.words)
        words[word] ^= sum(1 << bit for bit in bits)
        return replace(contents, words=words)

    return changed


def patched(module: Any, name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def wrong_delay(module: Any, which: str, by: int) -> Callable[[pytest.MonkeyPatch], None]:
    original = module.delayed

    def delayed(m: Any, value: Any, clocks: int, *, name: str) -> Any:
        return original(m, value, clocks + by if name.startswith(which) else clocks, name=name)

    return patched(module, "delayed", delayed)


class WrongAmplitude:
    """The amplitude format, with one fraction bit too few."""

    shape = generator.AMPLITUDE.shape
    fraction_bits = generator.AMPLITUDE.fraction_bits - 1


MUTANTS = {
    "a bit of a sine": patched(sine, "sine_contents", changed_word(sine.sine_contents, 3, 12)),
    "the top bit of a slope": patched(sine, "sine_contents", changed_word(sine.sine_contents, 5, 70)),
    "a bit of a step": patched(generator, "step_contents", changed_word(generator.step_contents, 2, 40)),
    "a bit of a limit": patched(slot_store, "slot_contents", changed_word(slot_store.slot_contents, 0, 13)),
    "a bit of an amplitude": patched(slot_store, "slot_contents", changed_word(slot_store.slot_contents, 1, 44)),
    # 7 pairs instead of 8.
    "a slice that is too short": patched(
        slot_store, "slot_contents", changed_word(slot_store.slot_contents, 1, 3, 4, 5, 6)
    ),
    "the amplitude's point": patched(generator, "AMPLITUDE", WrongAmplitude),
    "delta a clock late": wrong_delay(sine, "delta", 1),
    "the position a clock late": wrong_delay(generator, "position", 1),
    "the quadrant a clock early": wrong_delay(generator, "quadrant", -1),
    "a coefficient a clock early": wrong_delay(rotator, "sine_ready", -1),
    "keys taken for values": patched(framer, "VALUE", descriptor.HEAD_KINDS[1]),
}
SEVERAL_AXES_MUTANTS = {
    "the axis of a pair": patched(generator, "step_contents", changed_word(generator.step_contents, 2, 48)),
    "the position on axis 1 a clock late": wrong_delay(generator, "position_1", 1),
}
TABLE_MUTANTS = {"a bit of a row": patched(table, "row_contents", changed_word(table.row_contents, 40, 30))}


def differs(design: Any, tokens: int = 120) -> bool:
    source = np.random.default_rng(9)
    slot = source.integers(0, 3, tokens)
    position = source.integers(0, min(design.limits) + 2, (tokens, design.axes))
    position[:24], slot[:24] = np.arange(24)[:, None], 0
    words = source.integers(-32768, 32768, (tokens, sum(design.heads), design.geometry.head_dim))
    stream = whole_tokens(design, descriptor_words(slot, position, axes=design.axes), words)
    expected = run_model(design, stream)
    try:
        got = simulate(RotaryPorts(design), design, stream)
    except EngineError:
        return True
    same = all(np.array_equal(getattr(got, name), getattr(expected, name)) for name in ("data", "tid", "last", "user"))
    return not same


@pytest.mark.parametrize("name", MUTANTS)
def test_the_comparison_kills(name, make_design, monkeypatch) -> None:
    design = make_design(lanes=4, positions=50)
    MUTANTS[name](monkeypatch)
    assert differs(design)


def on_several_axes(design: Any) -> Any:
    """``design``, its first variant's pairs in turn on three axes, its second's all on axis 1, from the first on."""
    follow = [tuple(place % 3 for place in range(8)), (1,) * 8]
    variants = tuple(replace(one, axis=axis) for one, axis in zip(design.variants, follow, strict=True))
    return replace(design, geometry=replace(design.geometry, variants=variants))


@pytest.mark.parametrize("name", SEVERAL_AXES_MUTANTS)
def test_the_comparison_kills_on_several_axes(name, make_design, monkeypatch) -> None:
    design = on_several_axes(make_design(lanes=4, positions=50))
    assert not differs(design)
    SEVERAL_AXES_MUTANTS[name](monkeypatch)
    assert differs(design)


@pytest.mark.parametrize("name", TABLE_MUTANTS)
def test_the_comparison_kills_in_a_table(name, make_design, monkeypatch) -> None:
    design = make_design(lanes=4, source="table", positions=20)
    TABLE_MUTANTS[name](monkeypatch)
    assert differs(design)


@pytest.mark.parametrize("options", [{"positions": 50}, {"source": "table", "positions": 20}])
def test_the_unchanged_gateware_survives(options, make_design) -> None:
    assert not differs(make_design(lanes=4, **options))


def test_a_planner_that_ignores_held_rows_is_caught(make_design, monkeypatch) -> None:
    """Rows must not be overwritten while they are read, however long the reader is held up."""
    design = make_design(lanes=4, heads=(6, 2), head_dim=64)
    counting = planner.Credits
    # As if there were more banks than there are.
    monkeypatch.setattr(planner, "Credits", lambda places: counting(2 * places))
    assert differs(design, tokens=30)
