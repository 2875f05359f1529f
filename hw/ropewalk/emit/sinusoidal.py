"""The files of a sinusoidal adder: its Verilog, its steps and sines, the header of its registers, its description."""

import json
from typing import Any

from ..designs.sinusoidal import SinusoidalDesign, design_to_json
from ..gateware.sinusoidal.contents import rom_contents
from ..gateware.sinusoidal.registers import UNIT
from ..gateware.sinusoidal.top import SinusoidalTop
from ..tables.sinusoidal_words import slot_crc
from .registers import HEADER, register_header
from .sinusoidal_page import sinusoidal_page
from .verilog import emit_top, rom_files
from .writer import DESCRIPTION, PAGE


def sinusoidal_files(design: SinusoidalDesign) -> dict[str, str]:
    """All files of the folder, by name. The same design gives the same bytes on every machine."""
    top = SinusoidalTop(design)
    files = {**emit_top(top, rom_contents(design)), HEADER: register_header(UNIT)}
    return {
        **files,
        PAGE: sinusoidal_page(design, latency=top.latency, files=list(files)),
        DESCRIPTION: json.dumps(design_to_json(design, derived_facts(design, top)), indent=1) + "\n",
    }


def sinusoidal_memory_files(design: SinusoidalDesign) -> dict[str, str]:
    """What the memory files of ``design`` must hold, by file name."""
    return rom_files(rom_contents(design))


def derived_facts(design: SinusoidalDesign, top: SinusoidalTop) -> dict[str, Any]:
    """What a reader of ``design.json`` wants to know and every program can compute from the rest."""
    return {
        "latency": top.latency,
        "beats_per_token": design.beats_per_token,
        "beats_per_clock": design.beats_per_clock,
        "elements_per_beat": design.lanes,
        "container_bits": design.container_bits,
        "scale": 2.0**-design.fraction_bits,
        "positions": design.limit,
        "error_bound_lsb": design.error_bound,
        "queue_bits": top.memory_bits,
        "crc": f"{slot_crc(design):08x}",
    }
