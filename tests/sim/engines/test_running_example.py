"""The running example of the texts that the project comes from: "What is the capital of France?", seven tokens.

q and k are those of a real model, Gemma 3 270M, captured just before RoPE while it answered the question
(``ropewalk_cli/data/gemma3_270m_prompt.npz``; the capture has the beginning-of-sequence token at position 0, so that
"What" stands at 1). Layer 0 is local (base 10,000), layer 5 global (base 1,000,000). In layer 0 no position has had any
influence yet: q and k are those of the word, wherever it stands.
"""

from dataclasses import replace
from importlib import resources
from typing import NamedTuple

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.models import read_model
from ropewalk_sim.beats import PASS, Stalls, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.exact import exact_inverse_frequency, exact_rotation, exact_turns
from ropewalk_sim.quantise import default_scale, quantise
from ropewalk_sim.scores import score_bound
from ropewalk_sim.sequencer import Command, sequence

WORDS = ("What", "is", "the", "capital", "of", "France", "?")
CAPITAL, FRANCE, LAST = 3, 5, 6
SHUFFLED = [WORDS.index(word) for word in ("France", "capital", "What", "is", "the", "of", "?")]
FIRST = 1  # position of "What" in the capture
PROMPT = 8  # with the beginning-of-sequence token; 8 decoded tokens follow
LAYERS = {"local": (0, 1, 10_000.0), "global": (1, 0, 1_000_000.0)}  # index in the capture, slot, base
ENGINES = ["model", "verilator"]


class Capture(NamedTuple):
    """Four queries and a key: words ``[layers, tokens, 5, 256]``, pairs interleaved; what the software made of them.

    ``scale [layers, 1, 5, 1]`` is the value of an LSB: one for the queries of a layer, one for its keys.
    """

    words: np.ndarray
    software: np.ndarray
    scale: np.ndarray


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # Pairs are handed over interleaved, whatever order the model has its elements in.
    geometry = replace(read_model("gemma-3-270m"), pairing="interleaved", output_pairing="interleaved")
    target = tmp_path_factory.mktemp("gemma") / "engine"
    write_design_folder(Design(geometry=geometry, lanes=4, positions=1 << 24), target)
    return target


@pytest.fixture
def engine(folder, request):
    return open_engine(request.param, folder)


def interleaved(heads: np.ndarray) -> np.ndarray:
    half = heads.shape[-1] // 2
    return np.stack([heads[..., :half], heads[..., half:]], axis=-1).reshape(heads.shape)


@pytest.fixture(scope="module")
def capture(folder) -> Capture:
    with resources.files("ropewalk_cli").joinpath("data/gemma3_270m_prompt.npz").open("rb") as file:
        stored = dict(np.load(file, allow_pickle=False))
    # The tokens of the prompt: <bos>, then the seven.
    assert stored["token_ids"][:PROMPT].tolist() == [2, 3689, 563, 506, 5279, 529, 7001, 236881]
    design = open_engine("model", folder).design
    floats = np.concatenate([stored["q_layers_0_5"], stored["k_layers_0_5"]], axis=2).astype(np.float64)
    scale = np.empty((2, 1, 5, 1))
    words = np.empty(floats.shape, np.int64)
    for layer in range(2):
        for heads in (slice(0, 4), slice(4, 5)):
            part = floats[layer, :, heads]
            one = default_scale(np.abs(part).max(), 1.0, design.data, design.coefficient)
            scale[layer, 0, heads] = one
            words[layer, :, heads], saturated = quantise(interleaved(part), one, design.data)
            assert saturated == 0
    software = np.concatenate([stored["q_rot_hf_layers_0_5"], stored["k_rot_hf_layers_0_5"]], axis=2)
    return Capture(words, interleaved(software.astype(np.float64)), scale)


def rotated(engine, words, position, *, slot, flags=0, stalls=None):
    """What the engine makes of ``words [tokens, 5, 256]`` at ``position [tokens]``."""
    tag = np.arange(len(words)) & 255
    stream = whole_tokens(engine.design, descriptor_words(slot, np.asarray(position), flags=flags, tag=tag), words)
    output = engine.run(stream, stalls=stalls)
    assert not output.error.any()
    return output.data.reshape(words.shape)


def scores(words: np.ndarray) -> np.ndarray:
    """``[heads, queries, keys]`` of ``words [tokens, 5, 256]``: exact integers, in LSB squared."""
    return np.einsum("ihe,je->hij", words[:, :4], words[:, 4])


def bounds(design: Design, slot: int, words: np.ndarray) -> np.ndarray:
    """How far each of those scores may be from the exact one, by the docs."""
    pairs = words.reshape(*words.shape[:-1], -1, 2)
    return score_bound(design, slot, pairs[:, :4].swapaxes(0, 1)[:, :, None], pairs[None, None, :, 4])


def positions_of(*commands: Command) -> np.ndarray:
    return sequence(commands)[0][:, 1].astype(np.int64)


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("layer", LAYERS)
def test_decode_equals_prefill_bit_for_bit(engine, layer, capture) -> None:
    """The prompt at once and then token by token, each in a run of its own, against all sixteen in one prefill."""
    index, slot, _ = LAYERS[layer]
    words = capture.words[index]
    tokens = len(words)
    prefill = rotated(engine, words, positions_of(Command(start=0, count=tokens)), slot=slot)
    stepwise = positions_of(Command(start=0, count=PROMPT), *[Command(decode=True)] * (tokens - PROMPT))
    runs = [slice(0, PROMPT), *(slice(token, token + 1) for token in range(PROMPT, tokens))]
    decoded = [
        rotated(engine, words[run], stepwise[run], slot=slot, stalls=Stalls(seed=run.stop, data=0.2, output=0.4))
        for run in runs
    ]
    assert np.array_equal(np.concatenate(decoded), prefill)
    # And it is the right thing at the right place: what the software that captured the arrays made of them. The input
    # was rounded (half an LSB in each of two elements) and the output too.
    wanted = capture.software[index] / capture.scale[index]
    assert np.abs(prefill - wanted).max() < np.sqrt(0.5) + 0.75
    late = rotated(engine, words, np.arange(1, tokens + 1), slot=slot)
    assert np.abs(late - wanted).max() > 1000


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("word", [FRANCE, CAPITAL], ids=["France", "capital"])
def test_the_last_tokens_score_depends_on_the_offset_only(engine, layer, word, capture) -> None:
    index, slot, base = LAYERS[layer]
    words = capture.words[index, FIRST:PROMPT]
    bound = bounds(engine.design, slot, words)[:, LAST, word]
    furthest = (1 << 24) - len(words)
    generator = np.random.default_rng(word)
    shifts = [0, 1, 1000, furthest, *generator.integers(0, furthest, 40), *generator.integers(0, 40_000, 20)]
    at = np.concatenate([positions_of(Command(start=int(shift), count=len(words))) for shift in shifts])
    everything = rotated(engine, np.tile(words, (len(shifts), 1, 1)), at, slot=slot)
    found = np.array([scores(turned)[:, LAST, word] for turned in np.split(everything, len(shifts))])
    assert (np.abs(found - found[0]) <= 2 * bound).all()
    # The exact score at that offset: the query stands still and the key is turned back.
    pairs = words.reshape(len(words), 5, -1, 2)
    frequency = exact_inverse_frequency(base, 256)
    key = exact_rotation(pairs[word, 4], -exact_turns(frequency, np.array(LAST - word)))
    exact = (pairs[LAST, :4] * key).sum(axis=(-1, -2))
    # The steps' own rounding, 2**-49 turns per position, shows only in the offset of 1 or 3.
    assert (np.abs(found - exact) <= bound).all()
    # One position off would be noticed: no score fits the neighbouring offset in every head.
    for neighbour in (LAST - word - 1, LAST - word + 1):
        other = exact_rotation(pairs[word, 4], -exact_turns(frequency, np.array(neighbour)))
        assert (np.abs(found - (pairs[LAST, :4] * other).sum(axis=(-1, -2))) > bound).any(axis=1).all()


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
def test_a_shuffled_prompt_permutes_the_scores_without_the_engine_and_changes_them_with_it(engine, capture) -> None:
    """ "France capital what is the of ?": the same words, which without positions no score can tell apart."""
    index, slot, _ = LAYERS["local"]
    words = capture.words[index, FIRST:PROMPT]
    again = capture.words[index]  # "capital of France" is said once more in the answer: layer 0 does not know where
    for first, second in ((4, 10), (5, 11), (6, 12)):
        assert np.abs(again[first] - again[second]).max() <= 1
    place = np.array(SHUFFLED)
    there = np.ix_(range(4), place, place)
    position = np.arange(len(words))
    plain = scores(rotated(engine, words, position, slot=slot, flags=PASS))
    assert np.array_equal(scores(rotated(engine, words[place], position, slot=slot, flags=PASS)), plain[there])
    ordered = scores(rotated(engine, words, position, slot=slot))
    change = np.abs(scores(rotated(engine, words[place], position, slot=slot)) - ordered[there])
    bound = 2 * bounds(engine.design, slot, words)[there]
    offset = position[:, None] - position
    kept = offset == place[:, None] - place
    assert kept.sum() == 7 + 2 * 3  # each word with itself, and "What is the", which stayed together
    assert (change[:, kept] <= bound[:, kept]).all()
    # All others are scores of another offset. A few happen to lie near the old one.
    assert (change[:, ~kept] > 0).all()
    assert (change[:, ~kept] > bound[:, ~kept]).mean() > 0.8
