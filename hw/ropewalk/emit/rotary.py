"""The files of a rotary engine's folder."""

import json
from typing import Any

from ..design import Design
from ..design_json import design_to_json
from ..gateware.top import RotaryTop
from ..tables.slot_words import slot_crcs
from .page import folder_page
from .registers import HEADER, register_header
from .verilog import emit_sequencer, emit_verilog
from .writer import DESCRIPTION, PAGE


def derived_facts(design: Design, *, latencies: tuple[int, ...], crcs: list[int]) -> dict[str, Any]:
    """What a reader of ``design.json`` wants to know and every program can compute from the rest."""
    return {
        "latency": max(latencies),
        "beats_per_token": design.beats_per_token,
        "beats_per_head": design.beats_per_head,
        "beats_per_clock": design.beats_per_clock,
        "elements_per_beat": design.elements,
        "container_bits": design.container_bits,
        "element_order": dict(zip(("input", "output"), design.stream_pairings, strict=True)),
        "coefficient_fraction_bits": design.coefficient.fraction_bits,
        "slots": {
            variant.name: {
                "slot": slot,
                "positions": limit,
                "element_order": {
                    "input": design.order(slot).input_pairing,
                    "output": design.order(slot).output_pairing,
                },
                "latency": latency,
                "beats_per_clock": rate,
                "crc": f"{crc:08x}" if design.registers else None,
            }
            for slot, (variant, limit, latency, rate, crc) in enumerate(
                zip(design.variants, design.limits, latencies, design.rates, crcs, strict=True)
            )
        },
    }


def rotary_files(design: Design) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine."""
    top = RotaryTop(design)
    crcs = slot_crcs(design)
    facts = derived_facts(design, latencies=top.latencies, crcs=crcs)
    files = emit_verilog(design, top) | {"sequencer.v": emit_sequencer(design.axes)}
    if design.registers:
        files[HEADER] = register_header()
    return {
        **files,
        DESCRIPTION: json.dumps(design_to_json(design, facts), indent=1) + "\n",
        PAGE: folder_page(design, latency=top.latency, crcs=crcs, files=sorted(files)),
    }
