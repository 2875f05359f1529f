"""Which input beat becomes which output beat: the framing rules of PORTS.md, worked out for a whole stream.

Per token with tag T and n beats, over the beats that follow the token before:

- a beat whose TID is not T is discarded, and the error stands on every later output beat of the token;
- a beat with TLAST before the n-th ends the token: it goes out with TLAST and the error;
- the n-th beat goes out with TLAST; if it came without, it carries the error, and the beats after it are dropped up
  to and including the next one with TLAST, whatever their TID.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .errors import EngineError
from .in_out import Input


class Tokens(Protocol):
    """A design whose tokens all have so many beats."""

    @property
    def beats_per_token(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True, eq=False)
class Framing:
    """One entry per output beat.

    ``source`` is the number of the input beat, ``token`` that of the token, ``beat`` the place in the token, all
    ``int64``; ``last`` is TLAST and ``error`` the framing error, both ``bool``.
    """

    source: np.ndarray
    token: np.ndarray
    beat: np.ndarray
    last: np.ndarray
    error: np.ndarray


def frame(design: Tokens, stream: Input) -> Framing:
    """The framing of ``stream``.

    A stream may end inside its last tokens; what is there comes out.

    Raises
    ------
    EngineError
        If beats are left when every token has had its own: no engine would ever take them.
    """
    regular = _frame_regular(design, stream)
    return regular if regular is not None else _frame_token_by_token(design, stream)


def _frame_regular(design: Tokens, stream: Input) -> Framing | None:
    """The framing of a stream without a fault, or ``None`` if it has one."""
    per_token = design.beats_per_token
    if stream.beats != stream.tokens * per_token:
        return None
    beat = np.tile(np.arange(per_token), stream.tokens)
    token = np.repeat(np.arange(stream.tokens), per_token)
    tag = (stream.descriptors[:, 0] >> 16).astype(np.uint8)
    last = beat == per_token - 1
    if not (np.array_equal(stream.last, last) and np.array_equal(stream.tid, tag[token])):
        return None
    error = np.zeros(stream.beats, bool)
    return Framing(source=np.arange(stream.beats), token=token, beat=beat, last=last, error=error)


def _frame_token_by_token(design: Tokens, stream: Input) -> Framing:
    """The framing of any stream, with a Python loop over its tokens."""
    per_token = design.beats_per_token
    lasts = np.flatnonzero(stream.last)
    sources, counts, errors, ends = [], [], [], []
    position = 0
    for word in stream.descriptors[:, 0]:
        # The token's beats are sought in a window that grows only as far as discarded beats make it.
        tag, size = word >> 16 & 0xFF, per_token
        while True:
            window = slice(position, position + size)
            mine = np.flatnonzero(stream.tid[window] == tag)[:per_token] + position
            ending = np.flatnonzero(stream.last[mine])
            if len(mine) == per_token or len(ending) or window.stop >= stream.beats:
                break
            size *= 2
        count = int(ending[0]) + 1 if len(ending) else len(mine)
        mine = mine[:count]
        # Every beat before a kept one that is not kept itself was discarded.
        error = mine - position > np.arange(count)
        complete = count == per_token or len(ending) > 0
        if complete:
            position = int(mine[-1]) + 1
            if not len(ending):
                error[-1] = True
                following = np.searchsorted(lasts, position)
                position = int(lasts[following]) + 1 if following < len(lasts) else stream.beats
            elif count < per_token:
                error[-1] = True
        else:
            position = stream.beats
        sources.append(mine)
        counts.append(count)
        errors.append(error)
        ends.append(complete)
    if position < stream.beats:
        raise EngineError(f"{stream.beats - position} beats follow the last token: no descriptor is there for them")
    count_array = np.array(counts, np.int64)
    token = np.repeat(np.arange(len(counts)), count_array)
    beat = np.arange(len(token)) - np.repeat(np.cumsum(count_array) - count_array, count_array)
    last = np.zeros(len(token), bool)
    final = np.cumsum(count_array) - 1
    last[final[np.array(ends, bool)]] = True
    return Framing(
        source=np.concatenate([*sources, np.zeros(0, np.int64)]).astype(np.int64),
        token=token,
        beat=beat,
        last=last,
        error=np.concatenate([*errors, np.zeros(0, bool)]),
    )
