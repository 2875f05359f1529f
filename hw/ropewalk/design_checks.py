"""What a design may be made of: every refusal of a choice, with the sentence that the user reads."""

from typing import TYPE_CHECKING, get_args

from .errors import InputError
from .family import check_family
from .formats import Format
from .geometry.rotary import RotaryGeometry
from .geometry.software import Software, check_software
from .lanes import MAX_HEAD_DIM
from .order import StreamPairing

if TYPE_CHECKING:
    from .design import Design

MAX_HEADS = 255
"""Heads of each kind that a register can count."""

MAX_SLOTS = 64

CLOCKS_PER_PAIR = (1, 2, 4, 8)
"""Clocks that a row may take for each of its pairs."""

MAX_TABLE_ENTRIES = 1 << 22
"""Pairs that a table source may hold in all: beyond this no FPGA could hold it and Python should not try."""


def check_range(what: str, value: object, low: int, high: int) -> None:
    """Refuse a ``value`` that is not an integer from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"{what} must be an integer from {low} to {high}, not {value!r}")


def check_choices(design: "Design") -> None:
    """Refuse widths and names that there are not, and choices that exclude each other."""
    check_range("data width", design.data_width, 4, 32)
    check_range("coefficient width", design.coefficient_width, 8, 24)
    check_range("phase bits", design.phase_bits, 16, 48)
    check_range("slots", design.slots, 1, MAX_SLOTS)
    check_range("value heads", design.value_heads, 0, MAX_HEADS)
    if design.source not in ("synth", "table"):
        raise InputError(f"source must be synth or table, not {design.source!r}")
    clocks = design.clocks_per_pair
    if isinstance(clocks, bool) or clocks not in CLOCKS_PER_PAIR:
        known = ", ".join(map(str, CLOCKS_PER_PAIR[:-1]))
        raise InputError(f"clocks per pair must be {known} or {CLOCKS_PER_PAIR[-1]}, not {clocks!r}")
    if design.source == "table" and clocks != 1:
        raise InputError(
            f"a table takes no multipliers that {clocks} clocks per pair could share: use the synth source, or 1 clock "
            f"per pair"
        )
    check_family(design.family)
    if design.lane_multipliers not in ("dsp", "luts"):
        raise InputError(f"lane multipliers must be dsp or luts, not {design.lane_multipliers!r}")
    if design.rounding not in ("half-up", "floor"):
        raise InputError(f"rounding must be half-up or floor, not {design.rounding!r}")
    if design.coefficients not in ("exact", "q15"):
        raise InputError(f"coefficients must be exact or q15, not {design.coefficients!r}")
    if design.coefficients == "q15" and design.coefficient_width != 16:
        raise InputError(f"q15 coefficients have a width of 16, not {design.coefficient_width}")
    for side, pairing in (("input", design.input_pairing), ("output", design.output_pairing)):
        if pairing is not None and pairing not in get_args(StreamPairing):
            raise InputError(f"{side} pairing must be half, interleaved, paired or both, not {pairing!r}")
    if design.angle_model not in ("exact", *get_args(Software)):
        raise InputError(f"angle model must be exact, hf_f32 or llamacpp_f32, not {design.angle_model!r}")
    if design.angle_model != "exact" and design.source != "table":
        raise InputError(
            f"the angle model {design.angle_model} needs the table source: the synth source makes exact angles"
        )


def check_variants(design: "Design", amplitude: Format) -> None:
    """Refuse variants that no slot holds: too many, heads out of range, an amplitude that is no ``amplitude`` word."""
    geometry = design.geometry
    for shape in design.shapes:
        check_range("query heads", shape.query_heads, 1, MAX_HEADS)
        check_range("key heads", shape.key_heads, 1, MAX_HEADS)
        check_range("head_dim", shape.head_dim, 2, MAX_HEAD_DIM)
    if len(geometry.variants) > design.slots:
        raise InputError(f"the model has {len(geometry.variants)} variants, which do not fit {design.slots} slots")
    for variant in geometry.variants:
        if not 0 < variant.amplitude <= amplitude.maximum / amplitude.one:
            raise InputError(
                f"the amplitude of variant {variant.name} is {variant.amplitude:.6g}; an engine holds amplitudes "
                f"above 0 and up to 2 - 2^-17"
            )
        if design.angle_model != "exact":
            pairs = len(variant.inverse_frequency)
            check_software(variant.recipe, design.angle_model, variant.name, variant.amplitude, pairs)


def check_table(design: "Design") -> None:
    """Refuse a table of more entries than :data:`MAX_TABLE_ENTRIES`."""
    pairs = [shape.pairs for shape in design.shapes]
    entries = sum(limit * count for limit, count in zip(design.limits, pairs, strict=True))
    if entries > MAX_TABLE_ENTRIES:
        megabits = entries * design.row_entry_bits / 1e6
        each = str(pairs[0]) if len(set(pairs)) == 1 else f"{min(pairs)} to {max(pairs)}"
        raise InputError(
            f"a table of {sum(design.limits)} positions x {each} pairs takes {megabits:.0f} Mbit, more than any block "
            f"RAM holds; give fewer positions (at most {MAX_TABLE_ENTRIES // max(pairs)} over all variants) or use the "
            f"synth source"
        )


def check_head_sizes(geometry: RotaryGeometry) -> None:
    """Refuse variants whose heads have different sizes: an engine has one."""
    sizes = {variant.name: geometry.of(slot).head_dim for slot, variant in enumerate(geometry.variants)}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name}: {size} elements" for name, size in sizes.items())
        raise InputError(
            f"the variants have heads of different sizes ({listed}), and an engine has one: make an engine for each "
            f"size, with --only NAME"
        )


def check_engine(design: "Design") -> None:
    """Refuse a design that no engine of this version can be made of (a digest of its geometry can)."""
    geometry = design.geometry
    check_head_sizes(geometry)
    if design.slots_of_other_heads and not design.registers:
        counts = ", ".join(
            f"{variant.name}: {shape.query_heads} query and {shape.key_heads} key heads"
            for variant, shape in zip(geometry.variants, design.shapes, strict=True)
        )
        raise InputError(
            f"the variants have different numbers of heads ({counts}), and an engine without registers has one number "
            f"of each: leave --no-registers out, or hold variants of one number only"
        )
