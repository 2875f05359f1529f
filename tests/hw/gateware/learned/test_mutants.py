"""Faults planted in the learned-table adder: each must show as a difference from the model."""

from collections.abc import Callable
from typing import Any

import pytest
from ropewalk.formats import Format
from ropewalk.gateware.learned import descriptor, engine, framer, read_master, table_rows
from ropewalk_sim.errors import EngineError
from ropewalk_sim.learned.amaranth import simulate
from ropewalk_sim.learned.model import run_model
from ropewalk_sim.learned.scenarios import random_stream
from ropewalk_sim.learned.stream import Memory, Session
from ropewalk_sim.registers import Access, address_of

Patch = Callable[[pytest.MonkeyPatch], None]


def late(module: Any, which: str, by: int) -> Patch:
    original = module.delayed

    def delayed(m: Any, value: Any, clocks: int, *, name: str) -> Any:
        return original(m, value, clocks + by if name == which else clocks, name=name)

    return lambda monkeypatch: monkeypatch.setattr(module, "delayed", delayed)


def changed_table(monkeypatch: pytest.MonkeyPatch) -> None:
    original = table_rows.pack_beats

    def changed(*arguments: Any) -> list[int]:
        words = original(*arguments)
        words[40] ^= 1 << 15
        return words

    monkeypatch.setattr(table_rows, "pack_beats", changed)


def another_property(name: str, change: Callable[[Any], Any], *modules: Any) -> Patch:
    """The gateware of ``modules`` sees another value of a design's property."""

    class Other:
        def __init__(self, design: Any) -> None:
            self._design = design

        def __getattr__(self, one: str) -> Any:
            value = getattr(self._design, one)
            return change(value) if one == name else value

    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        for module, component in modules:
            original = getattr(module, component).elaborate

            def elaborate(self: Any, platform: Any, original: Any = original) -> Any:
                self._design = Other(self._design)
                return original(self, platform)

            monkeypatch.setattr(getattr(module, component), "elaborate", elaborate)

    return patch


def unrounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Format, "rounding_word", lambda self, fraction_bits: 0)


class OneMoreRow:
    """A geometry with one row more than the table has."""

    def __init__(self, geometry: Any) -> None:
        self._geometry = geometry

    def __getattr__(self, name: str) -> Any:
        return getattr(self._geometry, name) + (name == "rows")


INSIDE: dict[str, Patch] = {
    "a bit of a table word": changed_table,
    "a row past the last": another_property("geometry", OneMoreRow, (descriptor, "DescriptorPort")),
    "the elements a clock late": late(engine, "x", 1),
    "the permission a clock early": late(engine, "add", -1),
    "an element past the row's end": another_property("last_lanes", lambda lanes: lanes + 1, (framer, "Framer")),
    "a beat too many": another_property("beats_per_token", lambda beats: beats + 1, (framer, "Framer")),
    "elements of the beat after": late(engine, "x", -1),
    "half an LSB less": unrounded,
}
OUTSIDE: dict[str, Patch] = {
    "the words a clock late": late(engine, "fetched_words", 1),
    "a page of twice the size": lambda monkeypatch: monkeypatch.setattr(read_master, "PAGE_BYTES", 8192),
    "containers of half the width": another_property(
        "table_container_bits", lambda b: b // 2, (read_master, "ReadMaster")
    ),
}


def write(register: str, value: int, start: int = 0) -> Access:
    return Access(address=address_of(register, "learned"), write=value, start=start)


def differs(design: Any, words: Any) -> bool:
    stream = random_stream(design, 50, seed=4, faults=0.2)
    # Rows of three beats, one beat apart: row 5 crosses a page.
    base, stride = 3 * 4096 - (5 * 4 + 1) * design.bus_bytes, 4 * design.bus_bytes
    memory = Memory(base=base, stride=stride, latency=(1, 20))
    session = Session(memory=memory)
    if design.storage == "external":
        registers = (write("base_low", memory.base), write("row_stride", memory.stride or 0))
        session = Session(memory=memory, registers=registers)
    try:
        output = simulate(design, words, stream, session=session)
    except EngineError:
        return True
    return not output.same(run_model(design, words, stream))


@pytest.mark.parametrize("name", INSIDE)
def test_the_comparison_kills(name, make, monkeypatch) -> None:
    design, words = make()
    INSIDE[name](monkeypatch)
    assert differs(design, words)


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_comparison_kills_outside(name, make, monkeypatch) -> None:
    design, words = make(storage="external")
    OUTSIDE[name](monkeypatch)
    assert differs(design, words)


@pytest.mark.parametrize("storage", ["block-ram", "external"])
def test_the_unchanged_gateware_survives(storage, make) -> None:
    assert not differs(*make(storage=storage))
