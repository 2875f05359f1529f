"""A GGUF file while it is read: what every scheme's reader is given."""

from collections.abc import Callable
from dataclasses import dataclass

from ..strict_json import Keys
from .gguf_architectures import Architecture
from .gguf_values import Header
from .scaling import Follow


@dataclass(frozen=True, kw_only=True)
class Model:
    """One file while it is read.

    Parameters
    ----------
    header
        Its header.
    keys
        The metadata of its architecture, without the architecture's name before the keys.
    name, architecture
        The architecture and its row.
    follow, sequence_length, note
        See :func:`ropewalk.models.read_model`.
    """

    header: Header
    keys: Keys
    name: str
    architecture: Architecture
    follow: Follow
    sequence_length: int | None
    note: Callable[[str], None]
