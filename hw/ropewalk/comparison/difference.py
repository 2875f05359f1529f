"""One difference of two geometries: for a program by its fields, for a person as a sentence."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Difference:
    """Something that is not the same in A and B.

    Parameters
    ----------
    what
        The name of what differs: a key of ``ropewalk geometry --json``, or one of those that ``docs/cli.md`` adds.
    a, b
        Its plain values.
    sentence
        The difference in a person's words.
    variant
        The variant's name (A's where the names differ), or None where it is not a variant's.
    more
        Further values by name.
    """

    what: str
    a: Any
    b: Any
    sentence: str
    variant: str | None = None
    more: dict[str, Any] = field(default_factory=dict)


def plain(what: str, a: Any, b: Any, text: str | None = None, variant: str | None = None) -> list[Difference]:
    """The difference ``text: a in A, b in B``, or none where the values are equal."""
    if a == b:
        return []
    begin = f"variant {variant}: " if variant is not None else ""
    sentence = f"{begin}{text or what} is {say(a)} in A, {say(b)} in B"
    return [Difference(what, a, b, sentence, variant)]


def say(value: Any) -> str:
    """A value in a sentence: numbers with separators, None as none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
