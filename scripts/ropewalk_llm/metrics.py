"""How far two runs of a model are apart: divergence, perplexity, tokens, worked out in float64."""

import math
from typing import Any, NamedTuple

from .extra import torch_module

ROWS = 32
"""Tokens whose distributions are worked on at once: at a vocabulary of 262,144 that takes 64 MB for each array."""


class Score(NamedTuple):
    """What sums up over tokens: KL divergence in nat, negative log likelihoods in nat, and of how many tokens each."""

    divergence: float = 0.0
    tokens: int = 0
    float_loss: float = 0.0
    loss: float = 0.0
    predicted: int = 0

    def __add__(self, other: "Score") -> "Score":  # type: ignore[override]
        return Score(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def kl_per_token(self) -> float:
        """The mean divergence, in nat; never below 0 (it is a sum of rounded terms)."""
        return max(0.0, self.divergence / self.tokens) if self.tokens else 0.0

    @property
    def float_perplexity(self) -> float:
        """Of the float run."""
        return math.exp(self.float_loss / self.predicted)

    @property
    def perplexity(self) -> float:
        """Of the run with the engine."""
        return math.exp(self.loss / self.predicted)


def score(wanted: Any, found: Any, tokens: list[int]) -> Score:
    """Compare two runs over the same ``tokens``: logits ``[len(tokens), vocabulary]`` of the float run and of another.

    The divergence is that of ``found`` from ``wanted``: the sum of p (log p - log q), p being the float run's. A token
    is predicted by the logits of the one before; the first is not.
    """
    torch = torch_module()
    total = Score()
    for first in range(0, len(tokens), ROWS):
        here = slice(first, min(first + ROWS, len(tokens)))
        p = torch.log_softmax(wanted[here].double(), dim=-1)
        q = p if found is wanted else torch.log_softmax(found[here].double(), dim=-1)
        divergence = 0.0 if found is wanted else float((p.exp() * (p - q)).sum())
        next_tokens = tokens[here.start + 1 : here.stop + 1]
        row, target = torch.arange(len(next_tokens)), torch.tensor(next_tokens, dtype=torch.int64)
        total += Score(
            divergence,
            here.stop - here.start,
            -float(p[row, target].sum()),
            -float(q[row, target].sum()),
            len(next_tokens),
        )
    return total


def tokens_differing(wanted: list[int], found: list[int]) -> int:
    """In how many places two lists of tokens differ; a token that only one has counts."""
    same = sum(one == other for one, other in zip(wanted, found, strict=False))
    return max(len(wanted), len(found)) - same
