"""The page that lies in a generated folder: its ports and the layout of a beat, for that very design."""

from ..design import Design
from ..gateware.register_map import register_map
from ..gateware.slots import loadable


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
        + ".",
        "",
        "| file | what it is |",
        "|---|---|",
        "| `design.json` | every parameter; all `ropewalk` commands read it |",
    ]
    purpose = {
        "ropewalk.v": "the engine, portable Verilog",
        "registers.h": "its registers for a C program",
        "slots.hex": "what each slot holds from the start, besides its steps: slice, limit, amplitude",
        "steps.hex": "per slot and pair: the step, in turns, and the axis",
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
        "| 63:32 | position |",
        "",
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
    lines += [
        "",
        f"There are {design.slots} slots"
        + (", the others empty until they are loaded over the registers" if loadable(design) else ", the others empty")
        + ". A position past the last one, or an empty slot, passes the token unrotated with its error bit set.",
        "",
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
        f"{design.elements}b + {design.elements - 1}, in **interleaved** order: elements 2i and 2i + 1 are pair i.",
    ]
    half_order: dict[tuple[int, int], list[str]] = {}
    for variant, shape in zip(design.variants, design.shapes, strict=True):
        if shape.pairing == "half":
            half_order.setdefault((shape.rotary_start, shape.pairs), []).append(variant.name)
    for (start, half), names in half_order.items():
        where = "The model" if len(names) == len(design.variants) else f"Of {', '.join(names)} the model"
        lines += [
            "",
            f"{where} itself pairs element i with element i + {half}. Permute every query and key head: element "
            f"{start} + 2i of the stream is element {start} + i of the model, element {start} + 2i + 1 is element "
            f"{start} + {half} + i, for i = 0 to {half - 1}. Scores do not change when both are permuted alike.",
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
        f"idle engine {latency} clocks after its descriptor, data waiting.",
        "",
    ]
    return "\n".join(lines)


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
        **{f"offset[{axis}]": "added to every position (signed), 0 after reset" for axis in range(design.axes)},
        "load_begin": "write a slot's number: begin to load it",
        "load_data": "write its words, one after the other",
        "load_commit": "write anything: the words become the slot's content, or are refused (SLVERR)",
        "load_state": "bit 0 loading, 1 busy, 2 a CRC is being computed, 10:8 reason of the last refusal",
        "tokens": "tokens that came out, as of the last snapshot; seven more counters follow it",
        "geometry_crc[0]": "CRC-32 of what slot 0 holds, the table above; slot n at 4n more",
    }
    if not loadable(design):
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
