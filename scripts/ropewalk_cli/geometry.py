"""``ropewalk geometry``: what a configuration means, as a table for a person or as JSON for a program."""

import json

import click
from ropewalk.geometry import Geometry, RotaryGeometry, geometry_to_json
from ropewalk.geometry.shape import Shape

from .console import show_table, table
from .model_options import model_options, read
from .other_geometry import print_other

EPILOG = """\b
Examples:
  ropewalk geometry gemma-3-270m                 a preset, as a table
  ropewalk geometry path/to/config.json          a model of yours
  ropewalk geometry path/to/model-folder --json  every number, for a program
"""


@click.command(epilog=EPILOG, short_help="Show what a configuration means: pairs, frequencies, limits.")
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
def geometry(
    model: str, sequence_length: int | None, pairing: str | None, follow: str, verbose: bool, as_json: bool
) -> None:
    """Show what MODEL's positional encoding is: heads, pairs, frequencies, amplitudes, limits.

    MODEL is a config.json as Hugging Face publishes it, a GGUF file, a folder that holds one of them, or the name of
    a preset (see `models`).
    """
    found = read(model, sequence_length, pairing, follow, verbose)
    if as_json:
        click.echo(json.dumps(geometry_to_json(found), indent=1, allow_nan=False))
    else:
        print_geometry(found)


def print_geometry(found: Geometry) -> None:
    """Print ``found`` on stdout."""
    if not isinstance(found, RotaryGeometry):
        print_other(found)
        return
    click.echo(f"{found.model_type}: rotary position embedding (scheme rope)")
    for name, value in facts(found):
        click.echo(f"  {name:<18}{value}")
    variants = table(
        "slot", "variant", "layers", "amplitude", "positions", "fastest (rad)", "slowest (rad)", left=("variant",)
    )
    for slot, variant in enumerate(found.variants):
        rotating = [frequency for frequency in variant.inverse_frequency if frequency] or [0.0]
        variants.add_row(
            str(slot),
            variant.name,
            "?" if found.layers is None else str(found.layers.count(variant.name)),
            f"{variant.amplitude:.6g}",
            f"{variant.max_position:,}",
            f"{max(rotating):.6g}",
            f"{min(rotating):.6g}",
        )
    show_table(variants)
    click.echo("fastest and slowest: how far the first and the last pair turn per position.")


def facts(found: RotaryGeometry) -> list[tuple[str, str]]:
    """What is the same for all positions, as names and values for a person; where variants differ, each one's."""
    texts = [shape_texts(found.of(slot)) for slot in range(len(found.variants))]
    rows = []
    for name in texts[0]:
        whose: dict[str, list[str]] = {}
        for each, variant in zip(texts, found.variants, strict=True):
            whose.setdefault(each[name], []).append(variant.name)
        several = [f"{value} ({', '.join(names)})" for value, names in whose.items()]
        rows.append((name, next(iter(whose)) if len(whose) == 1 else "; ".join(several)))
    if found.layers is not None:
        without = found.layers.count(None)
        rows.append(("layers", f"{len(found.layers)}" + (f", {without} of them without rotation" if without else "")))
    if found.attention_scale is not None:
        rows.append(("attention_scale", f"{found.attention_scale} (the engine does not apply it)"))
    return rows


def shape_texts(shape: Shape) -> dict[str, str]:
    """The shape of a variant, as names and values for a person."""
    whole = shape.rotary_dim == shape.head_dim
    slice_text = "all of the head" if whole else f"elements {shape.rotated.start} to {shape.rotated.stop - 1}"
    order = shape.pairing + (f" in, {shape.output_pairing} out" if shape.output_pairing != shape.pairing else "")
    return {
        "head_dim": f"{shape.head_dim} elements",
        "rotary_dim": f"{shape.rotary_dim}: {slice_text}, {shape.pairs} pairs",
        "pairing": order,
        "heads": f"{shape.query_heads} query, {shape.key_heads} key",
    }
