"""Finding the configuration that a user means: a preset, a file or a folder."""

from importlib.resources import files
from pathlib import Path

from ..errors import InputError
from ..strict_json import load_json_object, parse_json_object, show_path

_PRESETS = files(__package__ or "ropewalk.models") / "presets"


def preset_names() -> list[str]:
    """The names of the presets that come with Ropewalk, sorted."""
    return sorted(entry.name.removesuffix(".json") for entry in _PRESETS.iterdir() if entry.name.endswith(".json"))


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
    if model.lower().endswith(".gguf"):
        raise InputError(
            f"{show_path(model)}: GGUF files are read by a later version of Ropewalk; give its config.json"
        )
    if not exists or not model:
        name, presets = show_path(model) or "an empty name", ", ".join(preset_names())
        raise InputError(f"{name} is neither a file, a folder nor a preset; the presets are {presets}")
    if is_folder:
        path = path / "config.json"
        if not path.exists():
            raise InputError(f"the folder {show_path(model)} holds no config.json")
    return load_json_object(path), show_path(path)
