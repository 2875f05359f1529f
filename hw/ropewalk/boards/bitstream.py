"""Packs what nextpnr placed and routed into the file that a board is loaded with."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import BuildError
from . import tools
from .families import ECP5, ICE40
from .parts import Part

TIMEOUT = 600


def bitstream(placed: str, part: Part, *, name: str, options: Sequence[str] = ()) -> tuple[dict[str, bytes], str]:
    """The bitstream of what was placed on ``part``.

    Parameters
    ----------
    placed
        The file that nextpnr wrote: ``Placement.placed``.
    name
        What the files are called, before the ending.
    options
        Further options of the packer.

    Returns
    -------
    dict, str
        The files by name (``.bit`` and ``.svf`` for ECP5, ``.bin`` for iCE40, ``.fs`` for Gowin), and the packer's log.

    Raises
    ------
    BuildError
        If the packer is not installed or fails.
    """
    if part.packer is None:
        raise BuildError(f"nothing here makes a bitstream for {part.name}")
    if part.family is ECP5:
        arguments = ["--input", "placed", "--bit", f"{name}.bit", "--svf", f"{name}.svf", "--compress"]
        written = [f"{name}.bit", f"{name}.svf"]
    elif part.family is ICE40:
        arguments, written = ["placed", f"{name}.bin"], [f"{name}.bin"]
    else:
        arguments, written = ["-o", f"{name}.fs", "placed"], [f"{name}.fs"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "placed").write_text(placed, encoding="utf-8")
        code, log = tools.run(part.packer, [*part.packer_options, *options, *arguments], folder, timeout=TIMEOUT)
        if code:
            raise tools.failure(part.packer, code, log)
        missing = [file for file in written if not (folder / file).is_file()]
        if missing:
            raise BuildError(f"{part.packer.name} ended well and wrote no {missing[0]}", log)
        return {file: (folder / file).read_bytes() for file in written}, log
