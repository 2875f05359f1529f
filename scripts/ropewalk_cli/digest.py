"""``ropewalk digest``: the geometry digest of a model or an engine, and what it covers."""

import json
from typing import Any

import click
from ropewalk.comparison import Subject, covered_bytes
from ropewalk.design import Design
from ropewalk.tables.other_digests import PHASE_BITS, sinusoidal_limit
from ropewalk.tables.slot_words import slot_crcs

from .model_options import model_options
from .subjects import described, read_subject

COVERED = ("head_dim", "rotary_dim", "rotary_start", "pairing", "output_pairing")
"""What of a variant's shape a digest covers: at the top that of slot 0, in a variant its own where it differs."""

EPILOG = """\b
Examples:
  ropewalk digest llama-3.1-8b
  ropewalk digest path/to/config.json --json
  ropewalk digest engine        the folder that generate wrote
"""


@click.command(epilog=EPILOG, short_help="Print the SHA-256 of a geometry's integers.")
@model_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document: the digest and what it covers.")
def digest(
    model: str, sequence_length: int | None, pairing: str | None, follow: str, verbose: bool, as_json: bool
) -> None:
    """Print the geometry digest of MODEL: the SHA-256 of the integers that its positional encoding is made of.

    Two workers with the same digest turn (or bias, or look up) alike. MODEL may also be a DIR that `generate` wrote;
    the options then change nothing.

    The digest of a model is that of the engine that `generate` makes of it by default: 48-bit steps, each variant's
    own number of positions (at most 2^24), exact angles. An engine made with other --phase-bits, --positions or
    --angle-model has other integers, and another digest; lanes, widths, rounding and the source of rows change
    nothing. Names, layers and head counts are not covered, nor are the weights of a learned table. The bytes are
    specified in docs/number-contract.md.
    """
    subject = read_subject(model, sequence_length, pairing, follow, verbose=verbose)
    found = described(model, subject)
    if as_json:
        found["bytes"] = len(covered_bytes(subject))
        found["covers"] = covers(subject)
        if isinstance(subject, Design) and subject.registers:
            found["slots"] = slots(subject)
        click.echo(json.dumps(found, indent=1, allow_nan=False))
    else:
        click.echo(found["digest"])


def slots(design: Design) -> list[dict[str, Any]]:
    """What the registers of an engine must show: the CRC-32 of each slot."""
    return [
        {"name": variant.name, "slot": slot, "crc": f"{crc:08x}"}
        for slot, (variant, crc) in enumerate(zip(design.variants, slot_crcs(design), strict=True))
    ]


def covers(subject: Subject) -> dict[str, Any]:
    """The values that the digest of ``subject`` is made of, without the long lists."""
    if not isinstance(subject, Design):
        values = {
            name: value
            for name, value in vars(subject).items()
            if name not in ("model_type", "notes", "slopes", "inverse_frequency")
        }
        if "max_position" in values:
            values |= {
                "max_position": sinusoidal_limit(subject),  # type: ignore[arg-type]  # only sinusoids have the field
                "phase_bits": PHASE_BITS,
                "pairs": len(vars(subject)["inverse_frequency"]),
            }
        return values
    variants = [
        {
            "name": variant.name,
            "amplitude": variant.amplitude,
            "max_position": limit,
            "pairs": len(variant.inverse_frequency),
            "axes": sorted(set(variant.axis or (0,))),
        }
        | {key: getattr(variant, key) for key in COVERED if getattr(variant, key) is not None}
        for variant, limit in zip(subject.variants, subject.limits, strict=True)
    ]
    shape = subject.shapes[0]
    return {
        **{key: getattr(shape, key) for key in COVERED},
        "phase_bits": subject.phase_bits,
        "angle_model": subject.angle_model,
        "variants": variants,
    }
