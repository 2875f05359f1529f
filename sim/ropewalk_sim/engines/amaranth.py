"""The ``amaranth`` engine: the gateware itself, in Amaranth's simulator, before any Verilog is made of it."""

from functools import partial
from typing import Any

from ropewalk.design import Design
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import quiet_clocks
from ropewalk_sim.engines.octet_engine import OctetEngine
from ropewalk_sim.engines.wires import input_octets, output_elements, script_octets
from ropewalk_sim.units.amaranth_bench import simulate as simulate_octets


class AmaranthEngine(OctetEngine):
    """The gateware of the design in ``folder``. See :class:`ropewalk_sim.engines.Engine`."""

    @property
    def bench(self):  # noqa: D102
        # A component is elaborated once.
        return partial(simulate_octets, RotaryPorts(self._design))


def simulate(
    ports: RotaryPorts,
    design: Design,
    stream: StreamInput,
    stalls: Stalls | None = None,
    script: Script | None = None,
    **hooks: Any,
) -> StreamOutput:
    """Run ``stream`` through ``ports``, a component with the ports of ``design``: the engine or a changed one.

    ``hooks`` are the processes, testbenches, prelude and reset clocks of
    :func:`ropewalk_sim.units.amaranth_bench.simulate`.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol.
    """
    output = simulate_octets(
        ports,
        input_octets(design, stream),
        stalls,
        script_octets(design, script),
        quiet_clocks=quiet_clocks(design),
        **hooks,
    )
    return output_elements(design, output)
