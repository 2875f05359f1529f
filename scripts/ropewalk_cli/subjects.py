"""What ``digest`` and ``compare`` take: a MODEL, or the DIR of an engine."""

import hashlib
from pathlib import Path
from typing import Any

from ropewalk.comparison import Subject, covered_bytes, subject_scheme
from ropewalk.design import Design, default_design
from ropewalk.emit.folder import DESCRIPTION, load_design
from ropewalk.geometry import RotaryGeometry
from ropewalk.models import preset_names

from .model_options import read


def read_subject(
    name: str,
    sequence_length: int | None,
    pairing: str | None,
    follow: str,
    *,
    verbose: bool = False,
    label: str = "",
) -> Subject:
    """What ``name`` means: the design of a folder that ``generate`` wrote, else a model as ``generate`` reads it.

    Notes about it go to stderr, each after ``label``.

    Raises
    ------
    InputError
        If it is neither, or anything in it is wrong.
    """
    if is_engine(name):
        design = load_design(Path(name))
        return design if isinstance(design, Design) else design.geometry
    found = read(name, sequence_length, pairing, follow, verbose, label)
    return default_design(found) if isinstance(found, RotaryGeometry) else found


def is_engine(name: str) -> bool:
    """Whether ``name`` is a folder with an engine's description. (A preset's name is the preset.)"""
    if name in preset_names():
        return False
    try:
        return (Path(name) / DESCRIPTION).is_file()
    except (OSError, ValueError):
        return False


def digest_of(subject: Subject) -> str:
    """The geometry digest of ``subject``."""
    return hashlib.sha256(covered_bytes(subject)).hexdigest()


def described(name: str, subject: Subject) -> dict[str, Any]:
    """``subject`` for a program: what it is and its digest."""
    model = subject.geometry if isinstance(subject, Design) else subject
    return {
        "name": name,
        "scheme": subject_scheme(subject),
        "model_type": model.model_type,
        "digest": digest_of(subject),
    }
