"""Whether two models or engines have the same geometry, and what differs: :func:`compare`.

What is compared are the integers of the geometry digest (``docs/number-contract.md``): there is no difference if and
only if the digests are equal. Angles are compared exactly, in turns.
"""

from typing import TypeAlias

from ..design import Design
from ..geometry import AlibiGeometry, LearnedGeometry, SinusoidalGeometry, scheme_of
from ..tables.digest import digest_bytes
from ..tables.other_digests import other_digest_bytes
from .difference import Difference, plain
from .others import compare_alibi, compare_learned, compare_sinusoidal
from .rotary import compare_rotary, remarks_rotary

__all__ = ["Difference", "Subject", "compare", "covered_bytes", "remarks", "subject_scheme"]

Subject: TypeAlias = Design | AlibiGeometry | LearnedGeometry | SinusoidalGeometry
"""What can be compared: a rotary model as a design (its default one, or that of a folder), others as they are."""


def compare(a: Subject, b: Subject) -> list[Difference]:
    """What differs between the geometries of ``a`` and ``b``; none if and only if their digests are equal.

    Raises
    ------
    InputError
        If an amplitude or a frequency does not fit its word.
    """
    if covered_bytes(a) == covered_bytes(b):
        return []
    match a, b:
        case Design(), Design():
            return compare_rotary(a, b)
        case AlibiGeometry(), AlibiGeometry():
            return compare_alibi(a, b)
        case LearnedGeometry(), LearnedGeometry():
            return compare_learned(a, b)
        case SinusoidalGeometry(), SinusoidalGeometry():
            return compare_sinusoidal(a, b)
    return plain("scheme", subject_scheme(a), subject_scheme(b), "the scheme")


def remarks(a: Subject, b: Subject) -> list[str]:
    """What else differs, in sentences: it is no part of the geometry."""
    if isinstance(a, Design) and isinstance(b, Design):
        return remarks_rotary(a, b)
    one, other = ((each.geometry if isinstance(each, Design) else each).model_type for each in (a, b))
    return [difference.sentence for difference in plain("model_type", one, other, "the model type")]


def subject_scheme(subject: Subject) -> str:
    """The scheme of ``subject``."""
    return "rope" if isinstance(subject, Design) else scheme_of(subject)


def covered_bytes(subject: Subject) -> bytes:
    """The bytes that the digest of ``subject`` is made over."""
    return digest_bytes(subject) if isinstance(subject, Design) else other_digest_bytes(subject)
