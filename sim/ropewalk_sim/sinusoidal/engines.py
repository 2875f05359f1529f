"""The engines of the sinusoidal adder: those of :mod:`ropewalk_sim.units`, with its arrays."""

from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.gateware.sinusoidal.top import SinusoidalPorts
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import Progress
from ropewalk_sim.units.amaranth_bench import simulate as simulate_unit
from ropewalk_sim.units.cosim import UnitCocotbVerilator, UnitIcarus
from ropewalk_sim.units.script import UnitScript
from ropewalk_sim.units.streams import UnitInput, UnitOutput, from_octets, to_octets
from ropewalk_sim.units.verilator import UnitVerilator

from .model import run_model
from .stream import SinusoidalInput, SinusoidalOutput

COMPILED = {"icarus": UnitIcarus, "verilator": UnitVerilator, "cocotb-verilator": UnitCocotbVerilator}
"""The engines that take a folder with the emitted Verilog."""


def run_engine(
    name: str,
    folder: Path | None,
    design: SinusoidalDesign,
    stream: SinusoidalInput,
    stalls: Stalls | None = None,
    script: UnitScript | None = None,
    progress: Progress | None = None,
) -> SinusoidalOutput:
    """Run ``stream`` through an engine: ``model``, ``amaranth``, or with a folder one of :data:`COMPILED`.

    Raises
    ------
    EngineError
        If the unit cannot be built, hangs, or breaks the protocol.
    """
    if name == "model":
        return run_model(design, stream)
    if name == "amaranth":
        return simulate(design, stream, stalls, script, progress=progress)
    if folder is None:
        raise ValueError(f"the engine {name} needs the folder with the Verilog")
    stream.check(design)
    engine = COMPILED[name](folder)
    return from_unit(design, engine.run(to_unit(design, stream), stalls=stalls, script=script, progress=progress))


def simulate(
    design: SinusoidalDesign,
    stream: SinusoidalInput,
    stalls: Stalls | None = None,
    script: UnitScript | None = None,
    ports: Any = None,
    progress: Progress | None = None,
) -> SinusoidalOutput:
    """Run ``stream`` through the gateware in Amaranth's simulator, or through ``ports``, a component with its ports."""
    stream.check(design)
    ports = SinusoidalPorts(design) if ports is None else ports
    return from_unit(design, simulate_unit(ports, to_unit(design, stream), stalls, script, progress))


def to_unit(design: SinusoidalDesign, stream: SinusoidalInput) -> UnitInput:
    """``stream`` in octets."""
    return UnitInput(
        descriptors=stream.descriptors,
        data=to_octets(stream.data, design.container_bits),
        keep=np.repeat(stream.keep, design.container_bits // 8, axis=1),
        tid=stream.tid,
        last=stream.last,
    )


def from_unit(design: SinusoidalDesign, output: UnitOutput) -> SinusoidalOutput:
    """``output`` in elements; its ``before``, of a run that was interrupted, is left out."""
    return SinusoidalOutput(
        data=from_octets(output.data, design.container_bits),
        tid=output.tid,
        last=output.last,
        error=output.user.astype(bool),
        keep=output.keep[:, :: design.container_bits // 8],
        first_output_clock=output.first_output_clock,
        last_output_clock=output.last_output_clock,
        early_tokens=output.early_tokens or 0,
        answers=output.answers,
    )
