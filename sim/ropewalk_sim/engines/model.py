"""The ``model`` engine: :func:`ropewalk_sim.stream_model.run_model` under the engines' common interface."""

from pathlib import Path

from ropewalk.design import Design
from ropewalk.emit.folder import load_design
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import Progress
from ropewalk_sim.stream_model import run_model


class ModelEngine:
    """The model of the design in ``folder``. See :class:`ropewalk_sim.engines.Engine`.

    It has no time: stalls change nothing, and a reset leaves nothing of what was interrupted. It has no register port
    either: what registers change is part of its design.
    """

    def __init__(self, folder: Path) -> None:
        self._design = load_design(Path(folder))

    @property
    def design(self) -> Design:
        """The design in the folder."""
        return self._design

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the model. Raises ``ValueError`` where a script has accesses to registers."""
        if script is not None and (script.registers or script.meanwhile or script.interrupted_registers):
            raise ValueError("the model has no registers: give it the design that they make")
        output = run_model(self._design, stream)
        if progress is not None:
            progress(stream.beats, stream.beats)
        return output
