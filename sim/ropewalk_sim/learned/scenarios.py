"""Random streams for a learned-table adder: every kind of position, flag and framing fault, from a seed."""

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.gateware.units.layouts import MASKED, PASS
from ropewalk_sim.units.rows import RowInput, descriptors_of, whole_tokens

WELL, SHORT, LONG, FOREIGN, KEEP = range(5)
"""What is done to a token's packet: nothing; ended early; too long; another's packet before it; another TKEEP."""


def random_descriptors(design: LearnedDesign, tokens: int, random: np.random.Generator) -> np.ndarray:
    """Descriptors of which most have a row, some are masked or pass, and some lie past the table by all distances.

    The last row and those just past it come first, so that a short stream has them.
    """
    geometry = design.geometry
    position = random.integers(0, max(1, geometry.max_position), tokens)
    odd = random.random(tokens) < 0.15
    edges = np.array(
        [geometry.max_position - 1, geometry.max_position, geometry.rows, geometry.rows + 1, 1 << 24, (1 << 24) - 1,
         1 << 25, (1 << 25) + 3, 1 << 31, (1 << 32) - 1, (1 << 32) - geometry.row_offset - 1]
    ) % (1 << 32)  # fmt: skip
    position[odd] = random.choice(edges, int(odd.sum()))
    flags = random.choice([0, MASKED, PASS, MASKED | PASS, 0xF8], tokens, p=[0.8, 0.06, 0.06, 0.04, 0.04])
    first = min(len(edges), tokens // 4)
    position[:first], flags[:first] = edges[:first], 0
    return descriptors_of(position, flags=flags, tag=np.arange(tokens) & 0xFF)


def random_elements(design: LearnedDesign, tokens: int, random: np.random.Generator) -> np.ndarray:
    """Elements ``[tokens, dimension]`` of all sizes, the ends of the range among them."""
    low, high = design.data.minimum, design.data.maximum
    x = random.integers(low, high, (tokens, design.geometry.dimension), endpoint=True)
    x[random.random(x.shape) < 0.1] = high
    x[random.random(x.shape) < 0.1] = low
    return x


def random_stream(design: LearnedDesign, tokens: int, seed: int, *, faults: float = 0.0) -> RowInput:
    """``tokens`` tokens; of their packets the share ``faults`` does not fit, in one of the four ways."""
    random = np.random.default_rng(seed)
    whole = whole_tokens(design, random_descriptors(design, tokens, random), random_elements(design, tokens, random))
    if not faults:
        return whole
    per, lanes = design.beats_per_token, design.lanes
    kinds = [SHORT] * (per > 1) + [LONG, FOREIGN] + [KEEP] * (design.has_keep and lanes > 1)
    pieces: list[RowInput] = []
    for token in range(tokens):
        part = slice(token * per, (token + 1) * per)
        data, keep, tag = whole.data[part], whole.keep[part].copy(), whole.tid[part][0]
        kind = random.choice(kinds) if random.random() < faults else WELL
        last = whole.last[part].copy()
        if kind == SHORT:
            count = int(random.integers(1, per))
            data, keep, last = data[:count], keep[:count], last[:count].copy()
            last[-1] = True
        elif kind == LONG:
            extra = int(random.integers(1, per + 2))
            keep[-1] = True
            data = np.concatenate([data, random.integers(-1000, 1000, (extra, lanes))])
            keep, last = np.pad(keep, ((0, extra), (0, 0)), constant_values=True), np.pad(last, (0, extra))
            last[per - 1], last[-1] = False, True
        elif kind == KEEP:
            keep[-1] = np.arange(lanes) < random.choice([n for n in range(1, lanes + 1) if n != design.last_lanes])
        elif kind == FOREIGN:
            count = int(random.integers(1, per + 2))
            pieces.append(_piece(whole, random.integers(-9, 9, (count, lanes)), tag ^ 0x80))
        pieces.append(_piece(whole, data, tag, keep, last))
    names = ("data", "tid", "last", "keep")
    joined = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in names}
    return RowInput(descriptors=whole.descriptors, **joined)


def _piece(
    whole: RowInput, data: np.ndarray, tag: int, keep: np.ndarray | None = None, last: np.ndarray | None = None
) -> RowInput:
    beats = len(data)
    return RowInput(
        descriptors=whole.descriptors,
        data=data.astype(np.int64),
        tid=np.full(beats, tag, np.uint8),
        last=np.arange(beats) == beats - 1 if last is None else last,
        keep=np.ones(data.shape, bool) if keep is None else keep,
    )
