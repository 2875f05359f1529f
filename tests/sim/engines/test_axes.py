"""Positions of two and three axes in every engine, bit for bit against the model; one engine for text and vision."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import open_engine
from ropewalk_sim.registers import fields, load_slot, read, read_counters, read_crcs, write
from ropewalk_sim.scenarios import random_words
from ropewalk_sim.stream_model import run_model, token_errors

HARD = Stalls(seed=21, data=0.3, token=0.3, output=0.3, registers=0.2)


def geometry_of(*axes: tuple[int, ...] | None, rotary_dim: int = 16, limit: int = 1 << 24) -> RotaryGeometry:
    """Heads of 16 elements, a variant for each entry of ``axes``."""
    pairs = rotary_dim // 2
    variants = tuple(
        Variant(
            name=f"variant{slot}",
            inverse_frequency=tuple((10.0 ** (4 + slot)) ** (-i / pairs) for i in range(pairs)),
            amplitude=1.0 + 0.25 * slot,
            max_position=limit >> 4 * slot,
            axis=axis,
        )
        for slot, axis in enumerate(axes)
    )
    return RotaryGeometry(
        model_type="test", head_dim=16, rotary_dim=rotary_dim, rotary_start=(16 - rotary_dim) // 2, query_heads=2,
        key_heads=1, pairing="interleaved", output_pairing="interleaved", layers=None, variants=variants,
    )  # fmt: skip


DESIGNS = {
    "two-axes": Design(geometry=geometry_of((0, 1, 1, 0, 1, 0), None, rotary_dim=12), lanes=4, data_width=12),
    "three-axes": Design(geometry=geometry_of((0, 1, 2, 0, 1, 2, 0, 0), (2,) * 8), lanes=2),
    "text": Design(geometry=geometry_of(None), lanes=2, slots=4, position_axes=3),
    # Multipliers of the generator are shared, and so is the work of axes that change.
    "two-axes-slow": Design(geometry=geometry_of((0, 1, 1, 0, 1, 0), None, rotary_dim=12), lanes=2, clocks_per_pair=2),
    "three-axes-slow": Design(geometry=geometry_of((0, 1, 2, 0, 1, 2, 0, 0), (2,) * 8), lanes=1, clocks_per_pair=8),
    "text-slow": Design(geometry=geometry_of(None), lanes=2, slots=4, position_axes=3, clocks_per_pair=4),
    "three-fixed": Design(geometry=geometry_of((0,) * 3 + (1,) * 3 + (2, 2), None), lanes=1, registers=False),
}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name) / "design"
            write_design_folder(DESIGNS[name], made[name])
        return made[name]

    return folder


def agree(design: Design, stream: StreamInput, output: StreamOutput) -> None:
    comparison = compare(design, run_model(design, stream), output, stream)
    assert not comparison.differing_bits, str(comparison)


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *((name, which) for name in ("amaranth", "verilator") for which in DESIGNS if which != "text-slow"),
        *(("icarus", which) for which in ("two-axes", "three-fixed")),
    ],
)
def test_every_kind_of_token_under_stalls(name, which, folder_of):
    design = DESIGNS[which]
    engine = open_engine(name, folder_of(which))
    stream = scenarios.everything(design, seed=1, tokens=90)
    lost = scenarios.broken_packets(design, seed=2, tokens=8)
    output = engine.run(stream, stalls=HARD, script=Script(interrupted=lost, interrupted_clocks=90))
    agree(design, stream, output)
    assert output.error.any()
    assert not output.error.all()
    assert min(output.data_waits, output.token_waits, output.output_waits) > 0


def shifted(design: Design, stream: StreamInput, offsets: list[int]) -> StreamInput:
    """The stream whose positions are already the sums that ``offsets`` make; sums outside 32 bits are 2^32 - 1."""
    words = stream.descriptors.copy()
    total = words[:, 1:].astype(np.int64) + offsets
    words[:, 1:] = np.where((total < 0) | (total >> 32 != 0), (1 << 32) - 1, total)
    return replace(stream, descriptors=words)


@pytest.mark.parametrize(
    ("name", "which"),
    [
        *((name, which) for name in ("amaranth", "verilator") for which in ("two-axes", "three-axes")),
        ("icarus", "three-axes"),
        ("amaranth", "two-axes-slow"),
        ("verilator", "three-axes-slow"),
    ],
)
def test_offsets_of_each_axis(name, which, folder_of):
    """Sums below 0, at the limit and past it on one axis only; every axis has an offset of its own."""
    design = DESIGNS[which]
    axes, limit = design.axes, design.limits[0]
    offsets = [-1000, 5000, -(1 << 31)][:axes]
    least = [max(0, -offset) for offset in offsets]
    inside = [one + 300 for one in least]
    positions = [inside]
    for axis, offset in enumerate(offsets):
        for value in (max(0, -offset - 1), least[axis], limit - offset - 1, limit - offset, (1 << 32) - 1):
            positions.append([*inside[:axis], value, *inside[axis + 1 :]])
            positions.append(inside)
    positions = np.array(positions, np.int64)
    source = np.random.default_rng(4)
    descriptors = descriptor_words(0, positions, tag=np.arange(len(positions)), axes=axes)
    stream = whole_tokens(design, descriptors, random_words(design, source, len(positions)))
    script = Script(
        registers=(
            *(write(f"offset[{axis}]", offset) for axis, offset in enumerate(offsets)),
            *(read(f"offset[{axis}]") for axis in range(3)),
        ),
        meanwhile=read_counters(start=1500),
    )
    output = open_engine(name, folder_of(which)).run(stream, stalls=HARD, script=script)
    expected = shifted(design, stream, offsets)
    wrong = token_errors(design, expected.descriptors)
    # Of each axis's five: at the limit and 2^32 - 1, and the sum of -1 where the offset is below 0.
    assert wrong.sum() == 2 * axes + sum(offset < 0 for offset in offsets)
    agree(design, expected, output)
    assert np.array_equal(output.error.reshape(len(positions), -1).all(axis=1), wrong)
    shown = [(answer.value, answer.refused) for answer in output.answers[axes : axes + 3]]
    assert shown[:axes] == [(offset & 0xFFFFFFFF, False) for offset in offsets]
    assert shown[axes:] == [(0, True)] * (3 - axes)
    assert output.answers[-3].value == wrong.sum()  # position errors


def test_a_row_is_used_again_only_where_all_axes_are_equal(folder_of):
    """Tokens are shorter than the making of a row, so that the rate tells whether rows are made."""
    made = DESIGNS["two-axes"]
    design = replace(made, geometry=replace(made.geometry, query_heads=1, key_heads=1))
    engine = open_engine("verilator", folder_of("two-axes"))
    tokens = 600
    words = random_words(design, np.random.default_rng(5), tokens)
    assert design.beats_per_clock == pytest.approx(2 / 3)
    for axis in (None, 0, 1):
        position = np.tile([7, 8], (tokens, 1))
        if axis is not None:
            position[:, axis] = np.arange(tokens) % 2
        stream = whole_tokens(design, descriptor_words(0, position, axes=2), words)
        output = engine.run(stream, script=Script(registers=(write("query_heads", 1),)))
        agree(design, stream, output)
        assert output.beats_per_clock == pytest.approx(1.0 if axis is None else 2 / 3, rel=0.02)


@pytest.mark.parametrize(("name", "which"), [("amaranth", "text"), ("verilator", "text"), ("verilator", "text-slow")])
def test_slots_of_more_axes_are_loaded_into_an_engine_of_a_text_model(name, which, folder_of):
    design, vision = DESIGNS[which], DESIGNS["three-axes"]
    variants = (*design.variants, *(replace(one, name=f"loaded {one.name}") for one in vision.variants))
    both = replace(design, geometry=replace(design.geometry, variants=variants))
    stream = scenarios.everything(both, seed=6, tokens=60)
    script = Script(registers=(*load_slot(1, vision, 0), *load_slot(2, vision, 1), read("features"), *read_crcs([1])))
    output = open_engine(name, folder_of(which)).run(stream, stalls=HARD, script=script)
    agree(both, stream, output)
    assert not any(answer.refused for answer in output.answers)
    assert fields("features", output.answers[-3].value)["axes"] == 3
    assert not output.error.all()


def test_a_slot_whose_axis_an_engine_lacks_is_refused(folder_of):
    design = DESIGNS["two-axes"]
    vision = replace(DESIGNS["three-axes"], data_width=12, lanes=4)
    stream = scenarios.plain(design, seed=7, tokens=4)
    script = Script(registers=(*load_slot(1, vision, 0), read("load_state"), read("features")))
    output = open_engine("verilator", folder_of("two-axes")).run(stream, script=script)
    agree(design, stream, output)
    assert [answer.refused for answer in output.answers[-3:]] == [True, False, False]
    assert fields("load_state", output.answers[-2].value)["refused"] == 5
    assert fields("features", output.answers[-1].value)["axes"] == 2


def test_full_rate_with_another_slot_and_position_on_every_token(folder_of):
    design = DESIGNS["three-axes"]
    stream = scenarios.plain(design, seed=8, tokens=1000)
    output = open_engine("verilator", folder_of("three-axes")).run(stream)
    agree(design, stream, output)
    assert output.beats_per_clock == pytest.approx(1.0, rel=0.002)
