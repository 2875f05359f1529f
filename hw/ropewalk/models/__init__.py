"""Reading a model's configuration into a geometry: :func:`read_model`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar, get_args

from ..errors import InputError
from ..geometry import Geometry
from ..geometry.rotary import MAX_POSITIONS
from ..geometry.shape import PAIRINGS
from ..strict_json import show
from .huggingface import geometry_from_config
from .other_schemes import other_scheme
from .scaling import Follow
from .source import gguf_source, preset_names, read_source

__all__ = ["preset_names", "read_model"]

Choice = TypeVar("Choice", bound=str)

FOLLOWS: tuple[Follow, ...] = get_args(Follow)


def read_model(
    model: str,
    *,
    sequence_length: int | None = None,
    pairing: str | None = None,
    follow: str = "hf",
    notes: Callable[[str], None] | None = None,
    ignored: Callable[[str], None] | None = None,
) -> Geometry:
    """The geometry of ``model``.

    Parameters
    ----------
    model
        A preset's name (:func:`preset_names`), the path of a Hugging Face ``config.json``, of a GGUF file, or of a
        folder with one of them.
    sequence_length
        The length at which dynamic NTK scaling is frozen, and by which one of longrope's lists is in force.
    pairing
        ``half`` or ``interleaved``, in and out, instead of the model's own.
    follow
        Whose reading of doubtful keys is followed: ``hf``, ``llama.cpp`` or ``vllm``.
    notes
        Takes each sentence that the user should see. They stand in the result's ``notes`` too.
    ignored
        Takes the name of each key of the configuration that was not looked at.

    Raises
    ------
    InputError
        If there is no such model, it cannot be read, it is not a rotary model that this version imports, or anything
        in it that could change the geometry is wrong, missing or not understood.
    """
    chosen_pairing = None if pairing is None else _choice("pairing", pairing, PAIRINGS)
    chosen_follow = _choice("follow", follow, FOLLOWS)
    if sequence_length is not None and (
        isinstance(sequence_length, bool)
        or not isinstance(sequence_length, int)
        or not 1 <= sequence_length <= MAX_POSITIONS
    ):
        raise InputError(f"the sequence length must be an integer from 1 to 2**40, not {show(sequence_length)}")
    said: list[str] = []
    file = gguf_source(model)
    if file is not None:
        # here, because this package takes as long to import as all of the other readers
        from .gguf import geometry_from_gguf

        found = geometry_from_gguf(
            file,
            sequence_length=sequence_length,
            pairing=chosen_pairing,
            follow=chosen_follow,
            note=said.append,
            ignored=ignored or _forget,
        )
        return _with_notes(found, said, notes)
    config, where = read_source(model)
    geometry: Geometry | None = other_scheme(config, where, said.append, ignored)
    if geometry is None:
        geometry = geometry_from_config(
            config,
            where,
            sequence_length=sequence_length,
            pairing=chosen_pairing,
            follow=chosen_follow,
            note=said.append,
            ignored=ignored or _forget,
        )
    elif sequence_length is not None or pairing is not None:
        said.append("the sequence length and the pairing change nothing: this model is not a rotary one")
    return _with_notes(geometry, said, notes)


def _with_notes(geometry: Geometry, said: list[str], notes: Callable[[str], None] | None) -> Geometry:
    """``geometry`` with each sentence once, after saying them."""
    said = list(dict.fromkeys(said))
    for sentence in said:
        if notes is not None:
            notes(sentence)
    return replace(geometry, notes=tuple(said))


def _choice(what: str, value: str, choices: Sequence[Choice]) -> Choice:
    """The one of ``choices`` that ``value`` is."""
    for choice in choices:
        if choice == value:
            return choice
    raise InputError(f"{what} must be {', '.join(choices[:-1])} or {choices[-1]}, not {show(value)}")


def _forget(_: str) -> None:
    """Takes a key's name that nobody asked for."""
