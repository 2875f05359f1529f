"""An encoder of the BERT family whose position embeddings are added by a learned-table unit.

The model adds what its module ``position_embeddings`` gives to the embeddings of the words. That module's result is
replaced by something that knows the positions and waits for the sum, which the unit then makes.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ropewalk.designs.learned import learned_design
from ropewalk.errors import InputError
from ropewalk.geometry.learned import LearnedGeometry
from ropewalk.models.weights import load_table
from ropewalk_sim.errors import EngineError
from ropewalk_sim.learned.unit import LearnedUnit

from .decode import Passes, counted
from .design import folder_of
from .extra import torch_module
from .loading import Loaded, load
from .report import Document, Found, Request
from .session import Step
from .source import Source
from .unit import UnitCalls


class Waiting:
    """Position embeddings that are not made yet: what is added to them goes through the unit."""

    def __init__(self, unit: UnitCalls, position: Any) -> None:
        self._unit, self._position = unit, position

    def __radd__(self, embeddings: Any) -> Any:
        batch, tokens, dimension = embeddings.shape
        position = self._position.expand(batch, tokens).reshape(-1).numpy().astype(np.int64)
        x = embeddings.detach().reshape(-1, dimension).double().numpy()
        out = self._unit(0, "x", {"x": x, "position": position})
        return torch_module().from_numpy(out.reshape(batch, tokens, dimension)).to(embeddings.dtype)


def embeddings_of(model: Any) -> Any:
    """The module of a model that looks positions up; raises ``InputError`` where there is not one."""
    found = [module for name, module in model.named_modules() if name.rsplit(".", 1)[-1] == "position_embeddings"]
    if len(found) != 1:
        raise InputError(f"{type(model).__name__} has {len(found)} modules position_embeddings, and should have one")
    return found[0]


@contextmanager
def replaced_positions(model: Any, unit: UnitCalls) -> Iterator[None]:
    """The addition of position embeddings by ``unit``, until the end of the ``with``."""

    def wait(_: Any, arguments: tuple[Any, ...], __: Any) -> Waiting:
        return Waiting(unit, arguments[0])

    handle = embeddings_of(model).register_forward_hook(wait)
    try:
        yield
    finally:
        handle.remove()


def make_unit(source: Source, geometry: LearnedGeometry, loaded: Loaded, request: Request) -> UnitCalls:
    """The unit of the model's own table, which must be what the model looks up."""
    table = load_table(source.path, geometry=geometry)
    own = embeddings_of(loaded.model).weight.detach().numpy()
    if own.shape != table.shape or not np.array_equal(own, table):
        raise InputError("the position table in the model's weights is not the one that the model uses")
    bits = request.fraction_bits if "fraction_bits" in request.chosen else fraction_bits(loaded, request.data_width)
    design, words = learned_design(
        geometry,
        table,
        fraction_bits=bits,
        lanes=4,
        data_width=request.data_width,
        storage="block-ram",
        address_width=32,
        family="generic",
    )
    return UnitCalls(LearnedUnit(design, folder_of(design, words)), verilog=request.engine != "model")


def fraction_bits(loaded: Loaded, width: int) -> int:
    """The most fraction bits at which no sum of embeddings can leave ``width`` bits."""
    embeddings = [
        module.weight.detach() for name, module in loaded.model.named_modules() if name.endswith("_embeddings")
    ]
    largest = sum(float(weight.abs().max()) for weight in embeddings)
    return max(0, min(24, width - 1 - math.frexp(largest)[1]))


def sentence(loaded: Loaded, tokens: list[int]) -> NDArray[np.float64]:
    """The embedding of a sentence: the mean of its tokens' last hidden states, of length 1."""
    torch = torch_module()
    given = torch.tensor([tokens])
    with torch.no_grad():
        out = loaded.model(input_ids=given, attention_mask=torch.ones_like(given)).last_hidden_state
    mean = out[0].double().mean(dim=0).numpy()
    return mean / np.linalg.norm(mean)


def run_encoder(source: Source, geometry: Any, request: Request, step: Step) -> Found:
    """The document of an encoder: how far a sentence's embedding is from the float run's."""
    if request.prompt is None:
        raise InputError("an encoder needs --prompt TEXT: the sentence to embed")
    step("loading the model")
    loaded = load(source, encoder=True)
    tokens = loaded.prompt(request.prompt)
    if len(tokens) > geometry.max_position:
        raise InputError(f"the sentence has {len(tokens)} tokens, and the model {geometry.max_position} positions")
    step("the float model")
    wanted = found = sentence(loaded, tokens)
    name, passes, unit = request.engine or "verilator", Passes(), None
    if name != "float":
        step("making the unit")
        unit = make_unit(source, geometry, loaded, request)
        step("the model with the unit")
        with counted(loaded.model, passes), replaced_positions(loaded.model, unit):
            found = sentence(loaded, tokens)
        if not unit.statistics.rotations:
            raise EngineError("the model did not add its position embeddings where they were to be replaced")
    seen = None if unit is None else unit.statistics
    document: Document = {
        "engine": name,
        **({} if unit is None else unit.facts()),
        "prompt_tokens": tokens,
        "dimension": len(found),
        "cosine_similarity": float(wanted @ found),
        "embedding_difference": float(np.abs(wanted - found).max()),
        "embedding": found.tolist(),
        "calls": "additions",
        "rotations": 0 if seen is None else seen.rotations,
        "forward_passes": passes.count,
        "differing_bits": seen.differing_bits if unit is not None and seen is not None and unit.verilog else None,
        "first_difference": None if seen is None else seen.first_difference,
        "worst_error_lsb": None if seen is None else seen.worst_lsb,
        "saturated": 0 if unit is None else unit.saturated,
    }
    return Found(document=document)
