"""A design folder of the rotary engine, run by a bench that works on octets."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import Progress, quiet_clocks
from ropewalk_sim.engines.wires import input_octets, output_elements, script_octets
from ropewalk_sim.units.streams import UnitOutput


class OctetEngine:
    """What the engines have in common that know ports and no design. See :class:`ropewalk_sim.engines.Engine`."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)
        self._design = load_rotary(self._folder)

    @property
    def design(self) -> Design:
        """The design in the folder."""
        return self._design

    @cached_property
    def bench(self) -> Callable[..., UnitOutput]:
        """What runs a stream of octets through the top."""
        raise NotImplementedError

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the top."""
        design = self._design
        output = self.bench(
            input_octets(design, stream),
            stalls=stalls,
            script=script_octets(design, script),
            progress=progress,
            quiet_clocks=quiet_clocks(design),
        )
        return output_elements(design, output)
