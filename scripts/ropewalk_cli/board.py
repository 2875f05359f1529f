"""``ropewalk board``: a board on a serial port: its self-test, its geometry, and arrays through its engine."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import serial
from ropewalk.board_top.files import BAUD
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk.errors import InputError
from ropewalk_sim.board.engine import check_design, differing_slots, run_stream
from ropewalk_sim.board.host import BoardHost
from ropewalk_sim.board.signature import expected_signature
from ropewalk_sim.errors import EngineError
from ropewalk_sim.npz import check_target, load_npz, save_npz
from ropewalk_sim.stream import pack_run, unpack_run

from .console import progress

EPILOG = """\b
Example:
  ropewalk board --port /dev/ttyUSB0 --design engine --input x.npz --output y.npz
"""


@contextlib.contextmanager
def _line(port: str, baud: int) -> Iterator[serial.Serial]:
    """The open port; what goes wrong with it, in a sentence."""
    try:
        with serial.Serial(port, baud, write_timeout=5, exclusive=True) as line:
            yield line
    except (serial.SerialException, OSError) as error:
        raise InputError(
            f"the port {port} cannot be used: {error}. python -m serial.tools.list_ports lists those that there are"
        ) from None


def _check_geometry(host: BoardHost, design: Design) -> None:
    check_design(host, design)
    if design.registers and (wrong := differing_slots(host, design)):
        said = "; ".join(
            f"slot {slot} ({design.variants[slot].name}) has the CRC {found:08x} and should have {right:08x}"
            for slot, (found, right) in wrong.items()
        )
        raise EngineError(f"the board's geometry is not that of the design: {said}")


@click.command(epilog=EPILOG, short_help="Test a board, and run arrays on it.")
@click.option("--port", required=True, metavar="PORT", help="The serial port, such as /dev/ttyUSB0 or COM3.")
@click.option("--baud", type=click.IntRange(300, 1_000_000), default=BAUD, show_default=True, help="Its rate.")
@click.option("--design", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Compare with this design.")
@click.option("--input", "source", type=click.Path(path_type=Path), metavar="X.npz", help="Arrays in; as for run.")
@click.option("--output", "target", type=click.Path(path_type=Path), metavar="Y.npz", help="Arrays out.")
@click.option("--scale", type=float, metavar="S", help="Value of one LSB; as for run.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as one JSON document.")
def board(
    port: str,
    baud: int,
    folder: Path | None,
    source: Path | None,
    target: Path | None,
    scale: float | None,
    as_json: bool,
) -> None:
    """Test the board on PORT, compare it with a design, and run arrays on it.

    The self-test runs first. With --design, the board must have been built from that folder, and the CRC of each slot,
    which the hardware computes, must be what `generate` stated. With --input and --output too, the arrays go through
    the engine on the board, as `run` sends them through a simulator.
    """
    if (source is None) != (target is None) or (source is not None and folder is None):
        raise click.UsageError("--input and --output go together, and need --design")
    design = load_rotary(folder) if folder is not None else None
    packed = None
    if design is not None and source is not None and target is not None:
        check_target(target)
        packed = pack_run(design, load_npz(source), scale)
    with _line(port, baud) as line:
        host = BoardHost(line)
        found: dict[str, Any] = {}
        passed, signature = host.self_test()
        found |= {"self_test": "pass" if passed else "fail", "signature": f"{signature:08x}"}
        if not passed:
            right = f", and should be {expected_signature(design):08x}" if design is not None else ""
            raise EngineError(
                f"the self-test of the board on {port} failed: its signature is {signature:08x}{right}. If slots were "
                f"loaded since it was configured, configure it again first"
            )
        if design is not None:
            _check_geometry(host, design)
            found["geometry"] = "same"
        if packed is not None and target is not None:
            with progress("running on the board") as tell:
                output = run_stream(
                    host,
                    packed.design,
                    packed.stream,
                    writes=packed.script.registers if packed.script else (),
                    progress=tell,
                )
            save_npz(target, unpack_run(packed, output))
            found |= {"tokens": packed.stream.tokens, "beats": output.beats, "output": str(target)}
        found["resent"] = host.resent
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    click.echo(f"self-test: pass, signature {found['signature']}")
    if design is not None:
        crcs = "and every slot's CRC is right" if design.registers else "which has no registers to check CRCs in"
        click.echo(f"geometry: built from the design in {folder}, {crcs}")
    if packed is not None:
        click.echo(f"{found['tokens']} tokens through the board: {found['beats']} beats; written to {target}")
    if host.resent:
        click.echo(f"note: {host.resent} requests had to be sent again: the line is noisy")
