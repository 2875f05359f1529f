"""Finding the configuration that a user means: a preset, a file or a folder."""

import re
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from ..errors import InputError
from ..strict_json import load_json_object, parse_json_object, show_path

GGUF_PART = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL | re.IGNORECASE)
"""The name of one file of a model that is split over several."""

_PRESETS = files(__package__ or "ropewalk.models") / "presets"


def preset_names() -> list[str]:
    """The names of the presets that come with Ropewalk, sorted."""
    return sorted(entry.name.removesuffix(".json") for entry in _PRESETS.iterdir() if entry.name.endswith(".json"))


def gguf_source(model: str) -> Path | None:
    """The GGUF file that ``model`` names: itself, or the only model of a folder that holds no ``config.json``.

    Raises
    ------
    InputError
        If the folder holds several models in GGUF.
    """
    if not model or model in preset_names():
        return None
    path = Path(model)
    try:
        is_folder = path.is_dir()
        has_config = is_folder and (path / "config.json").exists()
    except (OSError, ValueError):
        return None
    if is_folder:
        return None if has_config else gguf_in(path)
    return path if path.suffix.lower() == ".gguf" else None


def gguf_in(folder: Path) -> Path | None:
    """The one model in GGUF that ``folder`` holds, or None where it holds none.

    Raises
    ------
    InputError
        If it holds several. (The parts of a split model are one.)
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")
    except OSError as error:
        raise InputError(f"the folder {show_path(folder)} cannot be read: {error.strerror}") from None
    parts = [(path, GGUF_PART.fullmatch(path.name)) for path in files]
    found = {part["stem"] if part else path.name: path for path, part in reversed(parts)}
    if len(found) > 1:
        raise InputError(f"the folder {show_path(folder)} holds {len(found)} GGUF models; name the one that is meant")
    return next(iter(found.values()), None)


def _near(model: str) -> str:
    """The presets whose names look like ``model``, for the end of an error."""
    near = get_close_matches(model[:100].lower(), preset_names(), n=3)
    return f" (perhaps {' or '.join(near)})" if near else ""


def read_source(model: str) -> tuple[dict[str, object], str]:
    """The configuration that ``model`` names, and what errors call it.

    A preset's name wins over a file of that name (``./NAME`` is the file).

    Raises
    ------
    InputError
        If there is no such preset, file or folder, or it holds no readable JSON object.
    """
    if model in preset_names():
        return parse_json_object((_PRESETS / f"{model}.json").read_bytes(), f"preset {model}"), f"preset {model}"
    path = Path(model)
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):
        is_folder, exists = False, False
    if not exists or not model:
        raise InputError(
            f"{show_path(model) or 'an empty name'} is neither a file, a folder nor a preset; "
            f"ropewalk models lists the presets{_near(model)}"
        )
    if is_folder:
        path = path / "config.json"
        if not path.exists():
            raise InputError(f"the folder {show_path(model)} holds no config.json and no GGUF file")
    return load_json_object(path), show_path(path)
