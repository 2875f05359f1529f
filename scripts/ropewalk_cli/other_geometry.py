"""ALiBi, learned and sinusoidal positions, as a table for a person."""

import click
from ropewalk.geometry import AlibiGeometry, LearnedGeometry, SinusoidalGeometry

from .console import show_table, table

BIASES = {
    "relative": "slope x (key - query)",
    "absolute": "slope x the key's position; 0 for a masked key",
    "mpt": "slope x (key - (number of keys - 1))",
    "symmetric": "-slope x |query - key|",
}


def print_other(found: AlibiGeometry | LearnedGeometry | SinusoidalGeometry) -> None:
    """Print ``found`` on stdout."""
    match found:
        case AlibiGeometry():
            _print_alibi(found)
        case LearnedGeometry():
            _print_learned(found)
        case SinusoidalGeometry():
            _print_sinusoidal(found)


def _print_alibi(found: AlibiGeometry) -> None:
    click.echo(f"{found.model_type}: attention with linear biases (scheme alibi)")
    _fact("heads", str(found.heads))
    _fact("mode", f"{found.mode}: {BIASES[found.mode]}")
    if found.scale_after != 1:
        _fact("scale_after", f"{found.scale_after:.6g}, which the model multiplies the biased scores with")
    slopes = table("head", "slope", "bias at 1,000")
    for head, slope in enumerate(found.slopes):
        slopes.add_row(str(head), f"{slope:.9g}", f"{-1000 * slope:.6g}")
    show_table(slopes)
    click.echo("bias at 1,000: what the score of a key 1,000 positions away loses against the nearest one.")


def _print_learned(found: LearnedGeometry) -> None:
    click.echo(f"{found.model_type}: learned position table (scheme learned)")
    _fact("rows", f"{found.rows:,} of {found.dimension:,} elements")
    _fact("row_offset", f"{found.row_offset}: position p reads row {_row(found.row_offset)}")
    _fact("positions", f"{found.max_position:,}")
    _fact("mask", _mask(found.mask, found.masked_row))


def _print_sinusoidal(found: SinusoidalGeometry) -> None:
    click.echo(f"{found.model_type}: sinusoidal position encoding (scheme sinusoidal)")
    _fact("dimension", f"{found.dimension:,} elements")
    pairs = len(found.inverse_frequency)
    cosines = min(pairs, found.dimension - pairs)
    order = "sin, cos of each pair in turn" if found.layout == "interleaved" else "all sines, then all cosines"
    zeros = ", a zero at the end" if pairs + cosines < found.dimension else ""
    _fact("layout", f"{found.layout}: {order} ({pairs:,} sines, {cosines:,} cosines{zeros})")
    _fact("positions", f"{found.max_position:,}")
    _fact("row_offset", f"{found.row_offset}: position p has the angles of row {_row(found.row_offset)}")
    if found.zero_row is not None:
        _fact("zero_row", f"{found.zero_row}: this row is all zeros")
    _fact("mask", _mask(found.mask, found.zero_row))
    _fact("fastest (rad)", f"{found.inverse_frequency[0]:.6g} per position")
    _fact("slowest (rad)", f"{found.inverse_frequency[-1]:.6g} per position")


def _fact(name: str, value: str) -> None:
    click.echo(f"  {name:<18}{value}")


def _row(offset: int) -> str:
    return f"p + {offset}" if offset else "p"


def _mask(rule: str, masked_row: int | None) -> str:
    if rule == "ignored":
        return "ignored: positions count every token, masked or not"
    return f"counted: positions count the tokens that are not masked; the masked ones read row {masked_row}"
