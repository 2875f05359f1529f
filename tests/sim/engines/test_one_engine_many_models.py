"""One engine, generated for one model, serves others of its head size: their slots come over AXI4-Lite.

The emitted Verilog is Llama-2-7B's and stays so. What it is to give is the model of each other design, made from that
model's own configuration.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ropewalk.design import Design, default_design
from ropewalk.emit.folder import write_design_folder
from ropewalk.models import read_model
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim.beats import INVERSE, UNIT_AMPLITUDE, Script, Stalls, StreamInput, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import fields, load_slot, read, read_crcs, write
from ropewalk_sim.scenarios import random_words
from ropewalk_sim.stream_model import run_model

OTHERS = {
    "llama-3.1-8b": "llama3",
    "qwen2.5-7b-yarn": "yarn",  # amplitude 1.1386
    "llama-2-7b-32k": "linear",
    "glm-4.5": "default",  # half of the head is rotated
    "pythia-6.9b": "default",  # a quarter
}
HEADS = ("query_heads", "key_heads", "value_heads")


@pytest.fixture(scope="module")
def engine_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama-2-7b") / "engine"
    write_design_folder(default_design(read_model("llama-2-7b")), folder)
    return folder


def design_of(model: str) -> Design:
    return default_design(read_model(model))


def tokens_of(design: Design, tokens: int, *, slot: int, seed: int) -> StreamInput:
    """Random positions up to the limit and past it; every kind of turn."""
    rng = np.random.default_rng(seed)
    position = rng.integers(0, design.limits[0], tokens)
    position[:4] = 0, 1, design.limits[0] - 1, design.limits[0]
    flags = rng.choice([0, 0, INVERSE, UNIT_AMPLITUDE], tokens)
    descriptors = descriptor_words(slot, position, flags=flags, tag=np.arange(tokens) & 255)
    return whole_tokens(design, descriptors, random_words(design, rng, tokens))


def same(output, expected) -> None:
    for name in ("data", "user", "last", "tid"):
        np.testing.assert_array_equal(getattr(output, name), getattr(expected, name), name)


@pytest.mark.parametrize("model", OTHERS)
def test_a_loaded_model_is_rotated_bit_for_bit(model, engine_folder):
    design = design_of(model)
    assert design.variants[0].recipe.kind == OTHERS[model]
    engine = open_engine("verilator", engine_folder)
    slot = 5
    script = Script(
        registers=(
            *load_slot(slot, design),
            *(write(name, count) for name, count in zip(HEADS, design.heads, strict=True)),
            *read_crcs([slot, 0]),
        )
    )
    stream = tokens_of(design, 60, slot=slot, seed=1)
    output = engine.run(stream, stalls=Stalls(seed=2, data=0.2, token=0.2, output=0.2, registers=0.3), script=script)
    own = descriptor_words(0, stream.descriptors[:, 1], flags=stream.descriptors[:, 0] >> 8 & 255,
                           tag=stream.descriptors[:, 0] >> 16)  # fmt: skip
    expected = run_model(design, replace(stream, descriptors=own))
    same(output, expected)
    assert output.error.any()
    assert not output.error.all()
    assert not any(answer.refused for answer in output.answers)
    crcs = [answer.value for answer in output.answers[-2:]]
    assert crcs == [slot_crc(design, 0), slot_crc(design_of("llama-2-7b"), 0)]


def test_all_models_at_once_the_slot_changing_on_every_token(engine_folder):
    """Six geometries side by side in one engine, with heads of one count; they were loaded before a reset."""
    base = design_of("llama-2-7b")
    designs = [base, *map(design_of, OTHERS)]
    loads = tuple(access for slot, design in enumerate(designs[1:], 1) for access in load_slot(slot, design))
    rng = np.random.default_rng(3)
    tokens = 120
    slot = np.arange(tokens) % len(designs)
    position = rng.integers(0, 2048, tokens)
    heads = replace(base, geometry=replace(base.geometry, query_heads=3, key_heads=2))
    stream = whole_tokens(heads, descriptor_words(slot, position), random_words(heads, rng, tokens))
    script = Script(
        interrupted=tokens_of(base, 4, slot=0, seed=4),
        interrupted_clocks=50,
        interrupted_registers=loads,
        registers=(write("query_heads", 3), write("key_heads", 2), *read_crcs(range(8))),
    )
    output = open_engine("verilator", engine_folder).run(stream, script=script)
    for number, design in enumerate(designs):
        shaped = replace(design, geometry=replace(design.geometry, query_heads=3, key_heads=2))
        mine = np.flatnonzero(slot == number)
        part = StreamInput(
            descriptors=descriptor_words(0, position[mine]),
            data=stream.data.reshape(tokens, -1, stream.data.shape[1])[mine].reshape(-1, stream.data.shape[1]),
            tid=stream.tid.reshape(tokens, -1)[mine].reshape(-1),
            last=stream.last.reshape(tokens, -1)[mine].reshape(-1),
        )
        got = output.data.reshape(tokens, -1, stream.data.shape[1])[mine]
        np.testing.assert_array_equal(got.reshape(-1, stream.data.shape[1]), run_model(shaped, part).data)
    assert not output.error.any()
    assert [answer.value for answer in output.answers[-8:]] == [*(slot_crc(one, 0) for one in designs), 0, 0]


@pytest.mark.slow
def test_slots_are_loaded_while_thousands_of_tokens_stream(engine_folder):
    """Two slots are loaded over and over while tokens use the others: not a beat differs, none waits for a load."""
    base = design_of("llama-2-7b")
    llama3, yarn, linear = map(design_of, ("llama-3.1-8b", "qwen2.5-7b-yarn", "llama-2-7b-32k"))
    few = replace(base.geometry, query_heads=2, key_heads=1)
    variants = (base.variants[0], replace(llama3.variants[0], name="b"), replace(yarn.variants[0], name="c"))
    shaped = replace(base, geometry=replace(few, variants=variants))
    tokens = 6000
    rng = np.random.default_rng(6)
    descriptors = descriptor_words(np.arange(tokens) % 3, rng.integers(0, 5000, tokens), tag=np.arange(tokens) & 255)
    stream = whole_tokens(shaped, descriptors, random_words(shaped, rng, tokens))
    meanwhile = ()
    for turn in range(60):
        slot = 3 + turn % 2
        meanwhile += (*load_slot(slot, (llama3, yarn, linear)[turn % 3]), *read_crcs([slot, 1, 2]))
    script = Script(
        registers=(*load_slot(1, llama3), *load_slot(2, yarn), write("query_heads", 2), write("key_heads", 1)),
        meanwhile=meanwhile,
    )
    engine = open_engine("verilator", engine_folder)
    for stalls in (Stalls(seed=7), Stalls(seed=8, data=0.3, token=0.3, output=0.3, registers=0.3)):
        output = engine.run(stream, stalls=stalls, script=script)
        same(output, run_model(shaped, stream))
        assert not any(answer.refused for answer in output.answers)
        during = [answer for answer in output.answers if 0 <= answer.clock <= output.last_output_clock]
        assert len(during) > 0.9 * len(meanwhile)
        crcs = [answer.value for answer in output.answers[len(script.registers) :]]
        per_turn = len(meanwhile) // 60
        expected = [slot_crc(design, 0) for design in (llama3, yarn, linear)]
        for turn in range(60):
            assert crcs[(turn + 1) * per_turn - 3 : (turn + 1) * per_turn] == [expected[turn % 3], *expected[:2]]


def test_the_engine_says_what_it_is(engine_folder):
    script = Script(registers=tuple(read(name) for name in ("identity", "version", "widths", "shape", "features")))
    base = design_of("llama-2-7b")
    output = open_engine("verilator", engine_folder).run(tokens_of(base, 4, slot=0, seed=1), script=script)
    identity, _, widths, shape, features = (answer.value for answer in output.answers)
    assert identity.to_bytes(4, "little") == b"ROPE"
    assert fields("widths", widths) == {"lanes": 4, "data_width": 16, "coefficient_width": 18, "phase_bits": 48}
    assert fields("shape", shape)["head_dim"] == 128
    assert fields("features", features) == {
        "slots": 8, "axes": 1, "clocks_per_pair": 1, "source": 0, "input_order": 1, "output_order": 1,
    }  # fmt: skip
