"""A text, cut into windows of tokens, on which perplexity and divergence are measured."""

from importlib.resources import files
from pathlib import Path

from ropewalk.errors import InputError
from ropewalk.strict_json import show_path

from .loading import Loaded

SAMPLE = "sample"
"""The name of the text that comes along: Lincoln's address at Gettysburg (1863) and second inaugural address (1865),
and the Declaration of Independence (1776), all in the public domain; 2,271 words."""

CONTEXT = 512
"""Tokens of a window."""

MOST_BYTES = 64 << 20


def read_text(name: str) -> str:
    """The text that comes along (``sample``), or that of a UTF-8 file.

    Raises
    ------
    InputError
        If there is no such file, it cannot be read, or it holds no text.
    """
    if name == SAMPLE:
        return (files(__package__ or "ropewalk_llm") / "data" / "speeches.txt").read_text(encoding="utf-8")
    path = Path(name)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"the text {show_path(name)} is larger than {MOST_BYTES >> 20} MB")
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"the text {show_path(name)} is not UTF-8 (byte {error.start})") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"the text {show_path(name)} cannot be read: {reason}") from None
    if not text.strip():
        raise InputError(f"the text {show_path(name)} is empty")
    return text


def windows(loaded: Loaded, text: str, *, context: int = CONTEXT, most: int | None = None) -> list[list[int]]:
    """The tokens of ``text`` (the first ``most`` of them), cut into windows of at most ``context`` tokens.

    Each begins with the token that begins every text of the model, where it has one; windows of fewer than two tokens
    are left out, for nothing in them is predicted. Raises ``InputError`` where none is left.
    """
    begin = loaded.tokenizer.bos_token_id
    head = [] if begin is None else [int(begin)]
    tokens = loaded.tokens(text, special=False)[:most]
    size = context - len(head)
    cut = [head + tokens[first : first + size] for first in range(0, len(tokens), size)]
    cut = [window for window in cut if len(window) > 1]
    if not cut:
        raise InputError("the text is too short: it has no two tokens")
    return cut
