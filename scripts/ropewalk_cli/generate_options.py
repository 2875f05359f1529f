"""The options of ``generate``, each with the schemes that have it: any other is refused, by the option's name."""

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource
from ropewalk.errors import InputError
from ropewalk.geometry import DESCRIPTIONS, Geometry, scheme_of

ROPE, ALIBI, LEARNED, SINUSOIDAL = "rope", "alibi", "learned", "sinusoidal"
UNITS = (ALIBI, LEARNED, SINUSOIDAL)
ALL = (ROPE, *UNITS)
NAMES = {ROPE: "rotary engines", ALIBI: "ALiBi", LEARNED: "learned tables", SINUSOIDAL: "sinusoids"}

OPTIONS: tuple[tuple[tuple[str, ...], str, dict[str, Any]], ...] = (
    (
        ALL,
        "--lanes",
        {
            "type": int,
            "metavar": "N",
            "help": "Pairs rotated per clock; a beat carries 2N elements. For the other schemes, elements (scores) "
            "of a beat.  [default: the largest of 4, 2, 1 that fits; 4 for the others]",
        },
    ),
    (
        (ROPE,),
        "--clocks-per-pair",
        {
            "type": int,
            "default": 1,
            "show_default": True,
            "metavar": "N",
            "help": "Clocks that a new row takes per pair; 1 is what there is.",
        },
    ),
    (
        ALL,
        "--data-width",
        {
            "type": int,
            "default": 16,
            "show_default": True,
            "metavar": "W",
            "help": "Bits of an element, 4 to 32 (ALiBi: 8 to 32).",
        },
    ),
    (
        UNITS,
        "--fraction-bits",
        {
            "type": int,
            "default": 8,
            "show_default": True,
            "metavar": "F",
            "help": "An element's LSB stands for 2^-F.",
        },
    ),
    (
        (ROPE, SINUSOIDAL),
        "--coefficient-width",
        {
            "type": int,
            "metavar": "C",
            "help": "Bits of |cos| and |sin|, 8 to 24.  [default: 18, and 16 for q15 coefficients]",
        },
    ),
    (
        (ROPE, SINUSOIDAL),
        "--phase-bits",
        {
            "type": int,
            "default": 48,
            "show_default": True,
            "metavar": "P",
            "help": "Bits of the phase, a fraction of one turn, 16 to 48: 44 suffice to position 2^20.",
        },
    ),
    (
        (ROPE,),
        "--source",
        {
            "type": click.Choice(["synth", "table"]),
            "default": "synth",
            "show_default": True,
            "help": "Where cos and sin come from: made for each token, or read from a table of all positions in block "
            "RAM.",
        },
    ),
    (
        (ROPE, LEARNED, SINUSOIDAL),
        "--positions",
        {
            "type": int,
            "metavar": "N",
            "help": "The first position that is refused, for every variant; of a learned table, what lies past it is "
            "left out.  [default: each variant's max_position]",
        },
    ),
    (
        (ROPE,),
        "--variant",
        {
            "multiple": True,
            "metavar": "NAME=MODEL",
            "help": "Add the variants of another model with heads of the same size, behind those of MODEL, as NAME (as "
            "NAME.variant where it has several). Can be given again.",
        },
    ),
    (
        (ROPE,),
        "--slots",
        {
            "type": int,
            "metavar": "S",
            "help": "Variants that the engine has room for, 1 to 64.  [default: 8, or as many as there are variants]",
        },
    ),
    (
        (ROPE,),
        "--only",
        {
            "metavar": "NAME",
            "help": "The layers of this variant of MODEL only: for models whose layers have heads of two sizes.",
        },
    ),
    (
        (ROPE,),
        "--rounding",
        {
            "type": click.Choice(["half-up", "floor"]),
            "default": "half-up",
            "show_default": True,
            "help": "How results are rounded; floor, half an LSB low on average, is there to equal designs that do so.",
        },
    ),
    (
        (ROPE,),
        "--coefficients",
        {
            "type": click.Choice(["exact", "q15"]),
            "default": "exact",
            "show_default": True,
            "help": "q15 clips cos and sin to signed Q1.15, where 1.0 is 32767/32768, to equal designs that do so.",
        },
    ),
    (
        (ROPE,),
        "--angle-model",
        {
            "type": click.Choice(["exact", "hf_f32", "llamacpp_f32"]),
            "default": "exact",
            "show_default": True,
            "help": "Whose angles the table holds: the exact ones, or those that a software stack makes in single "
            "precision.",
        },
    ),
    (
        (ROPE,),
        "--input-pairing",
        {
            "type": click.Choice(["half", "interleaved", "paired", "both"]),
            "help": "Order of a head's elements coming in: paired beats hold N first elements of pairs, then their "
            "partners; both: each slot says whether half or interleaved.  [default: the model's own]",
        },
    ),
    (
        (ROPE,),
        "--output-pairing",
        {
            "type": click.Choice(["half", "interleaved", "paired", "both"]),
            "help": "Order of a head's elements going out.  [default: the model's own]",
        },
    ),
    (
        (ROPE,),
        "--axes",
        {
            "type": int,
            "metavar": "N",
            "help": "Axes of a position, 1 to 3: more than the model needs let models that need them be loaded into "
            "slots.  [default: what the model needs]",
        },
    ),
    (
        (ALIBI,),
        "--head-capacity",
        {
            "type": int,
            "default": 256,
            "show_default": True,
            "metavar": "H",
            "help": "Heads that the slope table has room for, a power of two from 2 to 256.",
        },
    ),
    (
        (LEARNED,),
        "--table",
        {
            "type": click.Path(),
            "metavar": "FILE",
            "help": "The position table: a .npy, .safetensors or .gguf file, or a folder with a model.  [default: "
            "MODEL's own weights]",
        },
    ),
    (
        (LEARNED,),
        "--table-tensor",
        {
            "metavar": "NAME",
            "help": "The tensor in it.  [default: the one whose name is that of a position table]",
        },
    ),
    (
        (LEARNED,),
        "--table-width",
        {
            "type": int,
            "default": 16,
            "show_default": True,
            "metavar": "T",
            "help": "Bits of a word of the table, 4 to 16; its scale is a power of two, chosen from the largest entry.",
        },
    ),
    (
        (LEARNED,),
        "--table-memory",
        {
            "type": click.Choice(["block-ram", "external"]),
            "default": "block-ram",
            "show_default": True,
            "help": "Where the table lies: in block RAM, or in memory outside, behind an AXI4 read master.",
        },
    ),
    (
        (LEARNED,),
        "--address-width",
        {
            "type": int,
            "default": 32,
            "show_default": True,
            "metavar": "A",
            "help": "Bits of an address of the read master, 16 to 64.",
        },
    ),
    (
        (LEARNED,),
        "--resize-rows",
        {
            "type": int,
            "metavar": "N",
            "help": "Interpolate the table to N rows for another context length. The model must be trained for it.",
        },
    ),
    (
        (SINUSOIDAL,),
        "--generators",
        {
            "type": int,
            "default": 1,
            "show_default": True,
            "metavar": "G",
            "help": "Generators of sines; each makes two elements per clock. At most N / 2.",
        },
    ),
    (
        (SINUSOIDAL,),
        "--amplitude",
        {
            "type": float,
            "default": 1.0,
            "show_default": True,
            "metavar": "A",
            "help": "What the sinusoids are multiplied with, above 0 and below 2: 1 / sqrt(dimension) where a model "
            "scales its embeddings and these are not scaled yet.",
        },
    ),
    (
        (SINUSOIDAL,),
        "--layout",
        {
            "type": click.Choice(["interleaved", "half"]),
            "help": "Order of a row: sine and cosine in turn, or all sines first.  [default: the model's own]",
        },
    ),
    (
        (ROPE, ALIBI),
        "--no-registers",
        {
            "is_flag": True,
            "help": "For small parts: nothing can be changed at run time; slots, head counts, mode and slopes stay, "
            "AXI4-Lite answers SLVERR.",
        },
    ),
)
"""The schemes that have an option, its name, and its settings for click."""


def generate_options(command: Callable) -> Callable:
    """Add all of :data:`OPTIONS` to a click command; a help text ends with the schemes, where those are not all."""
    for schemes, flag, settings in reversed(OPTIONS):
        who = "" if schemes == ALL else f"  ({', '.join(schemes)})"
        command = click.option(flag, **{**settings, "help": settings["help"] + who})(command)
    return command


def refuse_others(context: click.Context, found: Geometry) -> None:
    """Refuse an option on the command line that the scheme of ``found`` has not."""
    scheme = scheme_of(found)
    for schemes, flag, _ in OPTIONS:
        given = context.get_parameter_source(flag[2:].replace("-", "_")) == ParameterSource.COMMANDLINE
        if given and scheme not in schemes:
            who = " and ".join(f"{NAMES[each]} ({each})" for each in schemes)
            who = who.replace(" and ", ", ", len(schemes) - 2)
            raise InputError(
                f"{flag} is an option for {who}; {found.model_type} has {DESCRIPTIONS[scheme]} (scheme {scheme})"
            )
