"""A model with everything that its runs need: the float one, and any number with an engine in place."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from .decode import Passes, counted, generate, logits
from .design import Widths
from .loading import Loaded, load
from .metrics import Score, score, tokens_differing
from .rotation import ScalePer, Statistics
from .source import Source

EngineName = Literal["float", "model", "verilator"]
Step = Callable[[str], None]
Key = TypeVar("Key")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """What computes: ``float`` is the model's own code. ``folder`` is a design that was given, or None."""

    name: EngineName = "verilator"
    widths: Widths = Widths()
    per: ScalePer = "tensor"
    fraction_bits: int = 8
    folder: Path | None = None


class Calls(Protocol):
    """An engine in a model's place: what it saw, whether it is the Verilog, and what it is, for the JSON document."""

    statistics: Statistics

    @property
    def verilog(self) -> bool: ...  # noqa: D102

    def facts(self) -> dict[str, Any]: ...  # noqa: D102


GeometryType = TypeVar("GeometryType")
CallsType = TypeVar("CallsType", bound=Calls)


class Session(ABC, Generic[GeometryType, CallsType]):
    """A model that generates text, and that was loaded. A scheme says how an engine is made and put in place."""

    def __init__(self, source: Source, geometry: GeometryType) -> None:
        self.geometry = geometry
        self.loaded: Loaded = load(source)

    @abstractmethod
    def engine(self, engine: Engine) -> CallsType | None:
        """The engine, ready to compute, or None for ``float``; generates its Verilog where that is to run."""

    @abstractmethod
    def replaced(self, engine: CallsType) -> AbstractContextManager[None]:
        """The model with ``engine`` in place of its own code."""

    @contextmanager
    def with_engine(self, engine: CallsType | None, passes: Passes | None = None) -> Iterator[None]:
        """The model with ``engine`` in place, its forward passes counted; with None it is the float model."""
        if engine is None:
            yield
            return
        with counted(self.loaded.model, passes or Passes()), self.replaced(engine):
            yield

    def scores(
        self, cut: list[list[int]], engines: Mapping[Key, CallsType], step: Step, passes: Passes | None = None
    ) -> tuple[Score, dict[Key, Score]]:
        """The score of the windows ``cut`` by the float run itself, and by each of ``engines``.

        Window by window, so that the float run's logits need not be kept: they can be gigabytes.
        """
        own, found = Score(), dict.fromkeys(engines, Score())
        for number, window in enumerate(cut, start=1):
            step(f"window {number} of {len(cut)}: {len(window)} tokens, by the float model")
            wanted = logits(self.loaded, window)
            own = own.plus(score(wanted, wanted, window))
            for place, (key, engine) in enumerate(engines.items(), start=1):
                step(f"window {number} of {len(cut)}: engine {place} of {len(engines)}")
                with self.with_engine(engine, passes):
                    other = logits(self.loaded, window)
                found[key] = found[key].plus(score(wanted, other, window))
        return own, found

    def answer(
        self, engine: CallsType | None, prompt: str, tokens: int, *, passes: Passes, step: Step
    ) -> dict[str, Any]:
        """Answer ``prompt`` by the float model and with the engine, then compare logits on the float run's tokens.

        The keys of the JSON document.
        """
        loaded = self.loaded
        given = loaded.prompt(prompt)
        step("the float model answers")
        wanted = generate(loaded, given, tokens)
        found, divergence = wanted, 0.0
        if engine is not None:
            step("the model with the engine answers")
            with self.with_engine(engine, passes):
                found = generate(loaded, given, tokens)
            step("both read the float model's answer")
            everything = given + wanted
            reference = logits(loaded, everything)
            with self.with_engine(engine, passes):
                divergence = score(reference, logits(loaded, everything), everything).kl_per_token
        return {
            "text": loaded.text(found),
            "tokens": found,
            "tokens_differing": tokens_differing(wanted, found),
            "float_text": loaded.text(wanted),
            "float_tokens": wanted,
            "prompt_tokens": given,
            "kl_per_token": divergence,
        }
