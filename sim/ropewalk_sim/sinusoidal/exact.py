"""The exact rows: an independent witness of every element, written from the papers and the families' code.

It shares nothing with the tables or the fixed-point model: frequencies are multiple-precision numbers, phases are
integers of 96 bits (:mod:`ropewalk_sim.exact`), and only the last step is a double.

Sources: Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), 3.5; for the other forms the code of Marian,
tensor2tensor and fairseq.
"""

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike, NDArray
from ropewalk_sim.exact import exact_cosine_sine, exact_turns

_context: Any = mpmath.mp.clone()  # mpmath has no types to speak of
_context.prec = 256

FORMS = ("paper", "marian", "tensor2tensor")


def exact_rows(form: str, dimension: int, rows: ArrayLike) -> NDArray[np.float64]:
    """The elements of ``rows`` in one of :data:`FORMS`: float64 ``[n, dimension]``. fairseq's are tensor2tensor's.

    ``paper``: sin and cos of ``row / 10000 ** (2 i / d)`` in turn; ``marian``: the same, all sines first;
    ``tensor2tensor``: sines then cosines of ``row / 10000 ** (i / (d // 2 - 1))``, and a 0 where one is left.
    """
    if form == "tensor2tensor":
        n = dimension // 2
        frequencies = [_context.mpf(10000) ** (_context.mpf(-i) / (n - 1)) for i in range(n)]
    else:
        frequencies = [_context.mpf(10000) ** (_context.mpf(-2 * i) / dimension) for i in range((dimension + 1) // 2)]
    return exact_elements(frequencies, dimension, half=form != "paper", rows=rows)


def exact_elements(frequencies: Sequence[Any], dimension: int, *, half: bool, rows: ArrayLike) -> NDArray[np.float64]:
    """The same from frequencies in radians per row, each taken exactly."""
    cosine, sine = exact_cosine_sine(exact_turns(frequencies, rows))
    n = len(frequencies)
    cosine = cosine[:, : dimension - n]
    made = np.zeros((len(sine), dimension))
    if half:
        made[:, :n] = sine
        made[:, n : n + cosine.shape[1]] = cosine
    else:
        made[:, 0 : 2 * n : 2] = sine
        made[:, 1 : 2 * cosine.shape[1] : 2] = cosine
    return made
