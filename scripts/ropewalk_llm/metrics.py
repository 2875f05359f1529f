"""How far two runs of a model are apart: divergence, perplexity, tokens; sums are float64."""

import math
from typing import Any, NamedTuple

from .extra import torch_module

ROWS = 32
"""Tokens whose distributions are worked on at once: at a vocabulary of 262,144 that takes 64 MB for each array."""


class Score(NamedTuple):
    """What sums up over tokens.

    ``divergence`` is the KL divergence in nat over ``tokens`` tokens, ``loss`` the negative log likelihood of the text
    in nat, over the ``predicted`` tokens of it that have one before them.
    """

    divergence: float = 0.0
    tokens: int = 0
    loss: float = 0.0
    predicted: int = 0

    def plus(self, other: "Score") -> "Score":
        """The score of both."""
        return Score(
            self.divergence + other.divergence,
            self.tokens + other.tokens,
            self.loss + other.loss,
            self.predicted + other.predicted,
        )

    @property
    def kl_per_token(self) -> float:
        """The mean divergence, in nat; never below 0 (it is a sum of rounded terms)."""
        return max(0.0, self.divergence / self.tokens) if self.tokens else 0.0

    @property
    def perplexity(self) -> float:
        """The exponential of the mean loss."""
        return math.exp(self.loss / self.predicted)


def score(wanted: Any, found: Any, tokens: list[int]) -> Score:
    """Compare two runs over the same ``tokens``: logits ``[len(tokens), vocabulary]`` of the float run and of another.

    The divergence is that of ``found`` from ``wanted``, the sum of p (log p - log q), p being the float run's. With d
    the difference of the logits it is log E[exp(E[d] - d)], E being the mean under p: small differences keep their
    digits, where a difference of two logarithms would lose them. A token is predicted by the logits of the one before;
    the first is not.
    """
    torch = torch_module()
    total = Score()
    for first in range(0, len(tokens), ROWS):
        here = slice(first, min(first + ROWS, len(tokens)))
        divergence = 0.0 if found is wanted else float(divergences(wanted[here], found[here]).sum())
        next_tokens = tokens[here.start + 1 : here.stop + 1]
        losses = torch.nn.functional.cross_entropy(
            found[here.start : here.start + len(next_tokens)].float(),
            torch.tensor(next_tokens, dtype=torch.int64),
            reduction="none",
        )
        total = total.plus(Score(divergence, here.stop - here.start, float(losses.double().sum()), len(next_tokens)))
    return total


def divergences(wanted: Any, found: Any) -> Any:
    """The KL divergence of each row of logits ``[rows, vocabulary]``, float64 of torch ``[rows]``."""
    torch = torch_module()
    # Elements may be float32, whose rounding averages out; sums may not, and p must sum to 1.
    p = torch.softmax(wanted, dim=-1).double()
    total = p.sum(dim=-1)
    difference = (wanted - found).double()
    mean = torch.linalg.vecdot(p, difference) / total
    # Around the mean, so that a shift of all logits, which changes nothing, costs no digits.
    spread = torch.expm1((mean[:, None] - difference).float()).double()
    return torch.log1p(torch.linalg.vecdot(p, spread) / total)


def tokens_differing(wanted: list[int], found: list[int]) -> int:
    """In how many places two lists of tokens differ; a token that only one has counts."""
    same = sum(one == other for one, other in zip(wanted, found, strict=False))
    return max(len(wanted), len(found)) - same
