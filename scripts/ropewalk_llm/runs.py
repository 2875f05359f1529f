"""What ``ropewalk llm`` does: reads the model's configuration, refuses early, and sends each request to its run."""

import time
from typing import Any

from ropewalk.errors import InputError
from ropewalk.geometry import Geometry, RotaryGeometry
from ropewalk.models import read_model

from .decode import Passes
from .families import check_family
from .report import Document, Found, Request
from .rotation import Statistics
from .session import Calls, Session, Step
from .source import Source, find_source
from .text import read_text, windows
from .unit import UnitCalls

MODEL_TYPES = {"gemma3": "gemma3_text"}
"""What GGUF calls a family, where transformers has another name."""


def run(request: Request, step: Step) -> Found:
    """Carry out a request.

    Raises
    ------
    InputError
        If the model cannot be found, read or taken apart, or the request does not fit it.
    EngineError
        If the extra is not installed, or an engine fails.
    """
    started = time.monotonic()
    source = find_source(request.model)
    notes: list[str] = []
    geometry = read_model(str(source.path), notes=notes.append)
    model_type = MODEL_TYPES.get(geometry.model_type, geometry.model_type)
    scheme = check_family(model_type, geometry)
    text = None
    if request.text is not None:
        text = read_text(request.text)
    check_request(request, scheme)
    head: Document = {"model": source.name, "model_type": model_type, "scheme": scheme}
    found = _run(scheme, source, geometry, request, text, step)
    document = head | found.document | {"seconds": round(time.monotonic() - started, 1)}
    return Found(document=document, notes=[*notes, *found.notes])


def check_request(request: Request, scheme: str) -> None:
    """Refuse what a scheme does not have, and what does not go together; raises ``InputError``."""
    modes = {"perplexity", "sweep", "shift"} & request.chosen
    if len(modes) > 1:
        raise InputError(f"--{' and --'.join(sorted(modes))} are runs of their own: give one of them")
    if {"perplexity", "sweep"} & modes and request.prompt is not None:
        raise InputError(f"--{modes.pop()} reads a text (--text), and takes no prompt")
    if scheme == "rope":
        wrong = {"fraction_bits"} & request.chosen
    else:
        wrong = {"perplexity", "sweep", "shift", "coefficient_width", "phase_bits", "rounding", "scale_per", "folder"}
        wrong = (wrong | ({"text", "tokens"} if scheme == "learned" else set())) & request.chosen
        if request.folder is not None:
            wrong |= {"design"}
    if wrong:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(wrong))
        raise InputError(f"{named}: not for models of the scheme {scheme}")


def _run(scheme: str, source: Source, geometry: Any, request: Request, text: str | None, step: Step) -> Found:
    # Imported when asked for, so that refusals come at once.
    if scheme == "learned":
        from .learned import run_encoder

        return run_encoder(source, geometry, request, step)
    step("loading the model")
    if scheme == "alibi":
        from .alibi import AlibiSession

        return Found(document=run_generator(AlibiSession(source, geometry), request, text, step))
    from .rotary import RotarySession

    session = RotarySession(source, geometry)
    if request.perplexity:
        from .perplexity import run_perplexity

        return Found(document=run_perplexity(session, request, text, step))
    if request.sweep:
        from .sweep import run_sweep

        return Found(document=run_sweep(session, request, text, step))
    if request.shift is not None:
        from .shift import run_shift

        return Found(document=run_shift(session, request, step))
    return Found(document=run_generator(session, request, text, step))


def run_generator(session: Session[Any, Any], request: Request, text: str | None, step: Step) -> Document:
    """A prompt, a text, or both, by one engine."""
    chosen = request.engine_or("verilator")
    step(f"the engine: {chosen.name}")
    engine, passes = session.engine(chosen), Passes()
    document: Document = {"engine": chosen.name}
    if engine is not None:
        document |= engine.facts()
    if request.prompt is not None:
        document |= session.answer(engine, request.prompt, request.tokens, passes=passes, step=step)
    if text is not None:
        found = text_keys(session, engine, request, text, passes, step)
        document |= found if request.prompt is not None else {"kl_per_token": found["text_kl_per_token"]} | found
    return document | counts(session.geometry, engine, passes)


def text_keys(
    session: Session[Any, Any], engine: Calls | None, request: Request, text: str, passes: Passes, step: Step
) -> Document:
    """The keys of a text's run."""
    cut = windows(session.loaded, text, context=request.window, most=request.text_tokens)
    own, by_engine = session.scores(cut, {} if engine is None else {"engine": engine}, step, passes)
    found = by_engine.get("engine", own)
    return {
        "perplexity": found.perplexity,
        "float_perplexity": own.perplexity,
        "text_kl_per_token": found.kl_per_token,
        "text_tokens": found.predicted,
    }


def counts(geometry: Geometry, engine: Calls | None, passes: Passes) -> Document:
    """What the engine did; nulls for the float run."""
    calls = "rotations" if isinstance(geometry, RotaryGeometry) else "biased tensors"
    if engine is None:
        return {"calls": calls, "rotations": 0, "forward_passes": 0, "differing_bits": None,
                "first_difference": None, "worst_error_lsb": None, "layers": []}  # fmt: skip
    seen = engine.statistics
    return {
        "calls": calls,
        "rotations": seen.rotations,
        "forward_passes": passes.count,
        "differing_bits": seen.differing_bits if engine.verilog else None,
        "first_difference": seen.first_difference,
        "worst_error_lsb": seen.worst_lsb,
        "layers": layer_reports(geometry, seen),
        **({"saturated": engine.saturated} if isinstance(engine, UnitCalls) else {}),
    }


def layer_reports(geometry: Geometry, statistics: Statistics) -> list[Document]:
    """The entries of ``layers`` in the JSON document, in order."""
    names = geometry.layers if isinstance(geometry, RotaryGeometry) else None
    return [
        {
            "layer": layer,
            **({"variant": names[layer]} if names is not None else {}),
            "rotations": seen.calls,
            "worst_error_lsb": seen.worst_lsb,
        }
        for layer, seen in sorted(statistics.layers.items())
    ]
