"""What came out against the exact rotation and against the software, each within its bound."""

from dataclasses import dataclass

import numpy as np
from ropewalk_sim.exact import exact_rotation, exact_turns

from .cases import Case, Load
from .engine import FULL_SCALE, Found, pair_places
from .vectors import META, arrays, known_of, result_of

ULP = 2.0**-23
"""Of a float32 of 1."""

BF16 = 2.0**-8
"""Half an ulp of a bfloat16, relative."""


STILL = 61, 62
"""Pairs of Qwen3-VL that llama.cpp does not turn."""


def allowed_lsb(amplitude: float) -> float:
    """Of an element of the output, from the exact rotation of the quantised input."""
    if amplitude > 1.5:
        raise ValueError(f"no bound is stated for the amplitude {amplitude}")
    return 0.75 if amplitude <= 1 else 0.90


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A line of the table.

    ``worst_lsb`` is the largest distance of an element from the exact rotation of the quantised input. ``share`` is
    the largest share that the difference from the software's result has of the allowed one; ``difference`` and
    ``difference_allowed`` are those of that element, in the unit of the vectors. ``saturated`` elements are compared
    with the end of the range.
    """

    head_dim: int
    configuration: str
    software: str
    order: str
    amplitude: float
    tokens: int
    slots: int
    worst_lsb: float
    allowed_lsb: float
    difference: float
    difference_allowed: float
    share: float
    saturated: int
    differing_bits: int
    wrong_crcs: int

    @property
    def good(self) -> bool:
        """Whether everything is as it must be."""
        right = not self.differing_bits and not self.wrong_crcs
        return right and self.worst_lsb <= self.allowed_lsb and self.share <= 1


def judge(found: Found) -> list[Verdict]:
    """A line for each number format that the case's software was run in."""
    case, shape = found.case, found.case.design.geometry
    limits = -FULL_SCALE - 1, FULL_SCALE
    exact = exact_words(found)
    error = found.data - np.clip(exact, *limits)
    amplitude = max(load.amplitude for load in case.loads)
    lines = []
    for software, suffix in _formats(case):
        wanted = result_of(case.name, case.stack, suffix)
        heads = wanted.shape[1]
        scale = found.scale[:heads]
        difference = np.abs(found.data[:, :heads] * scale - np.clip(wanted, *(limit * scale for limit in limits)))
        bound = (engine_error(found) + software_error(found, suffix))[:, :heads]
        share = np.where(compared(case), difference / bound, 0)
        place = np.unravel_index(np.argmax(share), share.shape)
        lines.append(
            Verdict(
                head_dim=shape.head_dim,
                configuration=case.name,
                software=software,
                order=" to ".join(dict.fromkeys((shape.pairing, shape.output_pairing))),
                amplitude=amplitude,
                tokens=len(case.position),
                slots=len(case.loads),
                worst_lsb=float(np.abs(error).max()),
                allowed_lsb=allowed_lsb(amplitude),
                difference=float(difference[place]),
                difference_allowed=float(bound[place]),
                share=float(share[place]),
                saturated=int(np.count_nonzero(np.abs(exact) > FULL_SCALE + 0.5)),
                differing_bits=found.differing_bits,
                wrong_crcs=found.wrong_crcs,
            )
        )
    return lines


def exact_words(found: Found) -> np.ndarray:
    """The quantised vectors rotated exactly, ``[tokens, 3, head_dim]`` in LSB; the rest of a head as it came."""
    case = found.case
    coming, going = np.stack(pair_places(case.design, coming=True)), np.stack(pair_places(case.design, coming=False))
    out = np.tile(found.words.astype(float), (len(case.position), 1, 1))
    pairs = found.words[:, coming].swapaxes(1, 2)  # [heads, pairs, 2]
    for load in case.loads:
        turns = exact_turns(load.frequencies, case.position[load.tokens], load.axis)
        turned = exact_rotation(pairs, turns[:, None], load.amplitude)  # [tokens, heads, pairs, 2]
        out[load.tokens[:, None, None, None], np.arange(len(pairs))[:, None, None], going.T] = turned
    return out


def engine_error(found: Found) -> np.ndarray:
    """What may lie between our output and the exact rotation of the vectors as they were, ``[tokens, 3, head_dim]``.

    That is the bound in LSB, and half an LSB for the rounding of each element of a pair on the way in.
    """
    case = found.case
    lsb = np.full((len(case.position), case.vectors.shape[1]), 0.5)
    for load in case.loads:
        for places in pair_places(case.design, coming=False):
            lsb[load.tokens[:, None], places] = allowed_lsb(load.amplitude) + load.amplitude * np.sqrt(0.5)
    return lsb[:, None] * found.scale


def software_error(found: Found, suffix: str) -> np.ndarray:
    """The error that the software is documented to have (docs/software.md), ``[tokens, 3, head_dim]``.

    float32: the rounding of its frequencies and of the angle, three ulps more for cos, sin, products and sum. bfloat16:
    also the input, cos and sin, products and sum rounded to it.
    """
    case, short = found.case, suffix == "bf16"
    coming, going = pair_places(case.design, coming=True), pair_places(case.design, coming=False)
    error = np.tile(BF16 * short * np.abs(case.vectors), (len(case.position), 1, 1))
    both = np.abs(case.vectors[:, coming]).swapaxes(0, 1)  # [2, heads, pairs]
    length = np.hypot(*both)
    for load in case.loads:
        size = length * (angle_error(case, load)[:, None] + 3 * ULP) + 4.1 * BF16 * short * both.sum(axis=0)
        for places in going:
            error[load.tokens[:, None, None], np.arange(len(length))[:, None], places] = load.amplitude * size
    return error


def angle_error(case: Case, load: Load) -> np.ndarray:
    """Radians by which the software's float32 angle may be off, ``[tokens, pairs]``."""
    ours = np.array([float(frequency) for frequency in load.frequencies])
    position = case.position[load.tokens]
    angle = (position[:, None] if load.axis is None else position[:, load.axis]) * ours
    pair = np.arange(len(ours))
    if case.stack == "llama.cpp":
        # From pair to pair it multiplies with a rounded factor and rounds; a scaling adds four roundings, half ulps.
        return angle * np.minimum(pair / 2 + 4, pair + 2 * _scaled(case)) * ULP
    # Where the frequencies were not recorded they are taken to be an ulp off, but for the first, which is 1.
    theirs = ours * (1 + ULP * (pair > 0)) if load.software is None else load.software
    relative = np.abs(theirs - ours) / np.where(ours == 0, 1, ours) + ULP / 2
    return angle * relative


def _scaled(case: Case) -> bool:
    given = META["llama_cpp_raw"].get(case.name) or known_of(case.name)["llama_cpp"]
    return bool(given.get("fs", 1.0) != 1.0 or given.get("freq_factors"))


def _formats(case: Case) -> list[tuple[str, str]]:
    names = {"hf": "Hugging Face", "vllm": "vLLM", "llama.cpp": "llama.cpp"}
    formats = [(names[case.stack], "f32")]
    if f"{case.stack}/{case.name}/q_rot_bf16" in arrays():
        formats.append((f"{names[case.stack]}, bfloat16", "bf16"))
    return formats


def compared(case: Case) -> np.ndarray:
    """``bool [head_dim]``: the rotated elements but for those in which the software is known to do something else.

    Elements outside the slice are held to the input, bit for bit, by the comparison with the exact rotation.
    Past the sections of Qwen3-VL's height and width llama.cpp takes a fourth position, which is 0, where the others
    take time: it leaves the pairs :data:`STILL` as they are.
    """
    compared = np.zeros(case.vectors.shape[1], bool)
    for places in pair_places(case.design, coming=False):
        compared[places] = True
        if case.stack == "llama.cpp" and case.name == "qwen3_vl_8b_imrope":
            compared[places[list(STILL)]] = False
    return compared
