"""The ``model`` engine: :func:`ropewalk_sim.stream_model.run_model` under the engines' common interface."""

from pathlib import Path

from ropewalk.design import Design
from ropewalk.emit.folder import load_design
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import Progress
from ropewalk_sim.stream_model import run_model


class ModelEngine:
    """The model of the design in ``folder``. See :class:`ropewalk_sim.engines.Engine`.

    It has no time: stalls change nothing, and a reset leaves nothing of what was interrupted.
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
        """Run ``stream`` through the model."""
        output = run_model(self._design, stream)
        if progress is not None:
            progress(stream.beats, stream.beats)
        return output
