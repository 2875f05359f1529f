"""Faults planted in the gateware: each must show as a difference from the model, or the comparison proves nothing."""

from dataclasses import replace

import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.errors import InputError
from ropewalk.gateware.alibi import bias, row_port, slope_store
from ropewalk.gateware.alibi.top import AlibiPorts
from ropewalk.geometry.alibi import AlibiGeometry, alibi_slopes
from ropewalk_sim.alibi.random_rows import random_rows
from ropewalk_sim.alibi.streams import run_model
from ropewalk_sim.errors import EngineError
from ropewalk_sim.units.amaranth_bench import simulate


def design(mode):
    geometry = AlibiGeometry(model_type="test", heads=6, slopes=alibi_slopes(6), mode=mode)
    return AlibiDesign(geometry=geometry, data_width=12, fraction_bits=2, capacity=8, registers=False)


def patched(module, name, value):
    return lambda monkeypatch: monkeypatch.setattr(module, name, value)


def late(module, which, by):
    original = module.delayed

    def delayed(m, value, clocks, *, name):
        return original(m, value, clocks + by if name.startswith(which) else clocks, name=name)

    return patched(module, "delayed", delayed)


def changed_slope(monkeypatch):
    original = slope_store.slope_contents

    def contents(design):
        rom = original(design)
        return replace(rom, words=[word ^ 1 << 29 if head == 3 else word for head, word in enumerate(rom.words)])

    monkeypatch.setattr(slope_store, "slope_contents", contents)


def instead(name, value):
    """Another function of the flags of a lane."""
    original = getattr(bias, name)
    return patched(bias, name, lambda *signals: original(*signals[:-1], value(signals[-1])))


MUTANTS = {
    "a bit of a slope": ("relative", changed_slope),
    "the slope a clock late": ("relative", late(bias, "slope", 1)),
    "scores a clock early": ("relative", late(bias, "scores", -1)),
    "the row's flags a clock late": ("symmetric", late(bias, "row_flags", 1)),
    "the flags of lanes a clock late": ("symmetric", late(bias, "flags", 1)),
    "padding a clock late": ("absolute", late(bias, "padding", 1)),
    "saturation a clock late": ("relative", late(bias, "force", 1)),
    "the mirror a lane further": ("symmetric", instead("_falls_below", lambda lane: lane + 1)),
    "padding a lane too far": ("relative", instead("_is_negative", lambda lane: max(lane - 1, 0))),
    "another half": ("relative", patched(bias, "HALF", bias.HALF - 1)),
    "mpt taken for absolute": ("mpt", patched(row_port, "ABSOLUTE", row_port.MPT)),
    "symmetric taken for relative": ("symmetric", patched(row_port, "SYMMETRIC", 0)),
}


def differs(mode):
    stream = random_rows(design(mode), 120, seed=9)
    expected = run_model(design(mode), stream)
    try:
        return not simulate(AlibiPorts(design(mode)), stream).same_beats(expected)
    except (EngineError, InputError):
        return True


@pytest.mark.parametrize("name", MUTANTS)
def test_the_comparison_kills(name, monkeypatch):
    mode, plant = MUTANTS[name]
    plant(monkeypatch)
    assert differs(mode)


@pytest.mark.parametrize("mode", ["relative", "absolute", "mpt", "symmetric"])
def test_the_unchanged_gateware_survives(mode):
    assert not differs(mode)
