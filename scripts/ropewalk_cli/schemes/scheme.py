"""The protocol of a scheme, and what its parts give to the commands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from ropewalk.designs.any_design import AnyDesign
from ropewalk.tables.learned import Words

from ..trials import EngineReport


@dataclass(frozen=True, kw_only=True)
class Request:
    """A model as ``generate`` was given it: its name, its geometry, and how it and others are read."""

    model: str
    geometry: Any
    sequence_length: int | None = None
    follow: str = "hf"
    verbose: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """A design, the words of its table where it has one, lines that describe it, and notes for its user."""

    design: AnyDesign
    words: Words | None = None
    summary: list[str]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ran:
    """The arrays of a run, a sentence on it, and notes for its user."""

    result: dict[str, np.ndarray]
    sentence: str
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What ``verify`` found: entries of its JSON document (docs/cli.md)."""

    changed_tables: list[str]
    changed_verilog: str | None
    engines: list[EngineReport]
    variants: list[dict[str, Any]]


class Scheme(Protocol):
    """What a scheme does for the commands."""

    exact: str
    """What results are compared with."""

    def make(self, request: Request, options: Mapping[str, Any]) -> Made:
        """The design of a model. ``options`` are those of ``generate_options``; raises ``InputError``."""
        ...

    def run(
        self, design: Any, folder: Path, arrays: Mapping[str, np.ndarray], *, engine: str, scale: float | None
    ) -> Ran:
        """Arrays through an engine; raises ``InputError`` and ``EngineError``."""
        ...

    def verify(
        self,
        design: Any,
        folder: Path,
        names: list[str],
        arrays: Mapping[str, np.ndarray] | None,
        *,
        simulated: Path | None = None,
    ) -> Verified:
        """All engines, with ``arrays`` or the built-in input; the first of ``names`` is the reference.

        ``simulated`` is a folder whose Verilog they run in place of that of ``folder``: a netlist.
        """
        ...
