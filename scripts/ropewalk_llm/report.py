"""What was asked for, what was found, and how it is shown to a person."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from ropewalk.formats import Rounding

from .design import Widths
from .rotation import ScalePer
from .session import Engine, EngineName

Document = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A command line. ``chosen`` are the options that were given, ``folder`` the design that was."""

    model: str
    prompt: str | None = None
    tokens: int = 20
    text: str | None = None
    perplexity: bool = False
    sweep: bool = False
    shift: tuple[int, ...] | None = None
    engine: EngineName | None = None
    data_width: int = 16
    coefficient_width: int = 18
    phase_bits: int = 48
    rounding: Rounding = "half-up"
    fraction_bits: int = 8
    scale_per: ScalePer = "tensor"
    folder: Path | None = None
    window: int = 512
    text_tokens: int | None = None
    output: Path | None = None
    chosen: frozenset[str] = frozenset()

    @property
    def widths(self) -> Widths:
        """The widths that were asked for."""
        return Widths(
            data=self.data_width, coefficient=self.coefficient_width, phase=self.phase_bits, rounding=self.rounding
        )

    def engine_or(self, otherwise: EngineName) -> Engine:
        """The engine that was asked for, or else the one named."""
        name = otherwise if self.engine is None else self.engine
        return Engine(
            name=name,
            widths=self.widths,
            per=self.scale_per,
            fraction_bits=self.fraction_bits,
            folder=self.folder,
        )

    @property
    def target(self) -> Path:
        """The folder for pictures and tables."""
        return Path("ropewalk-llm") if self.output is None else self.output


@dataclass(frozen=True, kw_only=True)
class Found:
    """The JSON document of a run, and notes for its user."""

    document: Document
    notes: list[str] = field(default_factory=list)


def show(document: Document) -> None:
    """Print a document for a person."""
    for key, shower in SHOWERS.items():
        if document.get(key) is not None:
            shower(document)
    click.echo(f"{'seconds':<26}{document['seconds']:.0f}")


def _line(name: str, value: object) -> None:
    click.echo(f"{name:<26}{value}")


def _engine(document: Document) -> None:
    _line("model", f"{document['model']} ({document['model_type']})")
    _line("engine", document["engine"] + _widths(document))


def _widths(document: Document) -> str:
    if "data_width" not in document:
        return ""
    parts = [f"{document['data_width']}-bit data"]
    if "coefficient_width" in document:
        parts.append(f"{document['coefficient_width']}-bit coefficients, {document['phase_bits']}-bit phase")
        parts.append(f"one scale per {document['scale_per']}")
    else:
        parts.append(f"LSB 2^-{document['fraction_bits']}")
    return ": " + ", ".join(parts)


def _text(document: Document) -> None:
    _line("text", repr(document["text"]))
    if document["tokens_differing"]:
        _line("text of the float run", repr(document["float_text"]))
    _line("tokens", f"{len(document['tokens'])}, {document['tokens_differing']} differ from the float run's")
    _line("KL divergence", f"{document['kl_per_token']:.3g} nat per token")


def _counts(document: Document) -> None:
    what = document["calls"]
    passes = f" in {document['forward_passes']} forward passes" if document["forward_passes"] else ""
    _line(what, f"{document['rotations']:,}{passes}")
    if document["differing_bits"] is not None:
        _line("Verilog against model", f"{document['differing_bits']} bits differ")
    if document.get("first_difference"):
        _line("first difference", document["first_difference"])


def _errors(document: Document) -> None:
    layers = document.get("layers") or []
    worst = max(layers, key=lambda one: one["worst_error_lsb"])["layer"] if layers else None
    where = "" if worst is None else f" (layer {worst})"
    _line("worst error", f"{document['worst_error_lsb']:.3f} LSB against the exact one of the same words{where}")


def _perplexity(document: Document) -> None:
    _line(
        "perplexity",
        f"{document['perplexity']:.4f} on {document['text_tokens']:,} tokens; float "
        f"{document['float_perplexity']:.4f}; KL {document['text_kl_per_token']:.3g} nat per token",
    )


def _encoder(document: Document) -> None:
    _line("embedding", f"{document['dimension']} elements, cosine similarity to the float run's "
          f"{document['cosine_similarity']:.9f}, at most {document['embedding_difference']:.2g} off")  # fmt: skip


def _saturated(document: Document) -> None:
    _line("saturated", f"{document['saturated']:,} elements")


def _table(document: Document) -> None:
    for line in document["table"]:
        click.echo(line)


def _written(document: Document) -> None:
    for path in document["written"]:
        click.echo(f"written: {path}")


SHOWERS: dict[str, Callable[[Document], None]] = {
    "engine": _engine,
    "text": _text,
    "cosine_similarity": _encoder,
    "rotations": _counts,
    "worst_error_lsb": _errors,
    "saturated": _saturated,
    "perplexity": _perplexity,
    "table": _table,
    "written": _written,
}
"""What is printed where a document has this key, in this order."""
