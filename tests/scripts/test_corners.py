"""That the corner cases of `verify` tell a sound engine from one with any single rule of PORTS.md left out."""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_cli.corners import corner_stream, interruption
from ropewalk_sim.framing import frame
from ropewalk_sim.stream import INVERSE, PASS, UNIT_AMPLITUDE
from ropewalk_sim.stream_model import run_model

VARIANTS = (
    Variant(name="one", inverse_frequency=(1.0, 0.1, 0.01, 0.001), amplitude=1.25, max_position=1000),
    Variant(name="two", inverse_frequency=(0.5, 0.3, 0.2, 0.1), amplitude=1.0, max_position=1 << 24),
)
GEOMETRY = RotaryGeometry(
    model_type="test",
    head_dim=32,
    rotary_dim=8,
    rotary_start=0,
    query_heads=2,
    key_heads=1,
    pairing="interleaved",
    output_pairing="interleaved",
    layers=None,
    variants=VARIANTS,
    attention_scale=None,
)
DESIGN = Design(geometry=GEOMETRY, lanes=2)
SEED = 20260101


def descriptors(change):
    """A fault by which an engine reads descriptors wrongly: ``change(slot, flags, position)`` gives what it reads."""

    def fault(design, stream):
        word, position = stream.descriptors.astype(np.int64).T
        slot, flags, position = change(word & 0xFF, word >> 8 & 0xFF, position)
        words = np.stack([slot | flags << 8 | word & ~0xFFFF, position], axis=1).astype(np.uint32)
        return run_model(design, replace(stream, descriptors=words))

    return fault


def stale_row(same):
    """A fault by which a token takes the row of the one before where ``same(slots, flags, positions)`` says so."""

    def change(slot, flags, position):
        again = np.r_[False, same(slot, flags, position)]
        first = np.maximum.accumulate(np.where(again, 0, np.arange(len(slot))))
        return slot[first], flags[first], position[first]

    return descriptors(change)


def equal(array):
    return array[1:] == array[:-1]


def output(change):
    """A fault by which what comes out is wrong: ``change(design, output, stream)`` spoils it."""

    def fault(design, stream):
        found = run_model(design, stream)
        change(design, found, stream)
        return found

    return fault


def wraps(design, found, stream):
    """What saturates comes out as the other end of the word."""
    low, high = design.data.minimum, design.data.maximum
    turned = found.data != stream.data[frame(design, stream).source]
    found.data[turned & (found.data == high)] = low


def clear(design, found, stream):
    framing = frame(design, stream)
    found.user[framing.error] &= 6


def limits_off(by):
    return descriptors(lambda slot, flags, position: (slot, flags, np.where(position == 1000, 1000 - by, position)))


FAULTS = {
    **{
        f"bit {bit} of a position is not looked at": descriptors(lambda s, f, p, bit=bit: (s, f, p & ~(1 << bit)))
        for bit in range(10, 32)
    },
    **{
        f"bit {bit} of a slot is not looked at": descriptors(lambda s, f, p, bit=bit: (s & ~(1 << bit), f, p))
        for bit in range(8)
    },
    **{
        f"slot {slot} is not empty": descriptors(lambda s, f, p, slot=slot: (np.where(s == slot, 0, s), f, p))
        for slot in (2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 63, 127, 128, 254, 255)
    },
    "inverse does nothing": descriptors(lambda s, f, p: (s, f & ~INVERSE, p)),
    "pass does nothing": descriptors(lambda s, f, p: (s, f & ~PASS, p)),
    "unit amplitude does nothing": descriptors(lambda s, f, p: (s, f & ~UNIT_AMPLITUDE, p)),
    "inverse is lost with unit amplitude": descriptors(lambda s, f, p: (s, np.where(f & 5 == 5, f & ~INVERSE, f), p)),
    "pass is lost past the limit": descriptors(lambda s, f, p: (s, np.where(p >= 1000, f & ~PASS, f), p)),
    "the limit is one too large": limits_off(1),
    "a row is kept for another slot": stale_row(lambda s, f, p: equal(p) & equal(f)),
    "a row is kept for other flags": stale_row(lambda s, f, p: equal(p) & equal(s)),
    "a row is kept for another position": stale_row(lambda s, f, p: equal(s) & equal(f)),
    "saturation wraps": output(wraps),
    "framing errors are not said": output(clear),
}


@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_every_fault_shows(slow):
    """A fault of each rule changes what comes out, of the part for slow simulators too."""
    stream = corner_stream(DESIGN, SEED, slow=slow)
    sound = run_model(DESIGN, stream)
    missed = []
    for name, fault in FAULTS.items():
        found = fault(DESIGN, stream)
        if all(np.array_equal(getattr(sound, part), getattr(found, part)) for part in ("data", "tid", "last", "user")):
            missed.append(name)
    assert missed == []


@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_every_kind_of_token_is_there(slow):
    stream = corner_stream(DESIGN, SEED, slow=slow)
    word, position = stream.descriptors.astype(np.int64).T
    slot, flags = word & 0xFF, word >> 8 & 7
    edges = {999, 1000, 1001, 2**24 - 1, 2**24, 2**25, 2**31, 2**32 - 1}
    assert set(slot.tolist()) == set(range(256))
    for one in (0,) if slow else (0, 1):
        assert set(position[slot == one].tolist()) >= (edges if one == 0 else {2**24 - 1, 2**24, 2**24 + 1, 2**31})
        for inside in (True, False):
            chosen = (slot == one) & ((position < VARIANTS[one].max_position) == inside)
            assert set(flags[chosen].tolist()) == set(range(8))
    assert stream.last[-1]
    # Short packets, long ones, and beats of another tag.
    framing = frame(DESIGN, stream)
    assert framing.error.any() and len(framing.source) < stream.beats


def test_the_slow_part_is_small_whatever_the_design():
    large = replace(DESIGN, geometry=replace(GEOMETRY, query_heads=64, key_heads=8), lanes=1)
    for design in (DESIGN, large):
        assert corner_stream(design, SEED, slow=True).beats < 12 * design.beats_per_token + 4_000
        assert corner_stream(design, SEED, slow=False).beats < 1 << 19


def test_the_reset_comes_in_mid_stream():
    script = interruption(DESIGN, SEED)
    assert 0 < script.interrupted_clocks < script.interrupted.beats
