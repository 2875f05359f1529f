"""What is built: the Verilog of a folder, or of a component of its design alone."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..emit.components import CLOCK, component_files
from ..emit.folder import load_design
from ..emit.verilog import TOP
from ..errors import InputError
from ..family import Family

_READ = re.compile(r'\$readmemh\("(\w+\.hex)"')


@dataclass(frozen=True, kw_only=True)
class Unit:
    """Verilog and the memory files that it reads, by name; its top module, and that one's clock.

    ``component`` is what it is of a design, or None where it is the whole. ``family`` is whose primitives it uses.
    """

    files: Mapping[str, str]
    module: str = TOP
    clock: str = "aclk"
    component: str | None = None
    family: Family = "generic"

    @property
    def sha256(self) -> str:
        """The SHA-256 over the files in the order of their names: of each its name, its size and its bytes."""
        digest = hashlib.sha256()
        for name, text in sorted(self.files.items()):
            data = text.encode()
            digest.update(f"{name}\n{len(data)}\n".encode() + data)
        return digest.hexdigest()


def unit_in(folder: Path, component: str | None = None) -> Unit:
    """The unit in a folder that ``generate`` wrote, from its emitted files; or a component of its design, made anew.

    Raises
    ------
    InputError
        If the folder is none that ``generate`` wrote, a file is missing, or there is no such component.
    """
    design = load_design(folder)
    if component is not None:
        return Unit(files=component_files(design, component), clock=CLOCK, component=component, family=design.family)
    verilog = _text(folder / f"{TOP}.v")
    memories = {name: _text(folder / name) for name in sorted(set(_READ.findall(verilog)))}
    return Unit(files={f"{TOP}.v": verilog, **memories}, family=design.family)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"{path} cannot be read: {said}; ropewalk generate writes it") from None
