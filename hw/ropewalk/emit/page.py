"""The page that lies in a generated folder: its ports and the layout of a beat, for that very design."""

from ..design import Design
from ..gateware.register_map import register_map
from .family_page import VERILOG, family_part


def folder_page(design: Design, *, latency: int, crcs: list[int], files: list[str]) -> str:
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
        + (", lanes that multiply in look-up tables" if design.lane_multipliers == "luts" else "")
        + ".",
        "",
        "| file | what it is |",
        "|---|---|",
        "| `design.json` | every parameter; all `ropewalk` commands read it |",
    ]
    purpose = {
        "ropewalk.v": f"the engine, {VERILOG[design.family]}",
        "sequencer.v": "the module `ropewalk_sequencer`: makes its token descriptors from prefill and decode commands",
        "registers.h": "its registers for a C program",
        "slots.hex": "what each slot holds from the start, besides its steps: slice, limit, amplitude",
        "steps.hex": "per slot and pair: the step, in turns, and the axis",
        "sine.hex": "an octant of sines with their slopes",
        "rows.hex": "cos and sin of every position",
    }
    lines += [f"| `{name}` | {purpose[name]} |" for name in files]
    lines += [
        "",
        *family_part(design.family, files),
        "## Ports",
        "",
        "| port | direction | bits | meaning |",
        "|---|---|---|---|",
        "| `aclk`, `aresetn` | in | 1 | clock; synchronous reset, active low |",
        f"| `s_axis_token_tdata` | in | {32 * (1 + design.axes)} | token descriptor, below; with `tvalid`, `tready` |",
        f"| `s_axis_tdata` | in | {data_bits} | a beat of {design.elements} elements; with `tvalid`, `tready`, "
        "`tlast`, `tid[7:0]` |",
        f"| `m_axis_tdata` | out | {data_bits} | the rotated beat; with `tvalid`, `tready`, `tlast`, `tid[7:0]`, "
        "`tuser[2:0]` |",
        "| `s_axil_*` | | 32 | AXI4-Lite, 12-bit addresses: "
        + ("the registers below |" if design.registers else "no registers, every access is answered with SLVERR |"),
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
        *(f"| {63 + 32 * axis}:{32 + 32 * axis} | position{on} |" for axis, on in enumerate(axis_names(design))),
        "",
        *axes_part(design),
        "| slot | variant | rotated elements | amplitude | positions | beats per clock | CRC-32 |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {slot} | {variant.name} | {shape.rotated.start} to {shape.rotated.stop - 1} | {variant.amplitude:.9g} "
        f"| 0 to {limit - 1} | {rate:.3f} | `{crc:08x}` |"
        for slot, (variant, shape, limit, rate, crc) in enumerate(
            zip(design.variants, design.shapes, design.limits, design.rates, crcs, strict=True)
        )
    ]
    last = design.beats_per_head - 1
    anywhere = " on any axis" if design.axes > 1 else ""
    lines += [
        "",
        f"There are {design.slots} slots"
        + (", the others empty until they are loaded over the registers" if design.loadable else ", the others empty")
        + f". A position past the last one{anywhere}, or an empty slot, passes the token unrotated with its error bit "
        "set.",
        "",
        *SEQUENCER_PART,
        *(registers_part(design) if design.registers else []),
        "",
        "## Data",
        "",
        f"A token is {queries} query heads, {keys} key heads and {values} value heads"
        + (", unless the registers are told otherwise" if design.registers else "")
        + f", in this order: {design.beats_per_token} beats, TLAST on the last. A head is "
        f"{geometry.head_dim} elements in {design.beats_per_head} beats.",
        "",
        f"Element e of a beat stands in bits {word}e + {design.data_width - 1} down to {word}e, two's complement, "
        f"sign-extended to {word} bits. Beat b of a head (0 to {last}) carries elements {design.elements}b to "
        f"{design.elements}b + {design.elements - 1} of it.",
        "",
        "Elements of query and key heads:",
        "",
        *element_orders(design),
    ]
    if any(shape.rotary_dim < shape.head_dim for shape in design.shapes):
        lines += ["", "Elements of a head that a variant does not rotate pass bit for bit."]
    for slot in design.slots_of_other_heads:
        shape = design.shapes[slot]
        lines += [
            "",
            f"Tokens of {design.variants[slot].name} have {shape.query_heads} query and {shape.key_heads} key heads: "
            "the registers `query_heads` and `key_heads` must say so before their descriptors.",
        ]
    lines += [
        "",
        "`m_axis_tuser`: bit 0 error, bits 2:1 kind (0 query, 1 key, 2 value). `m_axis_tid` is the token's tag.",
        "",
        "## Rate and latency",
        "",
        ("At least" if len(set(design.rates)) > 1 else "Steady rate")
        + f" {design.beats_per_clock:.3f} beats per clock with a new row for every token. First rotated beat of an "
        f"idle engine {latency} clocks after its descriptor, data waiting."
        + (f" A new row takes {design.clocks_per_pair} clocks per pair." if design.clocks_per_pair > 1 else ""),
        "",
    ]
    return "\n".join(lines)


def axis_names(design: Design) -> list[str]:
    """What to add to "position" for each axis: nothing where there is one."""
    return [""] if design.axes == 1 else [f" on axis {axis}" for axis in range(design.axes)]


def axes_part(design: Design) -> list[str]:
    """What a position of several axes is, in one paragraph; nothing where it has one."""
    if design.axes == 1:
        return []
    followed = sorted({axis for variant in design.variants for axis in variant.axis or (0,)})
    return [
        f"Positions have {design.axes} axes: 0 time, 1 height, 2 width. Each pair follows the axis that its slot says; "
        f"the slots from the start follow {', '.join(map(str, followed))}. Text has the same position on every axis.",
        "",
    ]


SEQUENCER_PART = [
    "## Sequencer",
    "",
    "`ropewalk_sequencer` in `sequencer.v` makes descriptors, where the host would rather not: connect its "
    "`m_axis_token_*` to `s_axis_token_*`, and send it a command (`s_axis_command_*`, 128 bits, one beat) per prompt "
    "and per decoded token. One counter gives all positions.",
    "",
    "| bits | meaning |",
    "|---|---|",
    "| 23:0 | slot, flags and tag, as in a descriptor; the tag is that of the first token and counts up, modulo 256 |",
    "| 24 | set: the counter becomes *start* first; otherwise it goes on where it was, 0 after reset |",
    "| 25 | decode: one token; otherwise *count* tokens |",
    "| 26 | same tag: every token has the tag of the command |",
    "| 63:32 | start |",
    "| 95:64 | count; 0 makes no token |",
    "",
    "The other bits are 0. The counter stops at 2^32 - 1, which is no position.",
    "",
]


def registers_part(design: Design) -> list[str]:
    """The chapter on the registers: the ones that most users need, with their addresses."""
    address = {name: register.address for name, register in register_map().items()}
    queries, keys, values = design.heads
    shown = {
        "identity": "the letters ROPE: 0x45504f52",
        "control": "write 1: bit 0 soft reset, 1 snapshot of the counters, 2 clear the counters, 3 flush",
        "status": "sticky error bits; a 1 written to a bit clears it",
        "query_heads": f"query heads of a token, {queries} after reset",
        "key_heads": f"key heads, {keys} after reset",
        "value_heads": f"value heads, {values} after reset",
        **{
            f"offset[{axis}]": f"added to every position{on} (signed), 0 after reset"
            for axis, on in enumerate(axis_names(design))
        },
        "load_begin": "write a slot's number: begin to load it",
        "load_data": "write its words, one after the other",
        "load_commit": "write anything: the words become the slot's content, or are refused (SLVERR)",
        "load_state": "bit 0 loading, 1 busy, 2 a CRC is being computed, 10:8 reason of the last refusal",
        "tokens": "tokens that came out, as of the last snapshot; seven more counters follow it",
        "geometry_crc[0]": "CRC-32 of what slot 0 holds, the table above; slot n at 4n more",
    }
    if not design.loadable:
        shown = {name: text for name, text in shown.items() if not name.startswith("load")}
    return [
        "## Registers",
        "",
        "| address | register | |",
        "|---|---|---|",
        *(f"| 0x{address[name]:03x} | `{name}` | {text} |" for name, text in shown.items()),
        "",
        "A CRC register reads 0 until the hardware has computed it from its memories, after configuration and after "
        "each commit. A slot that is loaded keeps its content through every reset. All registers and the words of a "
        "load are specified in Ropewalk's `docs/registers.md` and `docs/ports.md`.",
        "",
    ]


def element_orders(design: Design) -> list[str]:
    """Where the pairs of each variant stand, in and out."""
    lines = []
    for slot, variant in enumerate(design.variants):
        order, own = design.order(slot), design.geometry.of(slot)
        of = f" of variant `{variant.name}`" if len(set(design.orders)) > 1 else ""
        if of or slot == 0:
            lines += [
                f"- in{of}, **{order.input_pairing}** order: {pair_places(design, slot, order.input_pairing)}",
                f"- out{of}, **{order.output_pairing}** order: {pair_places(design, slot, order.output_pairing)}",
            ]
        if (of or slot == 0) and (order.input_pairing, order.output_pairing) != (own.pairing, own.output_pairing):
            lines += [
                "",
                f"The model itself has them in {own.pairing} order before the rotation and in {own.output_pairing} "
                f"order after it. Scores do not depend on the order of the output, as long as queries and keys have "
                f"the same.",
            ]
    return lines


def pair_places(design: Design, slot: int, pairing: str) -> str:
    """Where pair i of a head of ``slot`` stands, for a person."""
    order, own, lanes = design.order(slot), design.geometry.of(slot), design.lanes
    start, half = own.rotary_start, own.rotary_dim // 2
    shift = f"{start} + " if start else ""
    if pairing == "interleaved":
        return f"elements {shift}2i and {shift}2i + 1 are pair i, for i = 0 to {half - 1}."
    if pairing == "half":
        return f"elements {shift}i and {start + half} + i are pair i, for i = 0 to {half - 1}."
    first = order.first // lanes
    text = (
        f"beat {first} + p of a head holds elements {shift}{lanes}p to {shift}{lanes}p + {lanes - 1} of half order and "
        f"then their partners, {start + half} + {lanes}p to {start + half} + {lanes}p + {lanes - 1}, for p = 0 to "
        f"{half // lanes - 1}. "
    )
    if order.odd:
        text += (
            f"Beat {first + half // lanes} holds elements {start - lanes} to {start - 1} and {start + 2 * half} to "
            f"{start + 2 * half + lanes - 1}. "
        )
    return text + "All other beats are in their places."
