"""The synthesised engines: one per head size, made for one model, its slots loaded with the others over AXI4-Lite."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from ropewalk.boards import families
from ropewalk.boards.synthesis import netlist_verilog, synthesise
from ropewalk.boards.unit import unit_in
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.family import Family
from ropewalk.geometry import only_rotary
from ropewalk.models import read_model
from ropewalk.tables.slot_words import slot_crc
from ropewalk_sim.beats import Script, Stalls, descriptor_words, whole_tokens
from ropewalk_sim.engines.library import build_library
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.errors import EngineError
from ropewalk_sim.netlist import Netlist, write_netlist_folder
from ropewalk_sim.registers import load_slot, read_crcs, write
from ropewalk_sim.stream_model import run_model

from .cases import AXES, HEADS, LANES, Case, Load

MADE_FOR = {
    64: "qwen2.5-0.5b",
    80: "phi-2",
    96: "gpt-neox-20b",
    128: "llama-2-7b",
    256: "gemma-3-270m",
    512: "deepseek-v4",
}
"""The preset that the engine of each head size is generated for."""

FAMILIES = {
    "ecp5": families.ECP5,
    "ice40": families.ICE40,
    "gowin": families.GW1N,
    "xilinx": families.XILINX,
}
"""The families whose netlists the vectors can go through."""

STALLS = Stalls(seed=11, data=0.1, token=0.1, output=0.2, registers=0.1)
FULL_SCALE = 32767


@dataclass(kw_only=True, eq=False)
class Found:
    """What an engine made of a case.

    ``words`` are the quantised input ``int64 [3, head_dim]``, ``scale [3, 1]`` the value of an LSB of each vector,
    ``data`` the output ``int64 [tokens, 3, head_dim]``; ``differing_bits`` from the fixed-point model, and
    ``wrong_crcs`` how many of its slots showed another CRC than their words have.
    """

    case: Case
    words: np.ndarray
    scale: np.ndarray
    data: np.ndarray
    differing_bits: int = 0
    wrong_crcs: int = 0


def quantised(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Words and scales: per vector the smallest power of two with which no pair of words is longer than full scale."""
    first, second = pair_places(case.design, coming=True)
    scales = []
    for vector in case.vectors:
        scale = 2.0 ** np.floor(np.log2(np.abs(vector).max() / FULL_SCALE))
        while not _fits(np.rint(vector / scale), first, second):
            scale *= 2
        scales.append(scale)
    scale = np.array(scales)[:, None]
    return np.rint(case.vectors / scale).astype(np.int64), scale


def _fits(words: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    return bool(np.abs(words).max() <= FULL_SCALE and np.hypot(words[first], words[second]).max() <= FULL_SCALE)


def pair_places(design: Design, *, coming: bool) -> tuple[np.ndarray, np.ndarray]:
    """The elements of each pair in a head, as they come or as they go: written here, not taken from the engine's."""
    shape = design.geometry
    pair = np.arange(shape.rotary_dim // 2)
    pairing = shape.pairing if coming else shape.output_pairing
    first, second = (pair, pair + len(pair)) if pairing == "half" else (2 * pair, 2 * pair + 1)
    return shape.rotary_start + first, shape.rotary_start + second


def engine_folder(head_dim: int, folder: Path, family: Family = "generic") -> Path:
    """Emit the engine of a head size, for the model of :data:`MADE_FOR`, in both orders and for three axes.

    With a ``family`` it is made of that one's primitives, and what is given has its netlist in place of the Verilog.
    """
    geometry = only_rotary(read_model(MADE_FOR[head_dim]))
    design = Design(
        geometry=geometry, lanes=LANES, input_pairing="both", output_pairing="both", position_axes=AXES, family=family
    )  # fmt: skip
    write_design_folder(design, folder)
    if family == "generic":
        return folder
    made = synthesise(unit_in(folder).files, family=FAMILIES[family], primitives=True)
    netlist = Netlist(verilog=netlist_verilog(made).encode(), family=family, part="")
    place = folder.with_name(f"{folder.name}-netlist")
    place.mkdir()
    return write_netlist_folder(folder, netlist, place)


def engines(sizes: Iterable[int], folder: Path, family: Family = "generic") -> Iterator[tuple[int, VerilatorEngine]]:
    """The compiled engine of each head size, made in ``folder``, two being compiled at a time.

    ``family`` is as in :func:`engine_folder`.
    """
    with ThreadPoolExecutor(2) as pool:
        building = []
        for head_dim in sizes:
            made = engine_folder(head_dim, folder / str(head_dim), family)
            building.append((head_dim, made, pool.submit(build_library, made)))
        for head_dim, made, library in building:
            library.result()
            yield head_dim, VerilatorEngine(made)


def run_cases(cases: Iterable[Case], engine: VerilatorEngine) -> list[Found]:
    """Run all ``cases`` through ``engine``, as many of their loads at once as it has slots."""
    found = [_nothing(case) for case in cases]
    loads = [(one, load) for one in found for load in one.case.loads]
    for start in range(0, len(loads), engine.design.slots):
        _run_batch(engine, loads[start : start + engine.design.slots])
    return found


def _nothing(case: Case) -> Found:
    words, scale = quantised(case)
    return Found(case=case, words=words, scale=scale, data=np.zeros((len(case.position), *words.shape), np.int64))


def _run_batch(engine: VerilatorEngine, batch: list[tuple[Found, Load]]) -> None:
    """Load a slot each, and send the tokens of all: the slot, and so the model, changes with every token."""
    tokens = sorted((place, slot) for slot, (_, load) in enumerate(batch) for place in range(len(load.tokens)))
    slots = np.array([slot for _, slot in tokens])
    position = np.array([_positions(*batch[slot])[place] for place, slot in tokens])
    words = np.array([batch[slot][0].words for slot in slots])
    accesses = [access for slot, (_, load) in enumerate(batch) for access in load_slot(slot, load.design, load.variant)]
    accesses += [write("query_heads", HEADS[0]), write("key_heads", HEADS[1]), write("value_heads", 0)]
    shaped = replace(engine.design, geometry=replace(engine.design.geometry, query_heads=HEADS[0], key_heads=HEADS[1]))
    stream = whole_tokens(shaped, descriptor_words(slots, position, tag=np.arange(len(slots)) & 255, axes=AXES), words)
    script = Script(registers=(*accesses, *read_crcs(range(len(batch)))))
    output = engine.run(stream, stalls=STALLS, script=script)
    if output.error.any() or any(answer.refused for answer in output.answers):
        raise EngineError("the engine refused a slot, or marked a token with an error")
    data = output.data.reshape(words.shape)
    for slot, (found, load) in enumerate(batch):
        mine, own = data[slots == slot], load.design
        found.data[load.tokens] = mine
        descriptors = descriptor_words(load.variant, _positions(found, load), axes=AXES)
        expected = run_model(own, whole_tokens(own, descriptors, words[slots == slot])).data.reshape(mine.shape)
        found.differing_bits += int(np.bitwise_count((mine ^ expected) & 0xFFFF).sum())
        shown = output.answers[-len(batch) + slot].value
        found.wrong_crcs += shown != slot_crc(own, load.variant)


def _positions(found: Found, load: Load) -> np.ndarray:
    """Of the tokens of a load, ``[tokens, 3]``: a position of one axis is the same on all."""
    position = found.case.position[load.tokens]
    return position if position.ndim == 2 else np.repeat(position[:, None], AXES, axis=1)
