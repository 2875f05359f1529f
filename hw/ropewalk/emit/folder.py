"""The folder that ``ropewalk generate`` writes and every later command reads: one for each scheme, told apart here."""

from pathlib import Path

from ..design import Design
from ..design_checks import check_engine
from ..designs.alibi import AlibiDesign
from ..designs.any_design import AnyDesign, any_design_from_json
from ..designs.learned import LearnedDesign
from ..designs.sinusoidal import SinusoidalDesign
from ..errors import InputError
from ..strict_json import load_json_object
from ..tables.learned import Words
from .alibi import alibi_files, alibi_memory_files
from .learned import changed_table, learned_files, read_table
from .rotary import rotary_files
from .sinusoidal import sinusoidal_files, sinusoidal_memory_files
from .verilog import rom_text
from .writer import DESCRIPTION, write_files

__all__ = [
    "DESCRIPTION", "changed_roms", "design_files", "load_design", "load_rotary", "write_design_folder",
]  # fmt: skip


def design_files(design: AnyDesign, words: Words | None = None) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine.

    ``words`` are the table of a learned design, which is no part of it.
    """
    match design:
        case Design():
            return rotary_files(design)
        case AlibiDesign():
            return alibi_files(design)
        case SinusoidalDesign():
            return sinusoidal_files(design)
        case LearnedDesign():
            if words is None:
                raise ValueError("a learned design needs the words of its table")
            return learned_files(design, words)


def write_design_folder(design: AnyDesign, folder: Path, *, words: Words | None = None, force: bool = False) -> None:
    """Write ``folder``, whole or not at all; ``words`` as in :func:`design_files`.

    Raises
    ------
    InputError
        If no engine can be made of the design, or ``folder`` is a file, holds something and ``force`` is not
        given, or cannot be written.
    """
    if isinstance(design, Design):
        check_engine(design)
    write_files(lambda: design_files(design, words), folder, force=force)


def load_design(folder: Path) -> AnyDesign:
    """The design that ``folder`` was generated from, of whatever scheme its ``design.json`` says.

    Raises
    ------
    InputError
        If ``folder`` holds no readable ``design.json``.
    """
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; ropewalk generate makes one")
    if not path.exists():
        raise InputError(f"the folder {folder} holds no {DESCRIPTION}; ropewalk generate makes one")
    return any_design_from_json(load_json_object(path), str(path))


def load_rotary(folder: Path) -> Design:
    """As :func:`load_design`; the folder of another unit than a rotary engine is refused."""
    design = load_design(folder)
    if not isinstance(design, Design):
        raise InputError(f"the folder {folder} holds a unit for {design.geometry.model_type}, and no rotary engine")
    return design


def changed_roms(design: AnyDesign, folder: Path) -> list[str]:
    """Which ROM files in ``folder`` do not hold the words of ``design``, and where: a sentence for each.

    White space and letter case do not count. A learned table is compared by its digest.
    """
    if isinstance(design, LearnedDesign):
        try:
            sentence = changed_table(design, read_table(design, folder))
        except InputError as refusal:
            return [str(refusal)]
        return [sentence] if sentence else []
    problems = []
    for name, text in memory_files(design).items():
        wanted = text.split()
        try:
            found = (folder / name).read_text(encoding="ascii").lower().split()
        except (OSError, UnicodeDecodeError):
            problems.append(f"{name} is missing or unreadable")
            continue
        if len(found) != len(wanted):
            problems.append(f"{name} holds {len(found)} words instead of {len(wanted)}")
            continue
        different = [place for place, pair in enumerate(zip(found, wanted, strict=True)) if pair[0] != pair[1]]
        if different:
            place = different[0]
            problems.append(
                f"{name}: {len(different)} of {len(wanted)} words differ, the first at address {place}: "
                f"{found[place][:32]} instead of {wanted[place]}"
            )
    return problems


def memory_files(design: Design | AlibiDesign | SinusoidalDesign) -> dict[str, str]:
    """What the memory files of ``design`` must hold, by file name: from the tables, without making the Verilog."""
    match design:
        case Design():
            return rom_text(design)
        case AlibiDesign():
            return alibi_memory_files(design)
        case SinusoidalDesign():
            return sinusoidal_memory_files(design)
