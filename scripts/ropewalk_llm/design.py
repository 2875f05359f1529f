"""The engine of a model: its design, and the folder with its Verilog, generated once and kept in the user's cache."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from ropewalk.design import POSITION_BITS, Design, default_slots
from ropewalk.emit.folder import load_rotary, write_design_folder
from ropewalk.errors import InputError
from ropewalk.formats import Rounding
from ropewalk.geometry.rotary import RotaryGeometry
from ropewalk.lanes import default_lanes
from ropewalk_sim.engines.cache import cached


@dataclass(frozen=True, kw_only=True)
class Widths:
    """The choices of an engine that change its numbers."""

    data: int = 16
    coefficient: int = 18
    phase: int = 48
    rounding: Rounding = "half-up"


def design_of(geometry: RotaryGeometry, widths: Widths) -> Design:
    """The engine of ``geometry`` with these widths, for all positions below 2**24: the model has its own limit."""
    return Design(
        geometry=geometry,
        lanes=default_lanes(geometry),
        slots=default_slots(geometry),
        data_width=widths.data,
        coefficient_width=widths.coefficient,
        phase_bits=widths.phase,
        rounding=widths.rounding,
        positions=1 << POSITION_BITS,
    )


def folder_of(design: Any, words: Any = None) -> Path:
    """The generated folder of ``design`` (``words``: of its learned table), from the cache or made now."""
    table = b"" if words is None else sha256(words.tobytes()).digest()
    return cached("llm-engine", [generator_digest(), repr(design), table], _writer(design, words)) / "engine"


def _writer(design: Any, words: Any) -> Callable[[Path], None]:
    return lambda folder: write_design_folder(design, folder / "engine", words=words)


@lru_cache(maxsize=1)
def generator_digest() -> str:
    """The SHA-256 of the generator's own source: another generator may write other Verilog for the same design."""
    root = Path(str(files("ropewalk")))
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()


def given_design(folder: Path, geometry: RotaryGeometry) -> Design:
    """The design in ``folder``, which must be of ``geometry``.

    Raises
    ------
    InputError
        If it holds no rotary engine, or one of another geometry.
    """
    design = load_rotary(folder)
    # Limits may differ: an engine may have been made for fewer positions than the model has, or for more.
    if _angles(design.geometry) != _angles(geometry):
        raise InputError(
            f"the engine in {folder} is for {design.geometry.model_type} with another geometry than the model's "
            f"(ropewalk compare says where they differ)"
        )
    return design


def _angles(geometry: RotaryGeometry) -> list[Any]:
    """What an engine must have in common with a model: per slot the name, the shape, the frequencies, the amplitude."""
    return [
        (variant.name, geometry.of(slot), variant.inverse_frequency, variant.amplitude)
        for slot, variant in enumerate(geometry.variants)
    ]
