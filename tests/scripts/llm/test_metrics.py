"""Divergence and perplexity against formulas in float64. See docs/testing.md for what these need."""

import numpy as np
import pytest
from ropewalk_llm.metrics import Score, score, tokens_differing


@pytest.mark.optional
@pytest.mark.parametrize("noise", [1e-4, 1e-2, 1.0])
def test_divergence_and_loss(noise):
    import torch

    random = np.random.default_rng(4)
    wanted = (3 * random.normal(size=(70, 5000))).astype(np.float32)
    found = (wanted + noise * random.normal(size=wanted.shape) + 0.5).astype(np.float32)
    tokens = random.integers(0, 5000, 70).tolist()

    def log_softmax(logits):
        values = logits.astype(np.longdouble)
        values = values - values.max(axis=1, keepdims=True)
        return values - np.log(np.exp(values).sum(axis=1, keepdims=True))

    p, q = log_softmax(wanted), log_softmax(found)
    result = score(torch.from_numpy(wanted), torch.from_numpy(found), tokens)
    assert result.kl_per_token == pytest.approx(float((np.exp(p) * (p - q)).sum() / 70), rel=1e-3)
    assert (result.tokens, result.predicted) == (70, 69)
    loss = -sum(q[place, token] for place, token in enumerate(tokens[1:])) / 69
    assert result.perplexity == pytest.approx(float(np.exp(loss)), rel=1e-6)


def test_scores_add_up():
    both = Score(1.0, 4, 6.0, 3).plus(Score(3.0, 4, 2.0, 1))
    assert both.kl_per_token == 0.5
    assert both.perplexity == pytest.approx(np.exp(2.0))
    assert Score(-1e-18, 4).kl_per_token == 0.0


def test_tokens_that_only_one_has_differ():
    assert tokens_differing([1, 2, 3], [1, 2, 3]) == 0
    assert tokens_differing([1, 2, 3], [1, 5, 3]) == 1
    assert tokens_differing([1, 2, 3], [1, 2]) == 1
    assert tokens_differing([], [4, 4]) == 2
