"""Reading JSON that strangers wrote: bounded, strict, and every fault named in one sentence.

:func:`load_json_object` turns a file into plain values; :class:`Keys` reads typed values out of one object. Both raise
only :class:`~ropewalk.errors.InputError`.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .errors import InputError

MAX_BYTES = 4 << 20
"""The largest file that is read. Real configurations are below 0.1 MB."""

MAX_DIGITS = 40
"""Integers with more digits than this are refused, long before Python's own limit."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,63}")
"""What a name from a file (a model type, a variant) may look like: it ends up in file names and generated text."""


Choice = TypeVar("Choice", bound=str)


class _Refused:
    """Stands for a number that JSON or a double cannot hold: no reader takes it; a key that nobody reads may have it.

    Published configurations of state-space hybrids hold an Infinity that has nothing to do with positions.
    """

    def __init__(self, text: str) -> None:
        self.text = text


def show(value: object) -> str:
    """``value`` as a short piece of a sentence, safe whatever it holds."""
    if isinstance(value, _Refused):
        return value.text
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return "an integer that is far too large"
    return cut(ascii(value), 60)


def cut(text: str, most: int) -> str:
    """``text``, of at most ``most`` characters: three dots stand for the rest."""
    return text if len(text) <= most else text[: most - 3] + "..."


def show_path(path: object) -> str:
    """A path as a piece of a sentence: what cannot be printed is escaped, and the front of a very long one is cut."""
    text = "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(path)[-300:])
    return text if len(str(path)) <= 300 else "..." + text


def load_json_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file ``path``.

    Raises
    ------
    InputError
        If the file cannot be read, is not a regular file, is larger than :data:`MAX_BYTES`, is not UTF-8, is not
        JSON, nests too deeply, repeats a key, or is not an object. NaN, infinities and numbers beyond a double are
        refused by whoever reads the key that has them.
    """
    name = show_path(path)
    try:
        if not path.is_file():
            raise InputError(f"{name} is not a file" if path.exists() else f"there is no file {name}")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"{name} cannot be read: {reason}") from None
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES >> 20} MB, too large for a configuration")
    return parse_json_object(data, name)


def parse_json_object(data: bytes, name: str) -> dict[str, Any]:
    """The JSON object in ``data``; ``name`` says in errors where it came from. Raises as :func:`load_json_object`."""

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, value in pairs:
            if key in built:
                raise InputError(f"{name}: the key {show(key)} stands twice in one object")
            built[key] = value
        return built

    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=build,
            parse_constant=_Refused,
            parse_float=_parse_float,
            parse_int=_parse_int,
        )
    except InputError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError(f"{name} nests its values too deeply for a configuration") from None
    if not isinstance(value, dict):
        raise InputError(f"{name} must hold a JSON object, not {show(value)}")
    return value


def _parse_float(text: str) -> float | _Refused:
    value = float(text)
    return value if math.isfinite(value) else _Refused(f"{text[:20]} (beyond a double)")


def _parse_int(text: str) -> int | _Refused:
    return int(text) if len(text) <= MAX_DIGITS else _Refused(f"an integer of {len(text)} digits")


class Keys:
    """Typed look-ups in one JSON object. A key whose value is null counts as absent.

    Parameters
    ----------
    values
        The object.
    where
        What errors call it: the file, and the place in the file.
    prefix
        Put before the key in errors, for an object inside another.
    """

    def __init__(self, values: Mapping[str, Any], where: str, prefix: str = "") -> None:
        self.values = {key: value for key, value in values.items() if value is not None}
        self.where = where
        self.prefix = prefix
        self.read: set[str] = set()
        """The keys that were asked for."""

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def get(self, key: str) -> Any:
        """The value as it is, or None where it is absent."""
        self.read.add(key)
        return self.values.get(key)

    def name(self, key: str) -> str:
        """``key`` with the objects that it is in."""
        return show(self.prefix + key)[1:-1]

    def error(self, key: str, wanted: str) -> InputError:
        """The refusal of the value of ``key``; ``wanted`` completes "must be ..."."""
        if key not in self.values:
            return InputError(f"{self.where}: {self.name(key)} is missing; it must be {wanted}")
        return InputError(f"{self.where}: {self.name(key)} must be {wanted}, not {show(self.values[key])}")

    def refuse(self, sentence: str) -> InputError:
        """A refusal that is not about one value."""
        return InputError(f"{self.where}: {sentence}")

    def integer(self, key: str, low: int, high: int) -> int | None:
        """An integer from ``low`` to ``high``, or None where it is absent."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, f"an integer from {low} to {high}")
        return value

    def number(self, key: str, low: float, high: float) -> float | None:
        """A finite number from ``low`` to ``high``, or None where it is absent."""
        value = self.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise self.error(key, f"a number from {low:g} to {high:g}")
        return float(value)

    def flag(self, key: str) -> bool | None:
        """True or false, or None where it is absent."""
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, "true or false")
        return value

    def text(self, key: str) -> str | None:
        """A name (see :data:`NAME`), or None where it is absent."""
        value = self.get(key)
        if value is not None and (not isinstance(value, str) or not NAME.fullmatch(value)):
            raise self.error(key, "a name of at most 64 letters, digits and _ . -")
        return value

    def items(self, key: str, most: int) -> list[Any] | None:
        """A list of at most ``most`` values, or None where it is absent."""
        value = self.get(key)
        if value is not None and (not isinstance(value, list) or len(value) > most):
            raise self.error(key, f"a list of at most {most}")
        return value

    def object(self, key: str) -> "Keys | None":
        """The object under ``key``, or None where it is absent."""
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(key, "an object")
        return Keys(value, self.where, f"{self.prefix}{key}.")

    def required_integer(self, key: str, low: int, high: int) -> int:
        """As :meth:`integer`; absent is refused."""
        value = self.integer(key, low, high)
        if value is None:
            raise self.error(key, f"an integer from {low} to {high}")
        return value

    def required_number(self, key: str, low: float, high: float) -> float:
        """As :meth:`number`; absent is refused."""
        value = self.number(key, low, high)
        if value is None:
            raise self.error(key, f"a number from {low:g} to {high:g}")
        return value

    def required_text(self, key: str) -> str:
        """As :meth:`text`; absent is refused."""
        value = self.text(key)
        if value is None:
            raise self.error(key, "a name of at most 64 letters, digits and _ . -")
        return value

    def required_choice(self, key: str, choices: Sequence[Choice]) -> Choice:
        """The one of ``choices`` that stands there; absent is refused."""
        value = self.get(key)
        for choice in choices:
            if choice == value:
                return choice
        raise self.error(key, " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]])))

    def required_numbers(self, key: str, count: int, low: float, high: float) -> tuple[float, ...]:
        """A list of exactly ``count`` finite numbers from ``low`` to ``high``; absent is refused."""
        values = self.get(key)
        if not isinstance(values, list) or len(values) != count:
            raise self.error(key, f"a list of {count} numbers")
        for index, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
                raise InputError(
                    f"{self.where}: {self.name(key)}[{index}] must be a number from {low:g} to {high:g}, "
                    f"not {show(value)}"
                )
        return tuple(float(value) for value in values)


def known_object(values: object, where: str, what: str, known: frozenset[str]) -> Keys:
    """The keys of an object that has none but the ``known`` ones; ``what`` names it in errors."""
    if not isinstance(values, Mapping):
        raise InputError(f"{where}: the {what} geometry must be an object, not {show(values)}")
    for key in values:
        if key not in known:
            raise InputError(f"{where}: {show(key)} is not a key of the {what} geometry")
    return Keys(values, where)
