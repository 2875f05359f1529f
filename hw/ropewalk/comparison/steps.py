"""Two lists of steps: which pairs turn differently, and how far apart their angles come."""

from collections.abc import Sequence

from ..geometry.precise import precise
from .difference import Difference
from .farthest import Farthest, apart, farthest, radians, reached

VISIBLE = 0.1
"""Radians from which on a difference of angles is worth a position of its own in a report."""


def compare_steps(
    a: Sequence[int],
    b: Sequence[int],
    bits: tuple[int, int],
    positions: int,
    frequencies: tuple[Sequence[float], Sequence[float]],
    variant: str | None = None,
) -> list[Difference]:
    """The difference of the angles that the steps ``a`` and ``b`` make at positions 0 to ``positions - 1``, if any.

    Parameters
    ----------
    a, b
        Integers, a step per pair. Pairs that only one side has are not compared.
    bits
        The fraction bits of each side's steps.
    frequencies
        The inverse frequencies that the steps were made of, in radians per position.
    """
    most = max(bits)
    modulus = 1 << most
    differences = {
        pair: ((one << (most - bits[0])) - (other << (most - bits[1]))) % modulus
        for pair, (one, other) in enumerate(zip(a, b, strict=False))
    }
    differing = [pair for pair, difference in differences.items() if difference]
    if not differing:
        return []
    worst, found = _worst({pair: differences[pair] for pair in differing}, modulus, positions)
    at_one = max(apart(differences[pair], modulus, 1) for pair in differing)
    visible = _first_visible([differences[pair] for pair in differing], modulus, positions)
    begin = f"variant {variant}: " if variant is not None else ""
    pairs = min(len(a), len(b))
    sentence = (
        f"{begin}{len(differing)} of {pairs} pairs turn differently, the first is pair {differing[0]}; pair {worst} is "
        f"the farthest off, by {found.radians:.6g} rad at position {found.position:,} "
        f"(it turns by {frequencies[0][worst]:.6g} rad per position in A, by {frequencies[1][worst]:.6g} in B)"
    )
    if visible is not None:
        sentence += f"; from position {visible:,} on some pair is off by more than {VISIBLE} rad"
    more = {
        "pairs": pairs,
        "differing_pairs": len(differing),
        "first_pair": differing[0],
        "worst_pair": worst,
        "radians": found.radians,
        "position": found.position,
        "radians_at_1": radians(at_one, modulus),
        "visible_from": visible,
    }
    return [Difference("angles", frequencies[0][worst], frequencies[1][worst], sentence, variant, more)]


def _worst(differences: dict[int, int], modulus: int, positions: int) -> tuple[int, Farthest]:
    """The first pair whose angles come farthest apart, and how far."""
    pairs = iter(differences.items())
    worst, difference = next(pairs)
    found = farthest(difference, modulus, positions)
    for pair, difference in pairs:
        # one question instead of a search: there may be many thousand pairs
        if reached(difference, modulus, positions, found.difference + 1) is not None:
            worst, found = pair, farthest(difference, modulus, positions)
    return worst, found


def _first_visible(differences: list[int], modulus: int, positions: int) -> int | None:
    """The first position at which any pair is off by more than :data:`VISIBLE`, or None."""
    least = _turns(modulus)
    found = [reached(difference, modulus, positions, least) for difference in differences]
    return min((position for position in found if position is not None), default=None)


def _turns(modulus: int) -> int:
    """The least number of ``1 / modulus`` turns that is more than :data:`VISIBLE`."""
    return int(precise.floor(precise.mpf(VISIBLE) / (2 * precise.pi) * modulus)) + 1
