"""``ropewalk generate``: from a configuration to a folder with an engine's Verilog, its tables and its description."""

from pathlib import Path

import click
from ropewalk.design import Design, default_slots
from ropewalk.emit.folder import write_design_folder
from ropewalk.lanes import default_lanes
from ropewalk.order import StreamPairing
from ropewalk.tables.slot_words import slot_crcs

from .console import note
from .geometry import facts
from .model_options import model_options
from .variants import heads_note, read_variants

EPILOG = """\b
Examples:
  ropewalk generate gemma-3-270m -o engine
  ropewalk generate path/to/config.json -o small --lanes 1 --data-width 12
  ropewalk generate path/to/config.json -o rom --source table --positions 512
  ropewalk generate llama-3.1-8b -o engine --variant yarn=qwen2.5-7b-yarn --variant glm=glm-4.5
  ropewalk generate gemma-4 -o local --only sliding_attention
"""


@click.command(epilog=EPILOG, short_help="Write the Verilog engine of a model into a folder.")
@model_options
@click.option(
    "--output",
    "-o",
    "folder",
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The folder to write. It must not exist, or be empty.",
)
@click.option(
    "--lanes",
    type=int,
    metavar="N",
    help="Pairs rotated per clock; a beat carries 2N elements.  [default: the largest of 4, 2, 1 that fits]",
)
@click.option(
    "--clocks-per-pair",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Clocks that a new row takes per pair; 1 is what there is.",
)
@click.option("--data-width", type=int, default=16, show_default=True, metavar="W", help="Bits of an element, 4 to 32.")
@click.option(
    "--coefficient-width",
    type=int,
    metavar="C",
    help="Bits of |cos| and |sin|, 8 to 24.  [default: 18, and 16 for q15 coefficients]",
)
@click.option(
    "--phase-bits",
    type=int,
    default=48,
    show_default=True,
    metavar="P",
    help="Bits of the phase, a fraction of one turn, 16 to 48: 44 suffice to position 2^20.",
)
@click.option(
    "--source",
    type=click.Choice(["synth", "table"]),
    default="synth",
    show_default=True,
    help="Where cos and sin come from: made for each token, or read from a table of all positions in block RAM.",
)
@click.option(
    "--positions",
    type=int,
    metavar="N",
    help="The first position that is refused, for every variant.  [default: each variant's max_position]",
)
@click.option(
    "--variant",
    "added",
    multiple=True,
    metavar="NAME=MODEL",
    help="Add the variants of another model with heads of the same size, behind those of MODEL, as NAME (as "
    "NAME.variant where it has several). Can be given again.",
)
@click.option(
    "--slots",
    type=int,
    metavar="S",
    help="Variants that the engine has room for, 1 to 64.  [default: 8, or as many as there are variants]",
)
@click.option(
    "--only",
    metavar="NAME",
    help="The layers of this variant of MODEL only: for models whose layers have heads of two sizes.",
)
@click.option(
    "--rounding",
    type=click.Choice(["half-up", "floor"]),
    default="half-up",
    show_default=True,
    help="How results are rounded; floor, half an LSB low on average, is there to equal designs that do so.",
)
@click.option(
    "--coefficients",
    type=click.Choice(["exact", "q15"]),
    default="exact",
    show_default=True,
    help="q15 clips cos and sin to signed Q1.15, where 1.0 is 32767/32768, to equal designs that do so.",
)
@click.option(
    "--angle-model",
    type=click.Choice(["exact", "hf_f32", "llamacpp_f32"]),
    default="exact",
    show_default=True,
    help="Whose angles the table holds: the exact ones, or those that a software stack makes in single precision.",
)
@click.option(
    "--input-pairing",
    type=click.Choice(["half", "interleaved", "paired", "both"]),
    help="Order of a head's elements coming in: paired beats hold N first elements of pairs, then their partners; "
    "both: each slot says whether half or interleaved.  [default: the model's own]",
)
@click.option(
    "--output-pairing",
    type=click.Choice(["half", "interleaved", "paired", "both"]),
    help="Order of a head's elements going out.  [default: the model's own]",
)
@click.option(
    "--axes",
    type=int,
    metavar="N",
    help="Axes of a position, 1 to 3: more than the model needs let models that need them be loaded into slots."
    "  [default: what the model needs]",
)
@click.option(
    "--no-registers",
    is_flag=True,
    help="For small parts: nothing can be changed at run time; slots and head counts stay, AXI4-Lite answers SLVERR.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Write into DIR although it is not empty: replaces what generate wrote there, leaves other files alone.",
)
def generate(
    model: str,
    sequence_length: int | None,
    pairing: str | None,
    follow: str,
    verbose: bool,
    folder: Path,
    lanes: int | None,
    clocks_per_pair: int,
    data_width: int,
    coefficient_width: int | None,
    phase_bits: int,
    source: str,
    positions: int | None,
    added: tuple[str, ...],
    slots: int | None,
    only: str | None,
    rounding: str,
    coefficients: str,
    angle_model: str,
    axes: int | None,
    no_registers: bool,
    input_pairing: StreamPairing | None,
    output_pairing: StreamPairing | None,
    force: bool,
) -> None:
    """Write the rotary engine of MODEL into the folder DIR.

    MODEL is a config.json as Hugging Face publishes it, a GGUF file, a folder that holds one of them, or the name of
    a preset (see `models`). DIR gets the Verilog, the table files that it reads, design.json (every parameter; `run`
    and `verify` read it) and a README of the ports. The same input gives the same bytes on any machine.
    """
    found = read_variants(model, sequence_length, pairing, follow, verbose, only=only, added=added)
    if coefficient_width is None:
        coefficient_width = 16 if coefficients == "q15" else 18
    design = Design(
        geometry=found,
        lanes=default_lanes(found, input_pairing, output_pairing) if lanes is None else lanes,
        data_width=data_width,
        coefficient_width=coefficient_width,
        rounding=rounding,  # type: ignore[arg-type]  # click has checked it
        coefficients=coefficients,  # type: ignore[arg-type]  # click has checked it
        angle_model=angle_model,  # type: ignore[arg-type]  # click has checked it
        phase_bits=phase_bits,
        source=source,  # type: ignore[arg-type]  # click has checked it
        positions=positions,
        clocks_per_pair=clocks_per_pair,
        slots=default_slots(found) if slots is None else slots,
        registers=not no_registers,
        input_pairing=input_pairing,
        output_pairing=output_pairing,
        position_axes=axes,
    )
    write_design_folder(design, folder, force=force)
    for line in summary(design):
        click.echo(line)
    click.echo(f"written to {folder}:")
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        click.echo(f"  {file.relative_to(folder).as_posix():<24}{file.stat().st_size:>10,} bytes")
    for sentence in (order_note(design), heads_note(design)):
        if sentence:
            note(sentence)
    if angle_model != "exact":
        note(
            f"the table follows the single-precision angles of {angle_model}, whose error grows with the position: "
            f"verify's figures against the exact angle show it."
        )
    loud = [variant.name for variant in design.variants if variant.amplitude > 1]
    if coefficients == "q15" and loud:
        note(
            f"Q1.15 cannot hold the amplitude of {', '.join(loud)}: cos and sin are clipped at 1, so vectors are not "
            f"only turned but bent; exact coefficients hold it."
        )


def summary(design: Design) -> list[str]:
    """What ``design`` is, in a few lines for a person."""
    found = design.geometry
    lines = [f"{found.model_type}: rotary engine"]
    lines += [f"  {name:<18}{value}" for name, value in facts(found)]
    described = zip(design.variants, design.limits, slot_crcs(design), strict=True)
    for slot, (variant, limit, crc) in enumerate(described):
        slot_text = f"{variant.name}, amplitude {variant.amplitude:.6g}, positions 0 to {limit - 1:,}"
        if len(set(design.rates)) > 1:
            slot_text += f", {design.rates[slot]:.2f} beats per clock"
        if design.registers:
            slot_text += f", CRC {crc:08x}"
        lines.append(f"  {f'slot {slot}':<18}{slot_text}")
    rows = "made for each token" if design.source == "synth" else "read from a table"
    if design.angle_model != "exact":
        rows += f" of {design.angle_model} angles"
    if design.axes > 1:
        lines.append(f"  {'axes':<18}{design.axes} of a position: a descriptor has {1 + design.axes} words")
    rate = ("at least " if len(set(design.rates)) > 1 else "") + f"{design.beats_per_clock:.2f} beats per clock"
    lines += [
        f"  {'source of rows':<18}{design.source}: {rows}",
        f"  {'widths':<18}{design.data_width}-bit data, {design.coefficient_width}-bit coefficients, "
        f"{design.phase_bits}-bit phase",
        f"  {'lanes':<18}{design.lanes}: {design.elements} elements per beat, {design.beats_per_token} per token, "
        f"{rate} where every token has a new position",
        f"  {'element order':<18}{design.input_pairing} in, {design.output_pairing} out",
    ]
    return lines


def order_note(design: Design) -> str | None:
    """What a user must know whose model orders elements otherwise than the engine's streams; else None."""
    for slot, variant in enumerate(design.variants):
        order, own = design.order(slot), design.geometry.of(slot)
        if (order.input_pairing, order.output_pairing) != (own.pairing, own.output_pairing):
            return (
                f"for {variant.name} this engine takes elements in {order.input_pairing} order and gives them in "
                f"{order.output_pairing} order, and the model has them in {own.pairing} and in {own.output_pairing} "
                f"order: whoever drives its streams must bring them into order (run and verify do; the README in the "
                f"folder describes the orders)."
            )
    return None
