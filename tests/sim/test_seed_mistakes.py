"""The mistakes that the project's founding texts name, as far as they are made while streaming.

Those made in reading a configuration are in ``tests/hw/models/test_seed_mistakes.py``.
"""

from dataclasses import replace

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.gateware.top import RotaryPorts
from ropewalk.models import read_model
from ropewalk_sim.beats import StreamInput, StreamOutput, descriptor_words, whole_tokens
from ropewalk_sim.engines.amaranth import simulate
from ropewalk_sim.stream_model import run_model

PROMPT, DECODED = 7, 5
"""The question's seven tokens, and some that follow."""


def small(**options) -> Design:
    """The question's model at a sixteenth of its head size."""
    geometry = read_model("gemma-3-270m")
    variants = tuple(
        replace(variant, inverse_frequency=variant.inverse_frequency[::16]) for variant in geometry.variants
    )
    geometry = replace(geometry, head_dim=16, rotary_dim=16, variants=variants)
    return Design(geometry=geometry, lanes=4, **options)


def engine(name: str, design: Design, stream: StreamInput) -> StreamOutput:
    return run_model(design, stream) if name == "model" else simulate(RotaryPorts(design), design, stream)


def tokens_of(design: Design, seed: int = 1) -> np.ndarray:
    shape = (PROMPT + DECODED, sum(design.heads), design.geometry.head_dim)
    return np.random.default_rng(seed).integers(-30_000, 30_000, shape)


@pytest.mark.parametrize("name", ["model", "amaranth"])
def test_decoding_goes_on_where_the_prompt_ended(name) -> None:
    """One token at a time after the prompt gives, bit for bit, what the whole sequence at once gives."""
    design = small()
    words = tokens_of(design)
    positions = np.arange(PROMPT + DECODED)
    at_once = engine(name, design, whole_tokens(design, descriptor_words(0, positions), words)).data
    parts = [positions[:PROMPT], *np.split(positions[PROMPT:], DECODED)]
    one_by_one = [
        engine(name, design, whole_tokens(design, descriptor_words(0, part), words[part])).data for part in parts
    ]
    np.testing.assert_array_equal(np.concatenate(one_by_one), at_once)


@pytest.mark.parametrize("wrong", [PROMPT - 1, PROMPT + 1], ids=["one too few", "one too many"])
def test_a_decode_position_that_is_off_by_one_shows_in_every_head(wrong) -> None:
    design = small()
    words = tokens_of(design)[PROMPT : PROMPT + 1]
    right = run_model(design, whole_tokens(design, descriptor_words(0, np.array([PROMPT])), words)).data
    shifted = run_model(design, whole_tokens(design, descriptor_words(0, np.array([wrong])), words)).data
    differs = (right != shifted).reshape(sum(design.heads), -1).any(axis=1)
    assert differs.all()


@pytest.mark.parametrize("name", ["model", "amaranth"])
def test_values_are_not_rotated(name) -> None:
    """Position decides which tokens attend, not what is passed on: values come out as they went in, in order."""
    design = small(value_heads=2)
    words = tokens_of(design)
    positions = np.arange(PROMPT + DECODED) * 1_001
    output = engine(name, design, whole_tokens(design, descriptor_words(1, positions), words))
    result = output.data.reshape(words.shape)
    queries, keys, values = design.heads
    np.testing.assert_array_equal(result[:, queries + keys :], words[:, queries + keys :])
    assert (result[1:, : queries + keys] != words[1:, : queries + keys]).any(axis=-1).all()
    kinds = output.kind.reshape(PROMPT + DECODED, sum(design.heads), -1)[:, :, 0]
    np.testing.assert_array_equal(kinds, [[0] * queries + [1] * keys + [2] * values] * len(positions))
