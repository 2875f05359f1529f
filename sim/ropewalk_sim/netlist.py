"""The netlist of a folder's last build in the place of its Verilog: whatever runs the one runs the other.

``docs/build.md`` ("The netlist, simulated") says what is compared with what.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ropewalk.boards.build import NETLIST
from ropewalk.boards.build_folder import REPORT
from ropewalk.boards.unit import unit_in
from ropewalk.emit.folder import DESCRIPTION
from ropewalk.emit.writer import BUILD
from ropewalk.errors import InputError
from ropewalk.strict_json import load_json_object
from ropewalk_sim.cells import cell_models
from ropewalk_sim.engines.toolchain import CELLS


@dataclass(frozen=True, kw_only=True)
class Netlist:
    """A netlist: its Verilog, the family of its cells, and the part that it was made for."""

    verilog: bytes
    family: str
    part: str


def built_netlist(folder: Path) -> Netlist:
    """The netlist of the last build of the Verilog in ``folder``.

    Raises
    ------
    InputError
        If there is none, or it is of other Verilog than ``folder`` holds now, or not of all of it.
    """
    place = folder / BUILD
    again = f"ropewalk build {folder} --part ... --out-of-context"
    if not (place / REPORT).is_file() or not (place / NETLIST).is_file():
        raise InputError(f"there is no netlist {place / NETLIST}; {again} makes one")
    report = load_json_object(place / REPORT)
    family, part, source = (report.get(key) for key in ("family", "part", "source_sha256"))
    if not (isinstance(family, str) and isinstance(part, str) and isinstance(source, str)):
        raise InputError(f"{place / REPORT} is no report of a build: family, part or source_sha256 is missing; {again}")
    for kind, of in (("board", "the top of the board"), ("component", "the component")):
        if report.get(kind) is not None:
            raise InputError(
                f"{place / NETLIST} is of {of} {report[kind]}, which has other ports than the unit: build the unit "
                f"itself, {again}"
            )
    if source != unit_in(folder).sha256:
        raise InputError(
            f"{place / NETLIST} was made from other Verilog than {folder} holds now; {again} makes it anew"
        )
    try:
        return Netlist(verilog=(place / NETLIST).read_bytes(), family=family, part=part)
    except OSError as error:
        raise InputError(f"{place / NETLIST} cannot be read: {error.strerror}") from None


@contextmanager
def netlist_folder(folder: Path, netlist: Netlist) -> Iterator[Path]:
    """A folder like ``folder``, with ``netlist`` in place of its Verilog, and the models of its cells; for a while.

    Raises
    ------
    InputError
        If there are no models of its family.
    """
    with tempfile.TemporaryDirectory(prefix="ropewalk-netlist-") as name:
        yield write_netlist_folder(folder, netlist, Path(name))


def write_netlist_folder(folder: Path, netlist: Netlist, place: Path) -> Path:
    """Write into ``place``, which exists, what :func:`netlist_folder` gives; it reads the tables of ``folder``."""
    (place / DESCRIPTION).write_bytes((folder / DESCRIPTION).read_bytes())
    for table in folder.glob("*.hex"):
        (place / table.name).symlink_to(table.absolute())
    (place / "ropewalk.v").write_bytes(netlist.verilog)
    with tempfile.TemporaryDirectory() as models:
        try:
            paths = cell_models(netlist.family, Path(models))
        except ValueError as error:
            raise InputError(f"the netlist cannot be simulated: {error}") from None
        (place / CELLS).write_bytes(b"".join(path.read_bytes() for path in paths))
    return place
