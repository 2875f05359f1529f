"""Register accesses in every engine that has a register port: the same answers, and the same streams."""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary, write_design_folder
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim import scenarios
from ropewalk_sim.beats import Script, Stalls, StreamInput
from ropewalk_sim.engines import open_engine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import (
    Access,
    load_slot,
    load_words,
    read,
    read_counters,
    read_crcs,
    wait,
    write,
)
from ropewalk_sim.stream_model import run_model

ENGINES = ("amaranth", "verilator", "icarus", "cocotb-verilator")
OKAY, SLVERR = 0, 2


@pytest.fixture
def design(design_folder) -> Design:
    return load_rotary(design_folder("four-lanes"))


@pytest.fixture
def loaded(design) -> Design:
    """The design with its second variant in slot 2 as well."""
    third = replace(design.variants[1], name="third")
    return replace(design, geometry=replace(design.geometry, variants=(*design.variants, third)))


def answers_of(output) -> list[tuple[int, int]]:
    return [(answer.value, answer.response) for answer in output.answers]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_every_engine_gives_the_same_answers_and_beats(name, share, design, loaded, design_folder):
    stream = scenarios.everything(loaded, seed=1, tokens=40)
    script = Script(
        registers=(
            *load_slot(2, design, 1),
            *read_crcs(range(4)),
            write("offset[0]", -3),
            read("offset[0]"),
            write("offset[0]", 0, strobes=7),
            write("offset[0]", 0),
            write("query_heads", 0x0900, strobes=0b0010),
            read("query_heads"),
            Access(address=0x031),
            Access(address=0x032, write=1),
            Access(address=0x014),
            read("load_data"),
            write("identity", 1),
        ),
        meanwhile=(
            *load_slot(5, design, 0, start=20),
            *load_words(6, [1, 2, 3]),
            *read_crcs([5, 6]),
            *read_counters(start=1500),
            read("status"),
        ),
    )
    output = open_engine(name, design_folder("four-lanes")).run(
        stream, stalls=Stalls(seed=5, data=0.2, output=0.2, registers=share), script=script
    )
    expected = run_model(loaded, stream)
    for field in ("data", "tid", "last", "user"):
        np.testing.assert_array_equal(getattr(output, field), getattr(expected, field))
    got = answers_of(output)
    before, during = got[: len(script.registers)], got[len(script.registers) :]
    crcs = [slot_crc(loaded, slot) for slot in range(3)]
    assert [value for value, _ in before[-15:-11]] == [*crcs, 0]
    assert before[-11:] == [
        (0, OKAY), (0xFFFFFFFD, OKAY), (0, SLVERR), (0, OKAY), (0, OKAY), (2, OKAY),
        (0, SLVERR), (0, SLVERR), (0, SLVERR), (0, SLVERR), (0, SLVERR),
    ]  # fmt: skip
    assert all(response == OKAY for _, response in before[:-11])
    loads = len(load_slot(5, design, 0))
    assert [response for _, response in during[:loads]] == [OKAY] * loads
    assert [response for _, response in during[loads : loads + 6]] == [OKAY] * 5 + [SLVERR]
    assert [value for value, _ in during[loads + 7 : loads + 9]] == [slot_crc(design, 0), 0]
    tokens, beats, _, _, _, position_errors, slot_errors, framing_errors = (value for value, _ in during[-9:-1])
    assert (tokens, beats, framing_errors) == (40, output.beats, 0)
    slots = stream.descriptors[:, 0] & 255
    assert slot_errors == np.count_nonzero(slots >= 3)
    assert position_errors == output.error[output.last].sum() - slot_errors
    assert during[-1][0] & ~8 == bool(position_errors) | bool(slot_errors) << 1 | 16


@pytest.mark.parametrize("name", ["amaranth", "verilator", "icarus"])
def test_accesses_before_an_interrupted_run(name, design, loaded, design_folder):
    """A slot that was loaded before a reset is there after it, the head count is not."""
    lost = scenarios.plain(loaded, seed=2, tokens=6)
    stream = scenarios.plain(loaded, seed=3, tokens=9)
    script = Script(
        interrupted=lost,
        interrupted_clocks=60,
        interrupted_registers=(*load_slot(2, design, 1), write("value_heads", 3), write("value_heads", 0)),
        registers=(*read_crcs([2]), read("key_heads")),
    )
    output = open_engine(name, design_folder("four-lanes")).run(stream, script=script)
    np.testing.assert_array_equal(output.data, run_model(loaded, stream).data)
    assert [answer.value for answer in output.answers[1:]] == [slot_crc(design, 1), 1]
    assert output.before is not None
    assert len(output.before.answers) == len(script.interrupted_registers)
    assert output.before.beats > 0


@pytest.mark.parametrize("name", ENGINES[:3])
def test_what_never_comes_is_said(name, design, design_folder, monkeypatch):
    modules = {"amaranth": "engines.amaranth_host", "verilator": "engines.verilator_host", "icarus": "units.cosim"}
    monkeypatch.setattr(f"ropewalk_sim.{modules[name]}.MOST_POLLS", 50)
    stream = scenarios.plain(design, seed=1, tokens=2)
    with pytest.raises(EngineError, match=rf"^{name}: .*a register does not show what is waited for"):
        open_engine(name, design_folder("four-lanes")).run(stream, script=Script(registers=(wait("identity", 1, 1),)))


@pytest.mark.parametrize("name", ["amaranth", "verilator"])
def test_without_registers_every_access_is_refused_and_changes_nothing(name, design_folder):
    design = load_rotary(design_folder("no-registers"))
    stream = scenarios.everything(design, seed=4, tokens=40)
    script = Script(
        registers=(read("identity"), write("query_heads", 1)), meanwhile=(write("control", 9), read("tokens"))
    )
    output = open_engine(name, design_folder("no-registers")).run(stream, stalls=Stalls(registers=0.3), script=script)
    assert answers_of(output) == [(0, SLVERR)] * 4
    np.testing.assert_array_equal(output.data, run_model(design, stream).data)
    np.testing.assert_array_equal(output.user, run_model(design, stream).user)


def test_the_model_has_no_registers(design, design_folder):
    stream = scenarios.plain(design, seed=1, tokens=2)
    with pytest.raises(ValueError, match="the model has no registers"):
        open_engine("model", design_folder("four-lanes")).run(stream, script=Script(registers=(read("identity"),)))


def test_a_run_of_registers_alone(design, design_folder):
    """No beat at all: the run ends when the last access has been answered."""
    none = scenarios.plain(design, seed=1, tokens=0)
    assert isinstance(none, StreamInput)
    for name in ("amaranth", "verilator", "icarus"):
        script = Script(meanwhile=(read("identity", start=700), read("query_heads")))
        output = open_engine(name, design_folder("four-lanes")).run(none, script=script)
        assert answers_of(output) == [(int.from_bytes(b"ROPE", "little"), OKAY), (2, OKAY)]
        assert output.answers[0].clock >= 700


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"address": 1 << 12}, "address must have at most 12 bits"),
        ({"address": 0, "write": -1}, "a 32-bit word"),
        ({"address": 0, "write": 1, "mask": 1}, "is not waited for"),
        ({"address": 0, "strobes": 16}, "strobes"),
    ],
)
def test_accesses_that_no_port_can_carry(fields, message):
    with pytest.raises(ValueError, match=message):
        Access(**fields)


@pytest.mark.parametrize("options", [{"source": "table", "positions": 40}, {"slots": 1}, {"slots": 64}])
@pytest.mark.parametrize("registers", [True, False])
def test_slots_of_every_number_and_source(options, registers, design, tmp_path):
    """One variant in one of 1 and 64 slots, and a table, with and without registers, as emitted."""
    geometry = replace(design.geometry, variants=design.variants[:1])
    small = replace(design, geometry=geometry, registers=registers, **options)
    write_design_folder(small, tmp_path / "engine")
    stream = scenarios.everything(small, seed=6, tokens=60)
    script = Script(registers=read_crcs([0])) if registers else Script()
    output = open_engine("verilator", tmp_path / "engine").run(stream, script=script)
    expected = run_model(small, stream)
    np.testing.assert_array_equal(output.data, expected.data)
    np.testing.assert_array_equal(output.user, expected.user)
    assert [answer.value for answer in output.answers[1:]] == ([slot_crc(small, 0)] if registers else [])
