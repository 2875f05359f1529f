"""The fixed-point model of the sinusoidal adder: in every bit what the hardware gives (``docs/sinusoidal.md``)."""

import numpy as np
from numpy.typing import ArrayLike
from ropewalk.design import AMPLITUDE
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.gateware.units.layouts import MASKED, PASS
from ropewalk.tables.sinusoidal_words import slot_steps
from ropewalk.tables.steps import amplitude_word
from ropewalk_sim.model import CHUNK_PAIRS, Words, convert, magnitude_format, magnitudes
from ropewalk_sim.units.row_model import frame_rows, output_of
from ropewalk_sim.units.rows import RowInput, RowOutput


def encodings(design: SinusoidalDesign, rows: ArrayLike) -> Words:
    """What is added to the elements of the tokens that read ``rows``, in LSBs: ``int64 [n, dimension]``.

    ``rows`` are numbers of rows, not positions: 25 bits. The row of zeros is not looked at.
    """
    numbers = np.asarray(rows, np.uint64)
    made = np.zeros((len(numbers), design.dimension), np.int64)
    steps = np.array(slot_steps(design), np.uint64)
    size = max(1, CHUNK_PAIRS // design.pairs)
    mask = np.uint64((1 << design.phase_bits) - 1)
    for first in range(0, len(numbers), size):
        part = slice(first, first + size)
        sine, cosine = _sine_cosine(design, numbers[part, None] * steps & mask)
        lay_out(design, sine, cosine, made[part])
    return made


def lay_out(design: SinusoidalDesign, sine: Words, cosine: Words, out: Words) -> None:
    """Sines and cosines ``[n, pairs]`` into rows ``[n, dimension]`` of zeros, in the design's layout."""
    cosine = cosine[:, : design.cosines]
    if design.half:
        out[:, : design.pairs] = sine
        out[:, design.pairs : design.pairs + design.cosines] = cosine
    else:
        out[:, 0 : 2 * design.pairs : 2] = sine
        out[:, 1 : 2 * design.cosines : 2] = cosine


def _sine_cosine(design: SinusoidalDesign, phase: np.ndarray) -> tuple[Words, Words]:
    """Sine and cosine of P-bit phases, with their signs, as words of ``design.encoding``."""
    quadrant, first, second = magnitudes(design.sine, phase)  # cosine and sine of the first quadrant
    odd = (quadrant & 1).astype(bool)
    sine, cosine = np.where(odd, first, second), np.where(odd, second, first)
    np.negative(sine, out=sine, where=quadrant >= 2)
    np.negative(cosine, out=cosine, where=(quadrant == 1) | (quadrant == 2))
    fraction_bits = magnitude_format(design.sine).fraction_bits
    if design.scaled:
        amplitude = amplitude_word(design.amplitude)
        sine, cosine = sine * amplitude, cosine * amplitude
        fraction_bits += AMPLITUDE.fraction_bits
    return convert(sine, fraction_bits, design.encoding), convert(cosine, fraction_bits, design.encoding)


def token_rows(
    design: SinusoidalDesign, descriptors: np.ndarray, offset: int = 0
) -> tuple[Words, np.ndarray, np.ndarray]:
    """Of descriptors ``uint32 [tokens, 2]``: the row, whether it is added, and whether the token is in error.

    ``offset`` is the register of that name.
    """
    word, position = descriptors[:, 0], descriptors[:, 1].astype(np.int64) + offset
    missing = word & 0xFF != 0
    passed = word >> 8 & (MASKED | PASS) != 0
    outside = (position < 0) | (position >= design.limit)
    row = np.where(outside, 0, position + design.geometry.row_offset)
    zero = np.zeros(len(row), bool) if design.geometry.zero_row is None else row == design.geometry.zero_row
    error = missing | (outside & ~passed)
    return row, ~(error | passed | zero), error


def run_model(design: SinusoidalDesign, stream: RowInput, *, offset: int = 0) -> RowOutput:
    """What the unit of ``design`` gives for ``stream``; ``offset`` is the register.

    Raises
    ------
    EngineError
        If the stream goes on after its last token.
    """
    framed = frame_rows(design, stream)
    token, beat, elements = framed.framing.token, framed.framing.beat, framed.elements
    row, added, failed = token_rows(design, stream.descriptors, offset)
    gap = design.beats_per_token * design.lanes - design.dimension
    data = elements.copy()
    # Token by token in stretches, which bounds the memory of the rows.
    for first in range(0, stream.tokens, 256):
        chosen = np.flatnonzero(added[first : first + 256]) + first
        made = np.pad(encodings(design, row[chosen]), ((0, 0), (0, gap)))
        made = made.reshape(len(chosen), design.beats_per_token, design.lanes)
        place = np.full(stream.tokens, -1)
        place[chosen] = np.arange(len(chosen))
        beats = slice(*np.searchsorted(token, (first, min(first + 256, stream.tokens))))
        some = np.flatnonzero(place[token[beats]] >= 0) + beats.start
        sums = elements[some] + made[place[token[some]], beat[some]]
        data[some] = np.clip(sums, design.data.minimum, design.data.maximum)
    return output_of(stream, framed, data, failed[token])
