"""Fingerprints of the integers that must be the same everywhere: ``python -m ropewalk_cli.fingerprint``.

The geometry digest of every preset, and the SHA-256 of sine ROMs and table rows. ``tests/data/digests.json`` pins them;
``docs/reproducibility.md`` says on which Pythons, processors and libms they were made. It takes no package but mpmath
and Amaranth (and numpy for the tables, which ``--no-tables`` leaves out), so that it runs on any Python.
"""

import argparse
import hashlib
import json
import platform
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ropewalk.design import Design
from ropewalk.geometry import only_rotary
from ropewalk.lanes import default_lanes
from ropewalk.models import preset_names, read_model
from ropewalk.sine_format import SineFormat
from ropewalk.tables import model_digest, pack, sine_words

COEFFICIENT_WIDTHS = (8, 16, 18)

TABLES = ("gemma-3-270m", "gpt-oss-20b", "llama-3.1-8b", "phi-3.5-mini", "qwen2.5-7b-yarn")
"""Presets whose rows are fingerprinted: one of each way of scaling that software's angles can follow."""

ANGLE_MODELS = ("exact", "hf_f32", "llamacpp_f32")
TABLE_POSITIONS = 96


def fingerprint(*, tables: bool = True) -> dict[str, Any]:
    """All fingerprints, by kind and name, as hexadecimal digits."""
    made: dict[str, Any] = {
        "presets": {name: model_digest(read_model(name)) for name in preset_names()},
        "sine": {str(width): _sine(width) for width in COEFFICIENT_WIDTHS},
    }
    if tables:
        made["tables"] = {f"{name} {model}": _table(name, model) for name in TABLES for model in ANGLE_MODELS}
    return made


def _sine(width: int) -> str:
    form = SineFormat(coefficient_width=width, phase_bits=48)
    return _sha256(pack(word, form).to_bytes(16, "little") for word in sine_words(form))


def _table(name: str, model: Any) -> str:
    # here, because it takes numpy
    from ropewalk.tables.source import source_rows

    geometry = only_rotary(read_model(name))
    design = Design(
        geometry=geometry,
        lanes=default_lanes(geometry),
        source="table",
        positions=TABLE_POSITIONS,
        angle_model=model,
    )
    far = [*range(TABLE_POSITIONS), 4095, 131_071, 1_048_575, (1 << 24) - 1]
    rows = (source_rows(design, slot, far) for slot in range(len(design.variants)))
    return _sha256(struct.pack("<q", int(value)) for table in rows for value in table.reshape(-1))


def _sha256(parts: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def differences(made: dict[str, Any], pinned: dict[str, Any]) -> list[str]:
    """What of ``made`` is not as ``pinned``, a sentence each. Kinds that were not made are not compared."""
    found = []
    for kind, values in made.items():
        for name in sorted(values.keys() | pinned.get(kind, {}).keys()):
            new, old = values.get(name), pinned.get(kind, {}).get(name)
            if new != old:
                found.append(f"{kind}: {name} is {new or 'missing'}, pinned as {old or 'nothing'}")
    return found


def new_pins(made: dict[str, Any], pinned: dict[str, Any], change: list[str]) -> dict[str, Any]:
    """``made`` as the new pins.

    Raises
    ------
    ValueError
        If a pin that there is would change or go, and its name is not in ``change``.
    """
    for kind, values in pinned.items():
        for name, old in values.items():
            if made.get(kind, {}).get(name) != old and name not in change:
                raise ValueError(
                    f"{kind}: {name} would change, and with it every engine made before would disagree with new ones; "
                    f"if that is meant, say --change '{name}' and write it into CHANGELOG.md"
                )
    return made


def main(arguments: list[str] | None = None) -> int:
    """The command: print the fingerprints, compare them with a file, or write it."""
    parser = argparse.ArgumentParser(description="Fingerprints of the integers that must be the same everywhere.")
    parser.add_argument("--no-tables", action="store_true", help="leave out the tables, which take numpy")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--check", type=Path, metavar="FILE", help="compare with FILE; exit code 1 if any differs")
    action.add_argument("--write", type=Path, metavar="FILE", help="write FILE; pins in it may not change")
    parser.add_argument("--change", action="append", default=[], metavar="NAME", help="a pin that may change or go")
    given = parser.parse_args(arguments)
    made = fingerprint(tables=not given.no_tables)
    if given.check is not None:
        found = differences(made, json.loads(given.check.read_text(encoding="utf-8")))
        for sentence in found:
            print(sentence)
        counts = ", ".join(f"{len(values)} {kind}" for kind, values in made.items())
        where = f"{platform.python_implementation()} {platform.python_version()} on {platform.machine()}"
        print(f"{where}: {counts}: {len(found)} differ")
        return 1 if found else 0
    if given.write is not None:
        old = json.loads(given.write.read_text(encoding="utf-8")) if given.write.exists() else {}
        try:
            made = new_pins(made, old, given.change)
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
        given.write.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
        return 0
    print(json.dumps(made, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
