"""Designs and streams that the sinusoidal adder's tests and trials share."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.gateware.sinusoidal.registers import UNIT
from ropewalk.geometry.sinusoidal import Layout, SinusoidalGeometry, paper_frequencies, timescale_frequencies
from ropewalk.tables.sinusoidal_words import slot_load_words
from ropewalk_sim import registers
from ropewalk_sim.registers import SCANNING, Access
from ropewalk_sim.units.rows import RowInput, descriptors_of, whole_tokens

FORMS: dict[str, tuple[Layout, Callable[[int], tuple[float, ...]]]] = {
    "paper": ("interleaved", paper_frequencies),
    "marian": ("half", paper_frequencies),
    "tensor2tensor": ("half", timescale_frequencies),
}
"""Layout and frequencies of the published forms; fairseq's are tensor2tensor's, with other rows."""


def design_of(form: str, dimension: int, *, max_position: int = 1 << 20, **options: Any) -> SinusoidalDesign:
    """A design of a published form; ``row_offset``, ``zero_row`` and ``mask`` go into its geometry."""
    layout, frequencies = FORMS[form]
    own = {name: options.pop(name) for name in ("row_offset", "zero_row", "mask") if name in options}
    geometry = SinusoidalGeometry(
        model_type=form,
        dimension=dimension,
        layout=layout,
        max_position=max_position,
        inverse_frequency=frequencies(dimension),
        **own,
    )
    return SinusoidalDesign(geometry=geometry, **options)


def mixed_tokens(design: SinusoidalDesign, tokens: int, seed: int) -> RowInput:
    """Tokens at all kinds of positions, elements of the full range: borders, errors and flags are among them."""
    rng = np.random.default_rng(seed)
    limit = design.limit
    edges = np.array([0, 1, limit - 1, limit, limit + 1, (1 << 24) - 1, 1 << 24, (1 << 32) - 1])
    kind = rng.random(tokens)
    position = np.where(kind < 0.25, rng.choice(edges, tokens), rng.integers(0, limit, tokens))
    flags = np.where(kind > 0.9, rng.integers(0, 4, tokens), 0)
    slot = np.where((kind > 0.3) & (kind < 0.35), rng.integers(1, 256, tokens), 0)
    descriptors = descriptors_of(position, slot=slot, flags=flags, tag=np.arange(tokens) & 0xFF)
    low, high = design.data.minimum, design.data.maximum
    x = rng.integers(low, high, (tokens, design.dimension), endpoint=True)
    return whole_tokens(design, descriptors, x)


def faulty(stream: RowInput, design: SinusoidalDesign, seed: int, *, sendable: bool = False) -> RowInput:
    """``stream`` with packets that do not fit: cut short, run on, with beats of another tag, without bytes they need.

    ``sendable``: only what cocotbext-axi's source can send, whose packets end with TLAST and have gaps nowhere.
    """
    rng = np.random.default_rng(seed)
    beats = design.beats_per_token
    rows: list[tuple[int, int, bool, bool]] = []  # beat of the stream, tag, last, all kept that should be
    for token in range(stream.tokens):
        own = [
            (token * beats + place, int(stream.tid[token * beats]), place == beats - 1, True) for place in range(beats)
        ]
        kind = rng.integers(0, 8)
        if kind == 0 and beats > 1:  # too short
            own = own[: rng.integers(1, beats)]
            own[-1] = (*own[-1][:2], True, own[-1][3])
        elif kind == 1:  # too long
            number, tag, _, kept = own[-1]
            own[-1] = (number, tag, False, kept)
            more = int(rng.integers(1, 4))
            own += [(number, int(rng.integers(0, 256)), extra == more - 1, True) for extra in range(more)]
        elif kind == 2:  # a stranger's packet before it
            own.insert(0, (own[0][0], own[0][1] ^ 0x55, True, True))
        elif kind == 3 and not sendable:  # a stranger's beat inside
            own.insert(int(rng.integers(0, len(own))), (own[0][0], own[0][1] ^ 0xAA, False, True))
        elif kind == 4 and design.has_keep and (beats == 1 or not sendable):
            place = int(rng.integers(0, len(own)))
            own[place] = (*own[place][:3], False)
        rows += own
    number = np.array([row[0] for row in rows])
    keep = stream.keep[number].copy()
    for place, row in enumerate(rows):
        if not row[3]:
            keep[place, 1:] = False
        if sendable and not row[2]:
            keep[place] = True
    return RowInput(
        descriptors=stream.descriptors,
        data=stream.data[number],
        tid=np.array([row[1] for row in rows], np.uint8),
        last=np.array([row[2] for row in rows]),
        keep=keep,
    )


write = partial(registers.write, unit=UNIT)
read = partial(registers.read, unit=UNIT)
load_words = partial(registers.load_words, 0, unit=UNIT)
read_counters = partial(registers.read_counters, unit=UNIT)


def scanned(*, start: int = 0) -> Access:
    """Wait until the CRC is known."""
    return registers.wait("load_state", SCANNING, 0, start=start, unit=UNIT)


def load_design(design: SinusoidalDesign, *, start: int = 0) -> tuple[Access, ...]:
    """Load what the slot of another design holds."""
    return load_words(slot_load_words(design), start=start)
