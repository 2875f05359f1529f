"""What goes into an engine and what comes out of it, beat by beat, as whole numpy arrays.

Every engine (the model, Amaranth's simulator, Icarus, Verilator) takes one :class:`StreamInput` and gives one
:class:`StreamOutput`; ``PORTS.md`` and ``docs/ports.md`` say what the fields mean on the wires.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from ropewalk.design import Design

from .in_out import Input, Output
from .registers import Access

Stream = TypeVar("Stream")

INVERSE, PASS, UNIT_AMPLITUDE = 1, 2, 4
"""Flags of a token descriptor: bits of word 0 [15:8]."""

QUERY, KEY, VALUE = 0, 1, 2
"""Kinds of a beat: TUSER [2:1]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamInput(Input):
    """Everything that is offered to an engine.

    Parameters
    ----------
    descriptors
        ``uint32 [tokens, 1 + axes]``: word 0 (slot [7:0], flags [15:8], tag [23:16]), then one position per axis.
    data
        ``int64 [beats, 2 * lanes]``: the elements. They are cut to the container's bits on the wires, and the
        engine ignores what lies above the data width.
    tid
        ``uint8 [beats]``: the tag of the token that the beat belongs to.
    last
        ``bool [beats]``: whether the beat ends its token.

    Raises
    ------
    ValueError
        If an array has another type or shape.
    """

    def __post_init__(self) -> None:
        beats = len(self.data)
        _check_array("descriptors", self.descriptors, np.uint32, 2)
        _check_array("data", self.data, np.int64, 2)
        _check_array("tid", self.tid, np.uint8, 1, beats)
        _check_array("last", self.last, np.bool_, 1, beats)

    def check(self, design: Design) -> None:
        """Raise ``ValueError`` unless the streams are as wide as the ports of ``design``."""
        if self.data.shape[1] != design.elements:
            raise ValueError(f"data must have {design.elements} elements per beat, not {self.data.shape[1]}")
        if self.descriptors.shape[1] != 1 + design.axes:
            raise ValueError(f"descriptors must have {1 + design.axes} words, not {self.descriptors.shape[1]}")


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamOutput(Output):
    """Everything that came out of an engine, and when: see :class:`~ropewalk_sim.in_out.Figures`.

    Parameters
    ----------
    data
        ``int64 [beats, 2 * lanes]``: the containers, sign-extended.
    tid, last
        ``uint8 [beats]``, ``bool [beats]``: as on the input.
    user
        ``uint8 [beats]``: bit 0 error, bits 2:1 kind.
    before
        What came out before a scripted reset (see :class:`Script`); ``None`` without one.
    """

    tid: np.ndarray
    last: np.ndarray
    user: np.ndarray
    before: "StreamOutput | None" = None

    def __post_init__(self) -> None:
        beats = len(self.data)
        _check_array("data", self.data, np.int64, 2)
        _check_array("tid", self.tid, np.uint8, 1, beats)
        _check_array("last", self.last, np.bool_, 1, beats)
        _check_array("user", self.user, np.uint8, 1, beats)

    @property
    def error(self) -> np.ndarray:
        """``bool [beats]``: the error bit."""
        return (self.user & 1).astype(bool)

    @property
    def kind(self) -> np.ndarray:
        """``uint8 [beats]``: 0 query, 1 key, 2 value."""
        return self.user >> 1


@dataclass(frozen=True, kw_only=True)
class Stalls:
    """How often the other side of each stream rests.

    ``data`` and ``token`` are the probabilities that a source which has the next beat does not offer it in a
    clock (once offered it stays); ``output`` is the probability that the sink is not ready in a clock. ``registers``
    is both for the channels of the register port, each on its own. Each is at least 0 and at most 0.95. The same seed
    gives the same pattern in the same engine.
    """

    seed: int = 1
    data: float = 0.0
    token: float = 0.0
    output: float = 0.0
    registers: float = 0.0

    def __post_init__(self) -> None:
        for name in ("data", "token", "output", "registers"):
            value = getattr(self, name)
            if not 0 <= value <= 0.95:
                raise ValueError(f"stall probability {name} must be from 0 to 0.95, not {value!r}")


@dataclass(frozen=True, kw_only=True)
class Script(Generic[Stream]):
    """What a bench does to an engine beside offering the streams.

    Parameters
    ----------
    data_start, token_start, output_start
        The clock before which that stream's data, descriptors or ready are held back.
    interrupted
        A stream that is offered first, for ``interrupted_clocks`` clocks. Then reset is asserted for
        ``reset_clocks`` clocks, whatever is under way, and the run proper begins. With ``reset_clocks`` 0 it is left
        to ``registers`` to end what was under way, by a soft reset or a flush: nothing is offered, and what comes out
        is dropped, while they are carried out. (Not under cocotb, whose sources cannot take back what they offer.)
    registers, interrupted_registers
        Accesses to registers that are carried out, one after the other, before the streams of the run proper and of
        the interrupted one begin.
    meanwhile
        Further ones, while the engine streams. The run does not end before they have been answered.
    """

    data_start: int = 0
    token_start: int = 0
    output_start: int = 0
    interrupted: Stream | None = None
    interrupted_clocks: int = 0
    reset_clocks: int = 2
    registers: tuple[Access, ...] = ()
    interrupted_registers: tuple[Access, ...] = ()
    meanwhile: tuple[Access, ...] = ()

    def __post_init__(self) -> None:
        for name in ("data_start", "token_start", "output_start", "interrupted_clocks"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, not {getattr(self, name)!r}")
        least = 0 if self.interrupted is not None and self.registers else 1
        if self.reset_clocks < least:
            raise ValueError(f"reset_clocks must be at least {least}, not {self.reset_clocks!r}")


def descriptor_words(
    slot: np.ndarray | int,
    position: np.ndarray,
    *,
    flags: np.ndarray | int = 0,
    tag: np.ndarray | int = 0,
    axes: int = 1,
) -> np.ndarray:
    """Token descriptors ``uint32 [tokens, 1 + axes]``; ``slot``, ``flags`` and ``tag`` are bytes.

    ``position``, of 32 bits, is ``[tokens, axes]``, or ``[tokens]`` where it is the same on every axis, as that of
    text is.

    Raises
    ------
    ValueError
        If ``position`` has another shape.
    """
    position = np.asarray(position)
    if position.ndim == 1:
        position = position[:, None]
    elif position.ndim != 2 or position.shape[1] != axes:
        raise ValueError(f"position must be [tokens] or [tokens, {axes}], not of the shape {list(position.shape)}")
    words = np.zeros((len(position), 1 + axes), np.uint32)
    words[:, 0] = np.asarray(slot, np.uint32) | np.asarray(flags, np.uint32) << 8 | np.asarray(tag, np.uint32) << 16
    words[:, 1:] = position
    return words


def whole_tokens(design: Design, descriptors: np.ndarray, data: np.ndarray) -> StreamInput:
    """The stream of ``data`` (integers ``[tokens, heads, head_dim]``), framed as its descriptors say."""
    tokens = len(descriptors)
    shape = (tokens, sum(design.heads), design.geometry.head_dim)
    if data.shape != shape:
        raise ValueError(f"data must have the shape {shape}, not {data.shape}")
    last = np.zeros((tokens, design.beats_per_token), bool)
    last[:, -1] = True
    return StreamInput(
        descriptors=descriptors,
        data=np.ascontiguousarray(data, np.int64).reshape(-1, design.elements),
        tid=np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), design.beats_per_token),
        last=last.reshape(-1),
    )


def _check_array(name: str, array: np.ndarray, dtype: type, dimensions: int, length: int | None = None) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != dimensions:
        raise ValueError(f"{name} must be a {dimensions}-dimensional array of {np.dtype(dtype)}")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have {length} entries, as data has, not {len(array)}")
