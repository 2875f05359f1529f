"""``ropewalk models``: the presets, with filters."""

import json
from typing import Any

import click
from ropewalk.geometry import SCHEMES, LearnedGeometry, RotaryGeometry, SinusoidalGeometry, scheme_of
from ropewalk.geometry.recipe import ROPE_KINDS
from ropewalk.models import preset_names, read_model

from .console import note, show_table, table

EPILOG = """\b
Examples:
  ropewalk models                                 all of them
  ropewalk models llama 8b                        those whose names have both words
  ropewalk models --scheme rope --scaling yarn    rotary models with YaRN
  ropewalk models --head-dim 256 --json
"""

FILTERS = ("scheme", "model_type", "pairing", "scaling", "head_dim", "axes")


@click.command(epilog=EPILOG, short_help="List the presets: models that can be named without a file.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--scheme", type=click.Choice(SCHEMES), help="Only models with this scheme.")
@click.option("--type", "model_type", metavar="TYPE", help="Only models of this model_type, such as qwen3.")
@click.option("--pairing", type=click.Choice(["half", "interleaved"]), help="Only rotary models that pair so.")
@click.option("--scaling", type=click.Choice(ROPE_KINDS), help="Only rotary models with a variant of this rope type.")
@click.option("--head-dim", type=click.IntRange(1), metavar="N", help="Only rotary models with a head size of N.")
@click.option("--axes", type=click.IntRange(1, 3), metavar="N", help="Only rotary models whose positions have N axes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of the table.")
def models(words: tuple[str, ...], as_json: bool, **filters: Any) -> None:
    """List the presets: published models whose names can stand wherever a command takes MODEL.

    Each WORD must occur in a preset's name, its model_type, its scheme or its rope types, in upper or lower case.
    """
    presets = [preset_facts(name) for name in preset_names()]
    found = [facts for facts in presets if _fits(facts, words, filters)]
    if as_json:
        click.echo(json.dumps({"models": found}, indent=1, allow_nan=False))
        return
    if not found:
        note(f"none of the {len(presets)} presets fits; 'ropewalk models' without a filter lists all of them")
        return
    rows = table(
        "name", "scheme", "type", "what", "head_dim", "heads", "positions", left=("name", "scheme", "type", "what")
    )
    for facts in found:
        rows.add_row(
            facts["name"],
            facts["scheme"],
            facts["model_type"],
            _what(facts),
            _joined(facts["head_dim"]) or str(facts["dimension"] or ""),
            _heads(facts),
            "" if facts["max_position"] is None else f"{facts['max_position']:,}",
        )
    show_table(rows)
    click.echo(f"{len(found)} of {len(presets)} presets; 'ropewalk geometry NAME' shows one.")


def preset_facts(name: str) -> dict[str, Any]:
    """What the preset ``name`` is, from reading it; what its scheme does not have is null."""
    found = read_model(name)
    facts: dict[str, Any] = {
        "name": name,
        "scheme": scheme_of(found),
        "model_type": found.model_type,
        "scaling": None,
        "pairing": None,
        "output_pairing": None,
        "head_dim": None,
        "rotary_dim": None,
        "query_heads": None,
        "key_heads": None,
        "axes": None,
        "variants": None,
        "dimension": None,
        "max_position": None,
    }
    match found:
        case RotaryGeometry():
            shapes = [found.of(slot) for slot in range(len(found.variants))]
            kinds = [variant.recipe.kind for variant in found.variants if variant.recipe is not None]
            facts |= {
                "scaling": list(dict.fromkeys(kinds)),
                "pairing": found.pairing,
                "output_pairing": found.output_pairing,
                "head_dim": list(dict.fromkeys(shape.head_dim for shape in shapes)),
                "rotary_dim": list(dict.fromkeys(shape.rotary_dim for shape in shapes)),
                "query_heads": found.query_heads,
                "key_heads": found.key_heads,
                "axes": 1 + max(max(variant.axis or (0,)) for variant in found.variants),
                "variants": [variant.name for variant in found.variants],
                "max_position": max(variant.max_position for variant in found.variants),
            }
        case LearnedGeometry() | SinusoidalGeometry():
            facts |= {"dimension": found.dimension, "max_position": found.max_position}
        case _:
            facts["query_heads"] = found.heads
    return facts


def _fits(facts: dict[str, Any], words: tuple[str, ...], filters: dict[str, Any]) -> bool:
    for name in FILTERS:
        wanted, value = filters[name], facts[name]
        if wanted is not None and wanted != value and not (isinstance(value, list) and wanted in value):
            return False
    text = " ".join([facts["name"], facts["model_type"], facts["scheme"], *(facts["scaling"] or ())]).lower()
    return all(word.lower() in text for word in words)


def _what(facts: dict[str, Any]) -> str:
    """The rope types, pairing and slice of a rotary model."""
    if facts["scaling"] is None:
        return ""
    parts = ["+".join(facts["scaling"]), facts["pairing"]]
    if facts["output_pairing"] != facts["pairing"]:
        parts[-1] += f" to {facts['output_pairing']}"
    if facts["rotary_dim"] != facts["head_dim"]:
        parts.append(f"{_joined(facts['rotary_dim'])} of {_joined(facts['head_dim'])}")
    if facts["axes"] > 1:
        parts.append(f"{facts['axes']} axes")
    return ", ".join(parts)


def _joined(values: list[int] | None) -> str:
    return "/".join(map(str, values or ()))


def _heads(facts: dict[str, Any]) -> str:
    if facts["query_heads"] is None:
        return ""
    return str(facts["query_heads"]) + ("" if facts["key_heads"] is None else f"/{facts['key_heads']}")
