"""The folder that ``ropewalk generate`` writes and every later command reads."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ..design import Design
from ..design_checks import check_engine
from ..design_json import design_from_json, design_to_json
from ..errors import InputError
from ..gateware.top import RotaryTop
from ..strict_json import load_json_object
from ..tables.slot_words import slot_crcs
from .page import folder_page
from .registers import HEADER, register_header
from .verilog import emit_sequencer, emit_verilog, rom_text

DESCRIPTION = "design.json"

WRITTEN = ("README.md", "registers.h", "ropewalk.v", "rows.hex", "sequencer.v", "sine.hex", "slots.hex", "steps.hex")
"""What `generate` may write beside the description, and replaces when it is forced to."""


def derived_facts(design: Design, *, latencies: tuple[int, ...], crcs: list[int]) -> dict[str, Any]:
    """What a reader of ``design.json`` wants to know and every program can compute from the rest."""
    return {
        "latency": max(latencies),
        "beats_per_token": design.beats_per_token,
        "beats_per_head": design.beats_per_head,
        "beats_per_clock": design.beats_per_clock,
        "elements_per_beat": design.elements,
        "container_bits": design.container_bits,
        "element_order": dict(zip(("input", "output"), design.stream_pairings, strict=True)),
        "coefficient_fraction_bits": design.coefficient.fraction_bits,
        "slots": {
            variant.name: {
                "slot": slot,
                "positions": limit,
                "element_order": {
                    "input": design.order(slot).input_pairing,
                    "output": design.order(slot).output_pairing,
                },
                "latency": latency,
                "beats_per_clock": rate,
                "crc": f"{crc:08x}" if design.registers else None,
            }
            for slot, (variant, limit, latency, rate, crc) in enumerate(
                zip(design.variants, design.limits, latencies, design.rates, crcs, strict=True)
            )
        },
    }


def design_files(design: Design) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine."""
    top = RotaryTop(design)
    crcs = slot_crcs(design)
    facts = derived_facts(design, latencies=top.latencies, crcs=crcs)
    files = emit_verilog(design, top) | {"sequencer.v": emit_sequencer(design.axes)}
    if design.registers:
        files[HEADER] = register_header()
    return {
        **files,
        DESCRIPTION: json.dumps(design_to_json(design, facts), indent=1) + "\n",
        "README.md": folder_page(design, latency=top.latency, crcs=crcs, files=sorted(files)),
    }


def write_design_folder(design: Design, folder: Path, *, force: bool = False) -> None:
    """Write ``folder``, whole or not at all.

    Raises
    ------
    InputError
        If no engine can be made of the design, or ``folder`` is a file, holds something and ``force`` is not
        given, or cannot be written.
    """
    check_engine(design)
    check_target(folder, force=force)
    files = design_files(design)
    # A link to a folder stays one: its target is written.
    target = folder.resolve()
    made: list[Path] = []
    staging = None
    try:
        made = _make_parents(target)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}-", dir=target.parent))
        inside = staging / "new"
        inside.mkdir()
        for name, text in files.items():
            (inside / name).write_text(text, encoding="utf-8", newline="\n")
        if target.is_dir() and any(target.iterdir()):
            _replace_files(inside, target)
        else:
            inside.rename(target)
        made = []
    except OSError as error:
        raise InputError(f"cannot write the folder {folder}: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)
        for parent in reversed(made):
            parent.rmdir()


def _make_parents(folder: Path) -> list[Path]:
    """Make what is missing above ``folder``; what was made, outermost first."""
    missing = []
    for parent in folder.parents:
        if parent.exists():
            break
        missing.append(parent)
    made: list[Path] = []
    try:
        for parent in reversed(missing):
            parent.mkdir()
            made.append(parent)
    except OSError:
        for parent in reversed(made):
            parent.rmdir()
        raise
    return made


def _replace_files(inside: Path, folder: Path) -> None:
    """Put the files in ``inside`` in place of what an earlier ``generate`` wrote into ``folder``; others stay.

    The description goes first and comes last: a folder that is interrupted on the way has none, and no command takes
    it for an engine.
    """
    (folder / DESCRIPTION).unlink(missing_ok=True)
    for name in WRITTEN:
        if not (inside / name).exists():
            (folder / name).unlink(missing_ok=True)
    for file in sorted(inside.iterdir(), key=lambda path: path.name == DESCRIPTION):
        file.replace(folder / file.name)


def check_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that must not be written, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; give a folder")
    if folder.is_dir() and not force and any(folder.iterdir()):
        raise InputError(
            f"the folder {folder} is not empty; give another one, or --force to replace what generate wrote there"
        )


def load_design(folder: Path) -> Design:
    """The design that ``folder`` was generated from.

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
    return design_from_json(load_json_object(path), str(path))


def changed_roms(design: Design, folder: Path) -> list[str]:
    """Which ROM files in ``folder`` do not hold the words of ``design``, and where: a sentence for each.

    White space and letter case do not count.
    """
    problems = []
    for name, text in rom_text(design).items():
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
