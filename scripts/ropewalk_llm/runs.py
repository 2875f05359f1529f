"""What ``ropewalk llm`` does: reads the model's configuration, refuses early, and sends each request to its run."""

import time
from collections.abc import Callable
from typing import Any

from ropewalk.errors import InputError
from ropewalk.geometry import Geometry
from ropewalk.models import read_model

from .decode import Passes
from .families import check_family
from .report import Document, Found, Request
from .rotation import Rotation
from .session import Session, engine_facts, layer_reports, run_prompt
from .source import Source, find_source
from .text import Reference, read_text, windows

Step = Callable[[str], None]

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
    """Refuse what a scheme does not have; raises ``InputError``."""
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


def _run(
    scheme: str, source: Source, geometry: Geometry, request: Request, text: str | None, step: Step
) -> Found:
    # Imported when asked for, so that refusals come at once.
    if scheme == "learned":
        from .learned import run_encoder

        return run_encoder(source, geometry, request, step)
    if scheme == "alibi":
        from .alibi import run_alibi

        return run_alibi(source, geometry, request, text, step)
    step("loading the model")
    session = Session(source, geometry)  # type: ignore[arg-type]
    documents: Document = {}
    if request.perplexity:
        from .perplexity import run_perplexity

        documents |= run_perplexity(session, request, text, step)
    if request.sweep:
        from .sweep import run_sweep

        documents |= run_sweep(session, request, text, step)
    if request.shift is not None:
        from .shift import run_shift

        documents |= run_shift(session, request, step)
    if request.prompt is not None or (text is not None and not (request.perplexity or request.sweep)):
        documents |= run_rotary(session, request, text, step)
    return Found(document=documents)


def run_rotary(session: Session, request: Request, text: str | None, step: Step) -> Document:
    """A prompt, a text, or both, by one engine."""
    engine = request.engine_or("verilator")
    step("making the engine" if engine.name == "verilator" else f"the engine: {engine.name}")
    rotation, passes = session.rotation(engine), Passes()
    document: Document = {"engine": engine.name}
    if rotation is not None:
        document |= engine_facts(rotation.design, rotation)
    if request.prompt is not None:
        answered = run_prompt(session, rotation, request.prompt, request.tokens, passes=passes, step=step)
        document |= prompt_keys(answered)
    if text is not None:
        document |= text_keys(session, rotation, request, text, passes, step)
    return document | counts(session, rotation, passes)


def prompt_keys(answered: Any) -> Document:
    """The keys of a prompt's run."""
    return {
        "text": answered.text,
        "tokens": answered.tokens,
        "tokens_differing": answered.differing,
        "float_text": answered.float_text,
        "float_tokens": answered.float_tokens,
        "prompt_tokens": answered.prompt,
        "kl_per_token": answered.kl_per_token,
    }


def text_keys(
    session: Session, rotation: Rotation | None, request: Request, text: str, passes: Passes, step: Step
) -> Document:
    """The keys of a text's run."""
    cut = windows(session.loaded, text, context=request.context, most=request.text_tokens)
    if not cut:
        raise InputError("the text has fewer than two tokens")
    reference = Reference(session.loaded, cut, keep=False)
    step(f"reading the text: {reference.tokens:,} tokens in {len(cut)} windows")
    found = session.score_text(reference, rotation, passes)
    document = {
        "perplexity": found.perplexity,
        "float_perplexity": found.float_perplexity,
        "text_kl_per_token": found.kl_per_token,
        "text_tokens": found.predicted,
    }
    return document if request.prompt is not None else {"kl_per_token": found.kl_per_token} | document


def counts(session: Session, rotation: Rotation | None, passes: Passes) -> Document:
    """What the engine did; nulls for the float run."""
    if rotation is None:
        return {"calls": "rotations", "rotations": 0, "forward_passes": 0, "differing_bits": None,
                "first_difference": None, "worst_error_lsb": None, "layers": []}  # fmt: skip
    seen = rotation.statistics
    return {
        "calls": "rotations",
        "rotations": seen.rotations,
        "forward_passes": passes.count,
        "differing_bits": seen.differing_bits if rotation.verilog else None,
        "first_difference": seen.first_difference,
        "worst_error_lsb": seen.worst_lsb,
        "layers": layer_reports(session.geometry, seen),
    }
