"""Running a loaded model: greedy generation, and logits at given tokens; with or without an engine in place."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ropewalk_sim.errors import EngineError

from .extra import torch_module, transformers_module
from .loading import Loaded


@dataclass
class Passes:
    """Forward passes so far."""

    count: int = 0


@contextmanager
def counted(model: Any, passes: Passes) -> Iterator[None]:
    """Count the forward passes of ``model`` until the end of the ``with``."""

    def one_more(*_: Any) -> None:
        passes.count += 1

    handle = model.register_forward_pre_hook(one_more)
    try:
        yield
    finally:
        handle.remove()


def generate(loaded: Loaded, prompt: list[int], tokens: int) -> list[int]:
    """The ``tokens`` most likely tokens after ``prompt``, one after the other; fewer where the model ends its text."""
    torch, transformers = torch_module(), transformers_module()
    own = loaded.model.generation_config
    end = own.eos_token_id
    first_end = end[0] if isinstance(end, list) and end else end
    settings = transformers.GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=tokens,
        eos_token_id=end,
        pad_token_id=own.pad_token_id if own.pad_token_id is not None else first_end,
        bos_token_id=own.bos_token_id,
    )
    given = torch.tensor([prompt])
    with torch.no_grad():
        out = loaded.model.generate(given, attention_mask=torch.ones_like(given), generation_config=settings)
    return out[0, len(prompt) :].tolist()


def logits(loaded: Loaded, tokens: list[int]) -> Any:
    """The logits at each of ``tokens``, in one forward pass: float32 ``[len(tokens), vocabulary]`` of torch."""
    torch = torch_module()
    with torch.no_grad():
        found = loaded.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0].float()
    if not bool(torch.isfinite(found).all()):
        raise EngineError("the model's logits are not finite numbers")
    return found
