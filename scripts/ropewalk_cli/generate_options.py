"""The options of ``generate``, each with the schemes that have it: any other is refused, by the option's name."""

from collections.abc import Callable
from typing import Any, TypeAlias

import click
from click.core import ParameterSource
from ropewalk.errors import InputError
from ropewalk.family import FAMILIES
from ropewalk.geometry import DESCRIPTIONS, Geometry, scheme_of

ROPE, ALIBI, LEARNED, SINUSOIDAL = "rope", "alibi", "learned", "sinusoidal"
UNITS = (ALIBI, LEARNED, SINUSOIDAL)
ALL = (ROPE, *UNITS)
NAMES = {ROPE: "rotary engines", ALIBI: "ALiBi", LEARNED: "learned tables", SINUSOIDAL: "sinusoids"}

Option: TypeAlias = tuple[tuple[str, ...], str, dict[str, Any]]


def option(schemes: tuple[str, ...], flag: str, *, text: str, **settings: Any) -> Option:
    """An option of ``schemes``; its help ends with their names, where those are not all."""
    if settings.get("default") is not None:
        settings["show_default"] = True
    who = "" if schemes == ALL else f"  ({', '.join(schemes)})"
    return schemes, flag, {**settings, "help": text + who}


OPTIONS: tuple[Option, ...] = (
    option(
        ALL, "--lanes", type=int, metavar="N",
        text="Pairs rotated per clock; a beat carries 2N elements. For the other schemes, elements (scores) of a "
        "beat.  [default: the largest of 4, 2, 1 that fits; 4 for the others]",
    ),
    option(
        (ROPE,), "--clocks-per-pair", type=int, default=1, metavar="N",
        text="Clocks that a new row takes per pair: 1, or 2, 4 or 8, over which the synth source shares its "
        "multipliers, as small parts need. No bit depends on it.",
    ),
    option(
        ALL, "--data-width", type=int, default=16, metavar="W",
        text="Bits of an element, 4 to 32 (ALiBi: 8 to 32).",
    ),
    option(
        UNITS, "--fraction-bits", type=int, default=8, metavar="F",
        text="An element's LSB stands for 2^-F.",
    ),
    option(
        (ROPE, SINUSOIDAL), "--coefficient-width", type=int, metavar="C",
        text="Bits of |cos| and |sin|, 8 to 24.  [default: 18; 16 for q15 coefficients and for ice40]",
    ),
    option(
        (ROPE, SINUSOIDAL), "--phase-bits", type=int, default=48, metavar="P",
        text="Bits of the phase, a fraction of one turn, 16 to 48: 44 suffice to position 2^20.",
    ),
    option(
        (ROPE,), "--source", type=click.Choice(["synth", "table"]), default="synth",
        text="Where cos and sin come from: made for each token, or read from a table of all positions in block "
        "RAM.",
    ),
    option(
        (ROPE, LEARNED, SINUSOIDAL), "--positions", type=int, metavar="N",
        text="The first position that is refused, for every variant; of a learned table, what lies past it is left"
        " out.  [default: each variant's max_position]",
    ),
    option(
        (ROPE,), "--variant", multiple=True, metavar="NAME=MODEL",
        text="Add the variants of another model with heads of the same size, behind those of MODEL, as NAME (as "
        "NAME.variant where it has several). Can be given again.",
    ),
    option(
        (ROPE,), "--slots", type=int, metavar="S",
        text="Variants that the engine has room for, 1 to 64.  [default: 8, or as many as there are variants]",
    ),
    option(
        (ROPE,), "--only", metavar="NAME",
        text="The layers of this variant of MODEL only: for models whose layers have heads of two sizes.",
    ),
    option(
        (ROPE,), "--rounding", type=click.Choice(["half-up", "floor"]), default="half-up",
        text="How results are rounded; floor, half an LSB low on average, is there to equal designs that do so.",
    ),
    option(
        (ROPE,), "--coefficients", type=click.Choice(["exact", "q15"]), default="exact",
        text="q15 clips cos and sin to signed Q1.15, where 1.0 is 32767/32768, to equal designs that do so.",
    ),
    option(
        (ROPE,), "--angle-model", type=click.Choice(["exact", "hf_f32", "llamacpp_f32"]), default="exact",
        text="Whose angles the table holds: the exact ones, or those that a software stack makes in single "
        "precision.",
    ),
    option(
        (ROPE,), "--input-pairing", type=click.Choice(["half", "interleaved", "paired", "both"]),
        text="Order of a head's elements coming in: paired beats hold N first elements of pairs, then their "
        "partners; both: each slot says whether half or interleaved.  [default: the model's own]",
    ),
    option(
        (ROPE,), "--output-pairing", type=click.Choice(["half", "interleaved", "paired", "both"]),
        text="Order of a head's elements going out.  [default: the model's own]",
    ),
    option(
        (ROPE,), "--axes", type=int, metavar="N",
        text="Axes of a position, 1 to 3: more than the model needs let models that need them be loaded into "
        "slots.  [default: what the model needs]",
    ),
    option(
        (ALIBI,), "--head-capacity", type=int, default=256, metavar="H",
        text="Heads that the slope table has room for, a power of two from 2 to 256.",
    ),
    option(
        (LEARNED,), "--table", type=click.Path(), metavar="FILE",
        text="The position table: a .npy, .safetensors or .gguf file, or a folder with a model.  [default: MODEL's"
        " own weights]",
    ),
    option(
        (LEARNED,), "--table-tensor", metavar="NAME",
        text="The tensor in it.  [default: the one whose name is that of a position table]",
    ),
    option(
        (LEARNED,), "--table-width", type=int, default=16, metavar="T",
        text="Bits of a word of the table, 4 to 16; its scale is a power of two, chosen from the largest entry.",
    ),
    option(
        (LEARNED,), "--table-memory", type=click.Choice(["block-ram", "external"]), default="block-ram",
        text="Where the table lies: in block RAM, or in memory outside, behind an AXI4 read master.",
    ),
    option(
        (LEARNED,), "--address-width", type=int, default=32, metavar="A",
        text="Bits of an address of the read master, 16 to 64.",
    ),
    option(
        (LEARNED,), "--resize-rows", type=int, metavar="N",
        text="Interpolate the table to N rows for another context length. The model must be trained for it.",
    ),
    option(
        (SINUSOIDAL,), "--generators", type=int, default=1, metavar="G",
        text="Generators of sines; each makes two elements per clock. At most N / 2.",
    ),
    option(
        (SINUSOIDAL,), "--amplitude", type=float, default=1.0, metavar="A",
        text="What the sinusoids are multiplied with, above 0 and below 2: 1 / sqrt(dimension) where a model "
        "scales its embeddings and these are not scaled yet.",
    ),
    option(
        (SINUSOIDAL,), "--layout", type=click.Choice(["interleaved", "half"]),
        text="Order of a row: sine and cosine in turn, or all sines first.  [default: the model's own]",
    ),
    option(
        ALL, "--family", type=click.Choice(FAMILIES), default="generic",
        text="Parts that the Verilog is for: with their multipliers and block RAMs and the registers inside them, or "
        "written for any synthesis tool. No bit and no clock depends on it.",
    ),
    option(
        (ROPE,), "--lane-multipliers", type=click.Choice(["dsp", "luts"]), default="dsp",
        text="What the lanes multiply with: the part's multiplier blocks, or look-up tables. No bit and no clock "
        "depends on it.",
    ),
    option(
        (ROPE, ALIBI), "--no-registers", is_flag=True,
        text="For small parts: nothing can be changed at run time; slots, head counts, mode and slopes stay, "
        "AXI4-Lite answers SLVERR.",
    ),
)  # fmt: skip
"""The schemes that have an option, its name, and its settings for click."""


def generate_options(command: Callable) -> Callable:
    """Add all of :data:`OPTIONS` to a click command."""
    for _, flag, settings in reversed(OPTIONS):
        command = click.option(flag, **settings)(command)
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
