"""What must hold for every example: a geometry that those who read it back take, or one sentence.

What is neither raises :class:`Defect`.
"""

import json
import math
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from ropewalk.design import Design, default_design, fitting_lanes
from ropewalk.design_checks import check_engine
from ropewalk.designs.any_design import AnyDesign
from ropewalk.emit.folder import load_design
from ropewalk.errors import InputError
from ropewalk.geometry import (
    AlibiGeometry,
    Geometry,
    LearnedGeometry,
    RotaryGeometry,
    SinusoidalGeometry,
    geometry_from_json,
    geometry_to_json,
)
from ropewalk.models import read_model
from ropewalk.models.weights import load_table
from ropewalk.tables.digest import geometry_digest, model_digest
from ropewalk_sim.npz import load_npz
from ropewalk_sim.stream import pack_run, unpack_run
from ropewalk_sim.stream_model import run_model

IMPORTED = "imported"
LONGEST = 800
"""Characters of a sentence. What it quotes of the input is shorter."""


class Defect(Exception):
    """What came out was neither sane nor a sentence."""


def expect(holds: bool, what: str) -> None:
    """Raise :class:`Defect` unless ``holds``."""
    if not holds:
        raise Defect(what)


def sentence(text: str, path: Path | None = None) -> str:
    """``text``, a sentence for a person, which names the file ``path`` where there is one."""
    expect(text.isprintable(), f"a sentence that cannot be printed: {text!r}")
    expect(0 < len(text) <= LONGEST, f"a sentence of {len(text)} characters: {text[:200]!r}")
    expect(not re.search(r"Traceback|\w(Error|Exception)\b", text), f"a sentence with an exception in it: {text!r}")
    expect(text.count(" ") >= 2 and text[-1] not in ":,(", f"no whole sentence: {text!r}")
    expect(path is None or path.name in text or path.parent.name in text, f"a sentence without the file: {text!r}")
    return text


def kind_of(text: str, path: Path | None = None) -> str:
    """What kind of sentence ``text`` is: its last words before what it quotes, without names and numbers."""
    if path is not None:
        text = text.replace(str(path), "FILE").replace(str(path.parent), "FILE")
    text = re.sub(r"^FILE(: [\w.]+)?(: |,? )(is not a GGUF file that can be read: )?", r"\3", text)
    text = text.replace("is not a GGUF file that can be read", "GGUF")
    text = re.sub(r"^[\w.\[\]'\"\\ ]+ (must be|is missing)", r"KEY \1", text)
    text = re.sub(r"['\"][^'\"]*['\"]|[\w.]*_[\w.]*|-?\d[\w.+-]*", "_", text)
    return " ".join(text.split()[:7])


def read(path: Path, random: Random) -> str:
    """The model in ``path``, read with the options that ``random`` draws; what became of it."""
    said: list[str] = []
    options: dict[str, Any] = {"follow": random.choice(("hf", "hf", "llama.cpp", "vllm"))}
    if random.random() < 0.2:
        options["pairing"] = random.choice(("half", "interleaved"))
    if random.random() < 0.3:
        options["sequence_length"] = random.choice((1, 4096, 100_000, 1 << 40))
    try:
        found = read_model(str(path), notes=said.append, ignored=lambda name: None, **options)
    except InputError as refusal:
        return kind_of(sentence(str(refusal), path), path)
    for text in said:
        sentence(text)
    sane(found)
    round_trip(found)
    use(found, random)
    return IMPORTED


def sane(found: Geometry) -> None:
    """``found`` says nothing that no model could mean."""
    expect(0 < len(found.model_type) <= 64 and found.model_type.isprintable(), f"the model type {found.model_type!r}")
    match found:
        case RotaryGeometry():
            _sane_rotary(found)
        case AlibiGeometry():
            expect(1 <= found.heads == len(found.slopes) <= 1 << 12, f"{found.heads} heads")
            expect(all(0 <= slope <= 1 for slope in found.slopes), f"slopes {found.slopes[:4]}")
            expect(math.isfinite(found.scale_after) and found.scale_after > 0, f"scale {found.scale_after}")
        case LearnedGeometry():
            expect(1 <= found.rows <= 1 << 24 and 1 <= found.dimension <= 1 << 16, f"{found.rows} x {found.dimension}")
            expect(0 <= found.row_offset < found.rows, f"the offset {found.row_offset} of {found.rows} rows")
        case SinusoidalGeometry():
            expect(1 <= found.max_position <= 1 << 40, f"{found.max_position} positions")
            expect(all(0 <= f <= 1 << 20 for f in found.inverse_frequency), "frequencies")
            expect(len(found.inverse_frequency) <= found.dimension, f"{found.dimension} channels")


def _sane_rotary(found: RotaryGeometry) -> None:
    expect(1 <= len(found.variants) <= 64, f"{len(found.variants)} variants")
    names = [variant.name for variant in found.variants]
    expect(len(set(names)) == len(names), f"the variants {names}")
    expect(found.layers is None or set(found.layers) <= {None, *names}, f"layers of no variant: {names}")
    for slot, variant in enumerate(found.variants):
        shape = found.of(slot)
        expect(2 <= shape.rotary_dim <= shape.head_dim <= 1 << 16, f"{shape.rotary_dim} of {shape.head_dim} elements")
        expect(
            0 <= shape.rotary_start <= shape.head_dim - shape.rotary_dim, f"the slice begins at {shape.rotary_start}"
        )
        expect(1 <= shape.key_heads <= shape.query_heads <= 1 << 12, f"{shape.query_heads}, {shape.key_heads} heads")
        expect(shape.query_heads % shape.key_heads == 0, f"{shape.query_heads}, {shape.key_heads} heads")
        expect(2 * len(variant.inverse_frequency) == shape.rotary_dim, f"{len(variant.inverse_frequency)} frequencies")
        expect(variant.axis is None or 2 * len(variant.axis) == shape.rotary_dim, "the axes")
        expect(all(0 <= value <= 1 << 20 for value in variant.inverse_frequency), "a frequency out of range")
        expect(0 < variant.amplitude <= 1024, f"the amplitude {variant.amplitude}")
        expect(1 <= variant.max_position <= 1 << 40, f"{variant.max_position} positions")


def round_trip(found: Geometry) -> None:
    """``found`` comes back from its JSON."""
    document = geometry_to_json(found)
    try:
        again = geometry_from_json(json.loads(json.dumps(document, allow_nan=False)))
    except InputError as refusal:
        raise Defect(f"the JSON of a geometry is refused: {refusal}") from None
    expect(geometry_to_json(again) == document, "the JSON of a geometry comes back changed")


def use(found: Geometry, random: Random) -> None:
    """An engine's parameters and digest, for one small model in three."""
    if random.random() < 0.67:
        return
    try:
        if not isinstance(found, RotaryGeometry):
            model_digest(found)
        elif found.head_dim <= 256 and len(found.variants) <= 4:
            if random.random() < 0.5:
                model_digest(found)
                check_engine(default_design(found))
            else:
                lanes = random.choice(fitting_lanes(found) or (3,))
                width, bits = random.randrange(8, 25), random.randrange(16, 49)
                geometry_digest(Design(geometry=found, lanes=lanes, coefficient_width=width, phase_bits=bits))
    except InputError as refusal:
        sentence(str(refusal))


def read_document(document: Any) -> str:
    """A geometry's JSON document that somebody changed."""
    try:
        found = geometry_from_json(document, "document")
    except InputError as refusal:
        return kind_of(sentence(str(refusal)))
    sane(found)
    round_trip(found)
    return IMPORTED


def read_design(folder: Path) -> str:
    """The design of a folder whose ``design.json`` somebody changed."""
    try:
        design = load_design(folder)
    except InputError as refusal:
        return kind_of(sentence(str(refusal), folder / "design.json"), folder / "design.json")
    expect(isinstance(design, AnyDesign), "no design")
    return IMPORTED


def read_arrays(path: Path, design: Design, scale: float | None) -> str:
    """The arrays of a run, through the fixed-point model."""
    try:
        packed = pack_run(design, load_npz(path), scale)
    except InputError as refusal:
        return kind_of(sentence(str(refusal)), path)
    if packed.stream.tokens <= 8:
        result = unpack_run(packed, run_model(packed.design, packed.stream))
        expect(all(np.isfinite(array).all() for array in result.values()), "a result that is not finite")
    return IMPORTED


def read_weights(path: Path) -> str:
    """The learned table in a weight file."""
    try:
        table = load_table(path)
    except InputError as refusal:
        return kind_of(sentence(str(refusal), path), path)
    expect(table.ndim == 2 and bool(np.isfinite(table).all()), f"a table of shape {table.shape}")
    return IMPORTED
