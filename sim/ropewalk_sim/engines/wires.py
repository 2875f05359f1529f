"""The rotary engine's streams in octets, and back: PORTS.md, "Data".

An element lies in a container of 8, 16 or 32 bits, element 0 lowest; a beat is its containers in a row.
"""

from dataclasses import replace

import numpy as np
from ropewalk.design import Design
from ropewalk_sim.beats import Script, StreamInput, StreamOutput
from ropewalk_sim.units.streams import UnitInput, UnitOutput, from_octets, to_octets


def input_octets(design: Design, stream: StreamInput) -> UnitInput:
    """``stream``, whose elements are cut to their containers, in octets. Raises ``ValueError`` if it is not as wide."""
    stream.check(design)
    data = to_octets(stream.data, design.container_bits)
    return UnitInput(
        descriptors=stream.descriptors,
        data=data,
        keep=np.broadcast_to(True, data.shape),
        tid=stream.tid,
        last=stream.last,
    )


def script_octets(design: Design, script: Script[StreamInput] | None) -> Script[UnitInput]:
    """``script`` with what it interrupts in octets."""
    if script is None:
        return Script()
    interrupted = None if script.interrupted is None else input_octets(design, script.interrupted)
    return replace(script, interrupted=interrupted)  # type: ignore[arg-type]  (the stream's type changes with it)


def output_elements(design: Design, output: UnitOutput) -> StreamOutput:
    """``output`` in elements."""
    return StreamOutput(
        data=from_octets(output.data, design.container_bits),
        tid=output.tid,
        last=output.last,
        user=output.user,
        before=None if output.before is None else output_elements(design, output.before),
        **output.figures(),
    )
