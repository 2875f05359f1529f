"""Integer arrays of whole tokens, to the words of an engine's streams and back, without a detour over wide integers.

It does what :mod:`.stream` does for ``ropewalk run``, for words only and a stretch of tokens at a time: elements stay
in their container of 8, 16 or 32 bits from the caller's arrays to the wires.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ropewalk.design import POSITION_BITS, Design
from ropewalk.design_checks import MAX_HEADS
from ropewalk.errors import InputError

from .element_order import Layouts, moved_tokens
from .engines.verilator import Beats, BeatsOut
from .engines.wires import data_words
from .errors import EngineError
from .quantise import check_array, check_range
from .registers import Access, write
from .stream import HEAD_REGISTERS, INVERSE, descriptor_words, given_inverse, given_positions, given_slots

NAMES = ("q", "k", "v")
OPTIONAL = ("variant", "inverse")


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenWords:
    """Checked arrays of tokens, not yet packed.

    ``elements`` holds what was given of ``q``, ``k`` and ``v``, ``heads`` how many heads of each a token has,
    ``descriptors`` is ``uint32 [tokens, 1 + axes]``, ``registers`` what the engine must be told first.
    """

    design: Design
    elements: dict[str, NDArray[np.integer]]
    heads: tuple[int, int, int]
    slots: NDArray[np.int64]
    descriptors: NDArray[np.uint32]
    registers: tuple[Access, ...]

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return len(self.descriptors)

    @property
    def beats_per_token(self) -> int:
        """Beats of a token, all its heads."""
        return sum(self.heads) * self.design.beats_per_head

    def pack(self, tokens: slice) -> Beats:
        """The streams of a stretch of tokens."""
        design, descriptors = self.design, self.descriptors[tokens]
        count, octets = len(descriptors), design.container_bits // 8
        words = np.empty((count, sum(self.heads), design.geometry.head_dim), f"<i{octets}")
        first = 0
        for array in self.elements.values():
            words[:, first : first + array.shape[1]] = array[tokens]
            first += array.shape[1]
        words = self._reordered(
            words, tokens, lambda slot: design.geometry.of(slot).pairing, lambda slot: design.order(slot).input_pairing
        )
        beats = words.reshape(-1, design.elements).view(np.uint8)
        padding = 4 * data_words(design) - beats.shape[1]
        beats = np.pad(beats, ((0, 0), (0, padding))) if padding else beats
        last = np.zeros((count, self.beats_per_token), np.uint8)
        last[:, -1] = 1
        tid = np.repeat((descriptors[:, 0] >> 16).astype(np.uint8), self.beats_per_token)
        return Beats(np.ascontiguousarray(descriptors), beats.view("<u4"), tid, last.reshape(-1))

    def unpack(self, tokens: slice, sent: Beats, came: BeatsOut, into: Mapping[str, np.ndarray]) -> None:
        """Put what came out for a stretch of tokens into its place of the arrays ``into``, ``error`` too.

        Raises
        ------
        EngineError
            If a beat was lost, added or misplaced.
        """
        design = self.design
        if len(came.words) != len(sent.words):
            raise EngineError(f"{len(sent.words)} beats went in and {len(came.words)} came out")
        if not (np.array_equal(came.last, sent.last) and np.array_equal(came.tid, sent.tid)):
            raise EngineError("the output's TLAST or TID do not stand where the input's stood")
        octets = design.container_bits // 8
        beats = came.words.view(np.uint8)[:, : design.elements * octets]
        words = np.ascontiguousarray(beats).view(f"<i{octets}")
        words = words.reshape(len(sent.descriptors), sum(self.heads), design.geometry.head_dim)
        words = self._reordered(
            words,
            tokens,
            lambda slot: design.order(slot).output_pairing,
            lambda slot: design.geometry.of(slot).output_pairing,
        )
        first = 0
        for name, array in self.elements.items():
            into[name][tokens] = words[:, first : first + array.shape[1]]
            first += array.shape[1]
        into["error"][tokens] = (came.user & 1).reshape(len(sent.descriptors), -1).max(axis=1)

    def _reordered(self, words: np.ndarray, tokens: slice, source: Layouts, target: Layouts) -> np.ndarray:
        """``words`` with the heads that are rotated in another order; values keep theirs."""
        rotated = self.heads[0] + self.heads[1]
        moved = moved_tokens(words[:, :rotated], self.design, self.slots[tokens], source, target)
        return words if moved.base is words else np.concatenate([moved, words[:, rotated:]], axis=1)


def token_words(
    design: Design,
    *,
    position: ArrayLike,
    q: ArrayLike | None = None,
    k: ArrayLike | None = None,
    v: ArrayLike | None = None,
    variant: ArrayLike | None = None,
    inverse: ArrayLike | None = None,
) -> TokenWords:
    """The arrays of :meth:`ropewalk_sim.Simulator.run`, checked.

    Raises
    ------
    InputError
        If one does not fit the design or the others.
    """
    where = given_positions(design, {"position": np.asarray(position)})
    where = check_range("position", where, 0, (1 << POSITION_BITS) - 1, "a position")
    tokens = len(where)
    given = {name: np.asarray(array) for name, array in zip(NAMES, (q, k, v), strict=True) if array is not None}
    for name, array in given.items():
        label = f"[tokens, heads of {name}, head_dim]"
        check_array(given, name, (tokens, None, design.geometry.head_dim), label)
        _check_words(name, array, design)
    heads = _heads(design, given)
    per_token = {name: _per_token(array, tokens) for name, array in zip(OPTIONAL, (variant, inverse), strict=True)
                 if array is not None}  # fmt: skip
    slot = given_slots(design, per_token, tokens)
    flags = INVERSE * given_inverse(per_token, tokens)
    tag = np.arange(tokens) & 0xFF
    return TokenWords(
        design=design,
        elements=given,
        heads=heads,
        slots=np.where(slot < len(design.variants), slot, 0),  # the heads of an empty slot are ordered as slot 0's
        descriptors=descriptor_words(slot, where, flags=flags, tag=tag, axes=design.axes),
        registers=tuple(
            write(register, count)
            for register, count, before in zip(HEAD_REGISTERS, heads, design.heads, strict=True)
            if count != before
        ),
    )


def _heads(design: Design, given: Mapping[str, np.ndarray]) -> tuple[int, int, int]:
    queries, keys, values = (given[name].shape[1] if name in given else 0 for name in NAMES)
    if (queries, keys, values) != design.heads and not design.registers:
        raise InputError(
            f"a token of this engine has {design.heads[0]} query, {design.heads[1]} key and {design.heads[2]} value "
            f"heads, not {queries}, {keys} and {values}: it was made without registers, which could change that"
        )
    if queries + keys + values < 1 or max(queries, keys, values) > MAX_HEADS:
        raise InputError(
            f"a token has from 0 to {MAX_HEADS} heads of a kind and at least one in all, not {queries} query, {keys} "
            f"key and {values} value heads"
        )
    return queries, keys, values


def _check_words(name: str, array: np.ndarray, design: Design) -> None:
    if array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must hold integers, the words of {design.data_width} bits, not {array.dtype}: "
            f"ropewalk_sim.quantise makes words of floats"
        )
    data, own = design.data, np.iinfo(array.dtype)
    if not array.size or (own.min >= data.minimum and own.max <= data.maximum):
        return
    if int(array.min()) < data.minimum or int(array.max()) > data.maximum:
        check_range(name, array, data.minimum, data.maximum, f"a word of {design.data_width} bits")


def _per_token(given: Any, tokens: int) -> np.ndarray:
    array = np.asarray(given)
    return np.broadcast_to(array, (tokens,)) if array.ndim == 0 else array
