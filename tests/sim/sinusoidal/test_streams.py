"""Rate, latency, registers and loads of the sinusoidal adder, in Amaranth's simulator."""

from functools import partial

import numpy as np
import pytest
from ropewalk.gateware.sinusoidal.top import SinusoidalPorts
from ropewalk.tables.sinusoidal_words import NO_ROW, slot_crc, slot_load_words
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.registers import COUNTERS
from ropewalk_sim.sinusoidal.engines import run_engine
from ropewalk_sim.sinusoidal.model import run_model
from ropewalk_sim.sinusoidal.scenarios import (
    design_of,
    faulty,
    load_design,
    load_words,
    mixed_tokens,
    read,
    read_counters,
    scanned,
    write,
)
from ropewalk_sim.units import amaranth_bench
from ropewalk_sim.units.rows import descriptors_of, to_unit, whole_tokens

simulate = partial(run_engine, "amaranth", None)

SMALL = design_of("marian", 6, lanes=2)
HEAVY = Stalls(seed=4, data=0.3, token=0.4, output=0.3, registers=0.3)


def plain_tokens(design, tokens, seed=1):
    rng = np.random.default_rng(seed)
    descriptors = descriptors_of(rng.integers(0, design.limit, tokens), tag=np.arange(tokens) & 0xFF)
    low, high = design.data.minimum, design.data.maximum
    return whole_tokens(design, descriptors, rng.integers(low, high, (tokens, design.dimension), endpoint=True))


@pytest.mark.parametrize(
    ("form", "dimension", "lanes", "generators"),
    [("paper", 2, 2, 1), ("paper", 10, 4, 2), ("marian", 2, 2, 1), ("marian", 26, 4, 2), ("tensor2tensor", 9, 2, 1)],
)
def test_a_beat_per_clock_for_two_elements_per_generator(form, dimension, lanes, generators):
    """No bubble between rows or tokens, those that nothing is added to among them."""
    design = design_of(form, dimension, lanes=lanes, generators=generators)
    assert design.beats_per_clock == 1
    stream = mixed_tokens(design, 300 // design.beats_per_token, 2)
    output = simulate(design, stream, script=Script(registers=(scanned(),), output_start=100))
    assert output.same(run_model(design, stream))
    assert output.beats_per_clock == 1.0


@pytest.mark.parametrize("form", ["paper", "marian"])
def test_a_wider_beat_takes_the_generators_time(form):
    design = design_of(form, 32, lanes=8, generators=1)
    assert design.beats_per_clock == 0.25
    stream = plain_tokens(design, 25)
    output = simulate(design, stream, script=Script(registers=(scanned(),)))
    assert output.beats_per_clock == pytest.approx(0.25, rel=0.03)


@pytest.mark.parametrize("form", ["paper", "marian"])
@pytest.mark.parametrize("dimension", [4, 20])
def test_the_latency_is_what_the_design_states(form, dimension):
    design = design_of(form, dimension, lanes=4, generators=1, amplitude=0.5 if dimension == 4 else 1.0)
    ports = SinusoidalPorts(design)
    stream = to_unit(design, plain_tokens(design, 1))
    output = amaranth_bench.simulate(ports, stream, script=Script(registers=(scanned(),)))
    assert output.first_output_clock == ports.engine.latency


def test_descriptors_are_taken_without_data():
    """The source of the data rests for some clocks before it offers any."""
    output = simulate(SMALL, plain_tokens(SMALL, 30), Stalls(seed=3, data=0.95))
    assert output.early_tokens >= 4


def test_a_held_output_loses_nothing():
    stream = plain_tokens(SMALL, 30)
    output = simulate(SMALL, stream, script=Script(output_start=500))
    assert output.same(run_model(SMALL, stream))


def test_counters_and_status():
    design = design_of("paper", 6, lanes=4, max_position=50, data_width=10)
    stream = faulty(mixed_tokens(design, 60, 5), design, 6)
    last = Script(meanwhile=(write("control", 4, start=900), *read_counters()))
    assert simulate(design, stream, script=last).answers[2].value < 60  # cleared in mid-stream
    # counted once everything is through
    done = Script(meanwhile=(read("load_state", start=1500), *read_counters(), read("status"), write("status", 31),
                              read("status")))  # fmt: skip
    output = simulate(design, stream, HEAVY, done)
    wanted = run_model(design, stream)
    assert output.same(wanted)
    *counts, status, _, cleared = [answer.value for answer in output.answers[2:]]
    count = dict(zip(COUNTERS, counts, strict=True))
    slot, flags = stream.descriptors[:, 0] & 0xFF, stream.descriptors[:, 0] >> 8 & 3
    position = stream.descriptors[:, 1]
    sums = wanted.data != np.clip(wanted.data, design.data.minimum + 1, design.data.maximum - 1)
    assert count["tokens"] == wanted.last.sum()
    assert count["beats"] == wanted.beats
    assert count["slot_errors"] == (slot != 0).sum() > 0
    assert count["position_errors"] == ((slot == 0) & (flags == 0) & (position >= 50)).sum() > 0
    assert 0 < count["saturations"] <= sums.sum()
    assert count["framing_errors"] > 5
    assert count["output_stalls"] > 0
    assert status == 0b01111
    assert cleared == 0


def test_the_offset_register_is_sampled_with_the_descriptor():
    design = design_of("paper", 4, lanes=4, max_position=64)
    stream = plain_tokens(design, 40)
    for offset in (20, -(1 << 31)):
        # byte by byte it cannot be written
        script = Script(registers=(write("offset", offset), read("offset"), write("offset", 1, strobes=1)))
        output = simulate(design, stream, HEAVY, script)
        assert output.same(run_model(design, stream, offset=offset))
        assert output.answers[1].value == offset & 0xFFFFFFFF
        assert output.answers[2].refused
        assert output.error.any()


@pytest.mark.parametrize("form", ["paper", "marian"])
def test_a_load_while_streaming_changes_later_tokens_only(form):
    """Each token is of the old content or of the new, whole; once one is of the new, all later ones are."""
    old = design_of(form, 6, lanes=2, max_position=1000, amplitude=0.75)
    new = design_of(form, 6, lanes=2, max_position=2000, amplitude=1.5, row_offset=7, zero_row=9, mask="counted")
    stream = plain_tokens(old, 250)
    script = Script(registers=(scanned(),), meanwhile=(*load_design(new, start=60), scanned(), read("geometry_crc")))
    output = simulate(old, stream, Stalls(seed=1, data=0.2, output=0.2), script)
    commit, crc = output.answers[-3], output.answers[-1]
    assert not commit.refused
    assert crc.value == slot_crc(new) != slot_crc(old)
    got = output.data.reshape(250, -1)
    before, after = (run_model(design, stream).data.reshape(250, -1) for design in (old, new))
    is_old, is_new = (got == before).all(axis=1), (got == after).all(axis=1)
    assert (is_old | is_new).all()
    first = int(np.argmax(~is_old))
    assert 5 < first < 245
    assert is_new[first:].all()


def test_loads_that_are_refused():
    words = slot_load_words(SMALL)

    def with_word(number, value):
        return [*words[:number], value, *words[number + 1 :]]

    bad = [
        with_word(0, 7), with_word(1, words[1] ^ 1), with_word(2, 0), with_word(2, (1 << 24) + 1),
        with_word(3, (1 << 20) + 1), with_word(4, (1 << 20) + 1), with_word(5, (1 << 17) + 1), with_word(7, 1 << 16),
    ]  # fmt: skip
    accesses = [scanned()]
    for one in bad:
        accesses += [*load_words(one), read("load_state")]
    accesses += [*load_words(words[:-1]), read("load_state"), *load_words([*words, 0]), read("load_state")]
    accesses += [write("load_data", 0), write("load_commit", 0), write("load_begin", 1), read("load_state")]
    accesses += [
        read("geometry_crc"),
        read("status"),
        *load_words(with_word(4, NO_ROW)),
        scanned(),
        read("geometry_crc"),
    ]
    stream = plain_tokens(SMALL, 5)
    output = simulate(SMALL, stream, script=Script(registers=tuple(accesses)))
    assert output.same(run_model(SMALL, stream))
    answers = list(output.answers[1:])
    reasons = []
    for one in [*bad, words[:-1], [*words, 0]]:
        own, answers = answers[: len(one) + 4], answers[len(one) + 4 :]
        assert own[-2].refused
        assert not any(answer.refused for answer in own[:-2])
        reasons.append(own[-1].value >> 8 & 7)
    assert reasons == [5] * len(bad) + [4, 4]
    assert [answer.refused for answer in answers[:3]] == [True] * 3
    assert answers[3].value >> 8 & 7 == 2
    assert answers[4].value == slot_crc(SMALL)
    assert answers[5].value == 1 << 4
    assert answers[-1].value == slot_crc(SMALL)


@pytest.mark.parametrize(("control", "clocks"), [(1, 3), (1, 41), (1, 60), (8, 9), (8, 35), (8, 97)])
def test_nothing_of_the_stream_before_is_left(control, clocks):
    """Whatever is under way: rows in the pipeline, in the queues, half used, being drained."""
    before, stream = faulty(plain_tokens(SMALL, 30, 2), SMALL, clocks), plain_tokens(SMALL, 12, 3)
    script = Script(
        interrupted=to_unit(SMALL, before), interrupted_clocks=clocks, reset_clocks=0,
        registers=(write("control", control), read("status"), scanned(), read("geometry_crc")),
    )  # fmt: skip
    output = simulate(SMALL, stream, Stalls(seed=clocks, output=0.2), script)
    assert output.same(run_model(SMALL, stream))
    assert output.answers[-1].value == slot_crc(SMALL)
