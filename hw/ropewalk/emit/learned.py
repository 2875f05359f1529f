"""The files of a learned-table adder's folder: written here, read back by every later command."""

import json
from pathlib import Path
from typing import Any

from ..designs.learned import MAX_MEMORY_WORDS, LearnedDesign, learned_from_json, learned_to_json
from ..errors import InputError
from ..gateware.contents import RomContents
from ..gateware.learned.registers import UNIT
from ..gateware.learned.table_rows import Banks
from ..gateware.learned.top import LearnedTop, learned_roms
from ..models.weights import MAX_VALUES
from ..strict_json import load_json_object, show_path
from ..tables.learned import Words, pack_beats, table_digest, unbank_beats, unpack_beats
from .learned_page import learned_page
from .registers import HEADER, register_header
from .verilog import emit_top, rom_files
from .writer import DESCRIPTION, PAGE

TABLE = "rows.hex"


def learned_facts(design: LearnedDesign, *, latency: int) -> dict[str, Any]:
    """What a reader of ``design.json`` wants to know and every program can compute from the rest."""
    return {
        "latency": latency,
        "beats_per_token": design.beats_per_token,
        "elements_per_beat": design.lanes,
        "last_beat_elements": design.last_lanes,
        "container_bits": design.container_bits,
        "table_word_bits": design.word_bits,
        "memory_bits": design.memory_bits,
        "row_stride": design.row_stride if design.storage == "external" else None,
    }


def learned_files(design: LearnedDesign, words: Words) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine.

    ``rows.hex`` has a beat's table words on each line, the first element lowest: what the block RAM holds or, for a
    table outside, what the read master finds on its bus. Where the block RAM has banks, a line has a beat of each.
    """
    top = LearnedTop(design, words)
    facts = learned_facts(design, latency=top.latency)
    files = emit_top(top, learned_roms(design, words), family=design.family)
    files |= {TABLE: table_text(design, words), HEADER: register_header(UNIT)}
    return {
        **files,
        PAGE: learned_page(design, latency=top.latency, files=list(files)),
        DESCRIPTION: json.dumps(learned_to_json(design, facts), indent=1) + "\n",
    }


def table_text(design: LearnedDesign, words: Words) -> str:
    """What ``rows.hex`` must hold."""
    if design.storage == "block-ram":
        contents = Banks(design).contents(words)
    else:
        packed = pack_beats(words, design.lanes, design.word_bits)
        contents = RomContents(design.lanes * design.word_bits, design.memory_words, packed, "file")
    return rom_files({"rows": contents}, design.family)[TABLE]


def load_learned(folder: Path) -> LearnedDesign:
    """The design in ``folder``; raises ``InputError`` where its ``design.json`` is missing or makes no sense."""
    path = folder / DESCRIPTION
    return learned_from_json(load_json_object(path), show_path(path))


def read_table(design: LearnedDesign, folder: Path) -> Words:
    """The table words in the folder's ``rows.hex``, as they are: :func:`changed_table` compares them.

    Raises
    ------
    InputError
        If the file is missing, of another size, or holds anything but words of the design's width.
    """
    path = folder / TABLE
    where = show_path(path)
    bits = design.lanes * design.word_bits
    depth, width = design.memory_words, bits
    if design.storage == "block-ram":
        banks = Banks(design)
        depth, width = banks.words, banks.count * bits
    digits = -(-width // 4)
    assert depth <= max(MAX_MEMORY_WORDS, MAX_VALUES)
    try:
        if path.stat().st_size > (digits + 2) * depth + 1024:
            raise InputError(f"{where} is larger than a table of {depth} words of {digits} digits")
        lines = path.read_text(encoding="ascii").split()
        packed = [int(line, 16) for line in lines]
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise InputError(f"{where} must hold a word in hexadecimal on each line") from None
    if len(packed) != depth or max(packed) >> width or min(packed) < 0:
        raise InputError(f"{where} must hold {depth} words of {width} bits")
    rows, dimension = design.geometry.rows, design.geometry.dimension
    beats = unbank_beats(packed, width // bits * depth, bits)
    if any(beats[design.memory_words :]):
        raise InputError(f"{where} must hold zeros past the {design.memory_words} words of the table")
    return unpack_beats(beats[: design.memory_words], rows, dimension, design.lanes, design.word_bits)


def changed_table(design: LearnedDesign, words: Words) -> str | None:
    """A sentence if ``words`` are not the table that the folder was made from, by its digest; else None."""
    found = table_digest(words, design.table_width, design.table_fraction_bits)
    if found == design.table_digest:
        return None
    return f"{TABLE} holds a table with the digest {found[:16]}..., not {design.table_digest[:16]}..."
