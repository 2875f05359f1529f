"""A rotary model with everything that its runs need, and the runs: the float one, and any number with an engine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry

from .decode import Passes, counted, generate, logits
from .design import Widths, design_of, folder_of, given_design
from .extra import torch_module
from .hooks import check_model, replaced_rotation
from .loading import Loaded, load
from .metrics import Score, score, tokens_differing
from .rotation import Rotation, ScalePer, Statistics
from .source import Source
from .text import Reference

EngineName = Literal["float", "model", "verilator"]
Step = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What computes: ``float`` is the model's own rotation. ``folder`` is a design that was given, or None."""

    name: EngineName = "verilator"
    widths: Widths = Widths()
    per: ScalePer = "tensor"
    folder: Path | None = None


class Session:
    """A rotary model that was loaded, and whose angles were found to be those of ``geometry``."""

    def __init__(self, source: Source, geometry: RotaryGeometry) -> None:
        self.geometry = geometry
        self.loaded: Loaded = load(source)
        check_model(self.loaded.model, geometry, torch_module())

    def rotation(self, engine: Engine) -> Rotation | None:
        """The engine, ready to rotate, or None for ``float``; generates its Verilog where that is to run."""
        if engine.name == "float":
            return None
        if engine.folder is not None:
            design = given_design(engine.folder, self.geometry)
        else:
            design = design_of(self.geometry, engine.widths)
        if engine.name == "model":
            return Rotation(design, per=engine.per)
        from .hardware import Verilog

        folder = engine.folder if engine.folder is not None else folder_of(design)
        return Rotation(design, hardware=Verilog(folder), per=engine.per)

    @contextmanager
    def with_engine(self, rotation: Rotation | None, passes: Passes | None = None) -> Iterator[None]:
        """The model with ``rotation`` in place, its forward passes counted; with None it is the float model."""
        if rotation is None:
            yield
            return
        with (
            counted(self.loaded.model, passes or Passes()),
            replaced_rotation(self.loaded.model, self.geometry, rotation, torch_module()),
        ):
            yield

    def score_text(self, reference: Reference, rotation: Rotation | None, passes: Passes | None = None) -> Score:
        """The score of all windows of a text."""

        def run(window: list[int]) -> Any:
            with self.with_engine(rotation, passes):
                return logits(self.loaded, window)

        return sum(reference.scores(None if rotation is None else run), Score())


@dataclass(frozen=True, kw_only=True)
class PromptRun:
    """What a prompt was answered with, and how far that is from the float run."""

    prompt: list[int]
    tokens: list[int]
    float_tokens: list[int]
    differing: int
    kl_per_token: float
    text: str
    float_text: str


def run_prompt(
    session: Session, rotation: Rotation | None, prompt: str, tokens: int, *, passes: Passes, step: Step
) -> PromptRun:
    """Answer ``prompt`` by the float model and with the engine, then compare logits on the float run's tokens."""
    loaded = session.loaded
    given = loaded.tokens(prompt)
    step("the float model answers")
    wanted = generate(loaded, given, tokens)
    found, divergence = wanted, 0.0
    if rotation is not None:
        step("the model with the engine answers")
        with session.with_engine(rotation, passes):
            found = generate(loaded, given, tokens)
        step("both read the float model's answer")
        everything = given + wanted
        reference = logits(loaded, everything)
        with session.with_engine(rotation, passes):
            divergence = score(reference, logits(loaded, everything), everything).kl_per_token
    return PromptRun(
        prompt=given,
        tokens=found,
        float_tokens=wanted,
        differing=tokens_differing(wanted, found),
        kl_per_token=divergence,
        text=loaded.text(found),
        float_text=loaded.text(wanted),
    )


def layer_reports(geometry: RotaryGeometry, statistics: Statistics) -> list[dict[str, Any]]:
    """The entries of ``layers`` in the JSON document, in order."""
    names = geometry.layers
    return [
        {
            "layer": layer,
            "variant": names[layer] if names is not None else geometry.variants[0].name,
            "rotations": seen.calls,
            "worst_error_lsb": seen.worst_lsb,
        }
        for layer, seen in sorted(statistics.layers.items())
    ]


def engine_facts(design: Design, rotation: Rotation) -> dict[str, Any]:
    """What an engine is, for the JSON document."""
    return {
        "data_width": design.data_width,
        "coefficient_width": design.coefficient_width,
        "phase_bits": design.phase_bits,
        "rounding": design.rounding,
        "scale_per": rotation.per,
    }
