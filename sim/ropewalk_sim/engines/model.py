"""The ``model`` engine: :func:`ropewalk_sim.stream_model.run_model` under the engines' common interface."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import Progress
from ropewalk_sim.registers import Access, address_of
from ropewalk_sim.stream_model import run_model


class ModelEngine:
    """The model of the design in ``folder``. See :class:`ropewalk_sim.engines.Engine`.

    It has no time: stalls change nothing, and a reset leaves nothing of what was interrupted. Of the registers it has
    the head counts only.
    """

    def __init__(self, folder: Path) -> None:
        self._design = load_rotary(Path(folder))

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
        """Run ``stream`` through the model. Raises ``ValueError`` where a script does more than write head counts."""
        design = self._design
        if script is not None:
            if script.meanwhile or script.interrupted_registers:
                raise ValueError("the model has no time: it cannot change while it streams")
            design = with_head_counts(design, script.registers)
        output = run_model(design, stream)
        if progress is not None:
            progress(stream.beats, stream.beats)
        return output


def with_head_counts(design: Design, accesses: Sequence[Access]) -> Design:
    """``design`` after the registers of the head counts were written. Raises ``ValueError`` for any other access."""
    kinds = {address_of(name): name for name in ("query_heads", "key_heads", "value_heads")}
    counts = dict(zip(kinds.values(), design.heads, strict=True))
    for access in accesses:
        if access.address not in kinds or access.write is None:
            raise ValueError("the model has no registers but the head counts: give it the design that they make")
        counts[kinds[access.address]] = access.write & 0xFF
    geometry = replace(design.geometry, query_heads=counts["query_heads"], key_heads=counts["key_heads"])
    return replace(design, geometry=geometry, value_heads=counts["value_heads"])
