"""The page that lies in a generated folder: its ports and the layout of a beat, for that very design."""

from ..design import Design


def folder_page(design: Design, *, latency: int, files: list[str]) -> str:
    """The folder's README.md."""
    geometry = design.geometry
    queries, keys, values = design.heads
    word = design.container_bits
    data_bits = design.elements * word
    lines = [
        f"# {geometry.model_type}: a rotary engine",
        "",
        f"Written by `ropewalk generate`. Top module `ropewalk`, {design.lanes} pairs per clock, "
        f"{design.data_width}-bit elements, {design.coefficient_width}-bit coefficients, "
        + ("rows made on the fly" if design.source == "synth" else "rows from a full table")
        + ".",
        "",
        "| file | what it is |",
        "|---|---|",
        "| `design.json` | every parameter; all `ropewalk` commands read it |",
    ]
    purpose = {
        "ropewalk.v": "the engine, portable Verilog",
        "slots.hex": "per slot: loaded, limit, amplitude or place in the table",
        "steps.hex": "per slot and pair: the step, in turns",
        "sine.hex": "an octant of sines with their slopes",
        "rows.hex": "cos and sin of every position",
    }
    lines += [f"| `{name}` | {purpose[name]} |" for name in files]
    lines += [
        "",
        "The `.hex` files are read by `$readmemh` under these names: run simulators and synthesis in this folder, or "
        "with copies of them beside their working directory.",
        "",
        "## Ports",
        "",
        "| port | direction | bits | meaning |",
        "|---|---|---|---|",
        "| `aclk`, `aresetn` | in | 1 | clock; synchronous reset, active low |",
        "| `s_axis_token_tdata` | in | 64 | token descriptor, below; with `tvalid`, `tready` |",
        f"| `s_axis_tdata` | in | {data_bits} | a beat of {design.elements} elements; with `tvalid`, `tready`, "
        "`tlast`, `tid[7:0]` |",
        f"| `m_axis_tdata` | out | {data_bits} | the rotated beat; with `tvalid`, `tready`, `tlast`, `tid[7:0]`, "
        "`tuser[2:0]` |",
        "| `s_axil_*` | | 32 | AXI4-Lite, 12-bit addresses; every access is answered with SLVERR (no registers yet) |",
        "",
        "## Token descriptor, one beat",
        "",
        "| bits | meaning |",
        "|---|---|",
        "| 7:0 | slot |",
        "| 8 | inverse: rotate by the negated angle |",
        "| 9 | pass: do not rotate |",
        "| 10 | unit amplitude |",
        "| 23:16 | tag: the TID of the token's data |",
        "| 63:32 | position |",
        "",
        "| slot | variant | amplitude | positions |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {slot} | {variant.name} | {variant.amplitude:.9g} | 0 to {limit - 1} |"
        for slot, (variant, limit) in enumerate(zip(design.variants, design.limits, strict=True))
    ]
    last = design.beats_per_head - 1
    lines += [
        "",
        "Other slots are empty. A position past the last one, or an empty slot, passes the token unrotated with its "
        "error bit set.",
        "",
        "## Data",
        "",
        f"A token is {queries} query heads, {keys} key heads and {values} value heads, in this order: "
        f"{design.beats_per_token} beats, TLAST on the last. A head is {geometry.head_dim} elements in "
        f"{design.beats_per_head} beats.",
        "",
        f"Element e of a beat stands in bits {word}e + {design.data_width - 1} down to {word}e, two's complement, "
        f"sign-extended to {word} bits. Beat b of a head (0 to {last}) carries elements {design.elements}b to "
        f"{design.elements}b + {design.elements - 1} of it.",
        "",
        "Elements of query and key heads:",
        "",
        f"- in, **{design.input_order}** order: {pair_places(design, design.input_order)}",
        f"- out, **{design.output_order}** order: {pair_places(design, design.output_order)}",
    ]
    if (design.input_order, design.output_order) != (geometry.pairing, geometry.output_pairing):
        lines += [
            "",
            f"The model itself has them in {geometry.pairing} order before the rotation and in "
            f"{geometry.output_pairing} order after it. Scores do not depend on the order of the output, as long as "
            f"queries and keys have the same.",
        ]
    if geometry.rotary_dim < geometry.head_dim:
        end = geometry.rotary_start + geometry.rotary_dim
        lines += ["", f"Elements {geometry.rotary_start} to {end - 1} of a head rotate; the others pass bit for bit."]
    lines += [
        "",
        "`m_axis_tuser`: bit 0 error, bits 2:1 kind (0 query, 1 key, 2 value). `m_axis_tid` is the token's tag.",
        "",
        "## Rate and latency",
        "",
        f"Steady rate {design.beats_per_clock:.3f} beats per clock with a new row for every token. First rotated beat "
        f"of an idle engine {latency} clocks after its descriptor, data waiting.",
        "",
    ]
    return "\n".join(lines)


def pair_places(design: Design, order: str) -> str:
    """Where pair i stands in a head, for a person."""
    start, half, lanes = design.geometry.rotary_start, design.geometry.rotary_dim // 2, design.lanes
    shift = f"{start} + " if start else ""
    if order == "interleaved":
        return f"elements {shift}2i and {shift}2i + 1 are pair i, for i = 0 to {half - 1}."
    if order == "half":
        return f"elements {shift}i and {start + half} + i are pair i, for i = 0 to {half - 1}."
    first = design.order.first // lanes
    text = (
        f"beat {first} + p of a head holds elements {shift}{lanes}p to {shift}{lanes}p + {lanes - 1} of half order and "
        f"then their partners, {start + half} + {lanes}p to {start + half} + {lanes}p + {lanes - 1}, for p = 0 to "
        f"{half // lanes - 1}. "
    )
    if design.order.odd:
        text += (
            f"Beat {first + half // lanes} holds elements {start - lanes} to {start - 1} and {start + 2 * half} to "
            f"{start + 2 * half + lanes - 1}. "
        )
    return text + "All other beats are in their places."
