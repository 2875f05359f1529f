"""What goes into a top and what comes out of it, whatever a beat is made of; and the figures of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .registers import Answer


@dataclass(frozen=True, kw_only=True, eq=False)
class Input:
    """What is offered to a top: ``descriptors`` has a row for each token; ``data``, ``tid``, ``last`` one a beat."""

    descriptors: np.ndarray
    data: np.ndarray
    tid: np.ndarray
    last: np.ndarray

    @property
    def tokens(self) -> int:
        """Number of token descriptors."""
        return len(self.descriptors)

    @property
    def beats(self) -> int:
        """Number of input beats."""
        return len(self.data)


def check_arrays(holder: object, wanted: Mapping[str, tuple[type, tuple[int, ...]]]) -> None:
    """Raise ``ValueError`` unless the arrays of these names in ``holder`` have the types and shapes."""
    for name, (dtype, shape) in wanted.items():
        array = getattr(holder, name)
        if array.dtype != dtype or array.shape != shape:
            raise ValueError(f"{name} must be {np.dtype(dtype)} {list(shape)}, not {array.dtype} {list(array.shape)}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Figures:
    """The figures of a run.

    Clocks are counted from 0, the first one after reset and the accesses before the streams. A model has none: its
    clocks are ``None``.

    Parameters
    ----------
    clocks
        From the clock of the first accepted data beat to that of the last output beat, both counted.
    first_output_clock, last_output_clock
        The clocks in which the first and the last output beat were taken.
    early_tokens
        How many descriptors were accepted before the first data beat was offered.
    data_waits, token_waits, output_waits
        Clocks in which a beat was offered on that stream and not taken.
    answers
        What the register port answered to the script's accesses, in their order.
    bursts
        The reads of a memory outside: address, beats, and reads under way at that moment, this one counted.
    """

    clocks: int | None = None
    first_output_clock: int | None = None
    last_output_clock: int | None = None
    early_tokens: int | None = None
    data_waits: int | None = None
    token_waits: int | None = None
    output_waits: int | None = None
    answers: tuple[Answer, ...] = ()
    bursts: tuple[tuple[int, int, int], ...] = ()

    def figures(self) -> dict[str, Any]:
        """All of them, by name."""
        return {field.name: getattr(self, field.name) for field in fields(Figures)}


@dataclass(frozen=True, kw_only=True, eq=False)
class Output(Figures):
    """Beats that came out, and the figures of the run: ``data`` has a row for each beat."""

    data: np.ndarray

    @property
    def beats(self) -> int:
        """Number of output beats."""
        return len(self.data)

    @property
    def beats_per_clock(self) -> float | None:
        """Throughput from the first output beat to the last; ``None`` for a model and below two beats."""
        if self.first_output_clock is None or self.last_output_clock is None or self.beats < 2:
            return None
        return (self.beats - 1) / (self.last_output_clock - self.first_output_clock)
