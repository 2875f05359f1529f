"""ALiBi: a bias on every attention score, proportional to the distance of key and query.

Source: Press, Smith and Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input Length
Extrapolation" (arXiv 2108.12409), section 3 and the authors' code for head counts that are no power of two. MPT and
llama.cpp generalise the 8 of its formula to a largest exponent, ``alibi_bias_max``.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..strict_json import Keys, known_object
from .precise import nearest, precise
from .rotary import MAX_HEADS

AlibiMode = Literal["relative", "absolute", "mpt", "symmetric"]

MODES: tuple[AlibiMode, ...] = get_args(AlibiMode)

BIAS_MAX = 8.0
"""The paper's exponent of the last head: its slope is 2 ** -8."""

MAX_BIAS_MAX = 64.0
MAX_SLOPE = 1.0
"""A slope is 2 to a power of 0 or less."""


@dataclass(frozen=True, kw_only=True)
class AlibiGeometry:
    """The biases of a model. Field names are those of ``ropewalk geometry --json``.

    Parameters
    ----------
    heads, slopes
        One slope per head: what the bias changes by per position, in units of the score. Correctly rounded doubles.
    mode
        What is multiplied with the slope, k being a key's position, q the query's, L the number of keys:
        ``relative`` k - q (the paper, llama.cpp, Baichuan); ``absolute`` k counted over the keys that are not masked,
        0 for masked ones (BLOOM, Falcon); ``mpt`` k - (L - 1); ``symmetric`` -\\|q - k\\| (JinaBERT, an encoder).
    scale_after
        What the model multiplies the *biased* scores with: Falcon adds the bias to q.k as it is and divides the sum
        by the square root of the head size. 1 where the bias is added to scores that are scaled already.
    """

    model_type: str
    heads: int
    slopes: tuple[float, ...]
    mode: AlibiMode
    scale_after: float = 1.0
    notes: tuple[str, ...] = ()


def alibi_slopes(heads: int, bias_max: float = BIAS_MAX) -> tuple[float, ...]:
    """The slope of each of ``heads`` heads: ``2 ** (-bias_max (h + 1) / heads)`` for a power of two.

    Of any other number, with p the power of two below it: those of p heads, then every other one of those of 2 p
    heads, from the first on. They do not fall monotonically, which is how the models were trained.
    MPT writes the same differently: the slopes of 2 p heads, the odd ones before the even ones.
    """
    power = 1 << (heads.bit_length() - 1)
    exponents = [precise.mpf(head + 1) / power for head in range(power)]
    exponents += [precise.mpf(2 * head + 1) / (2 * power) for head in range(heads - power)]
    return tuple(nearest(precise.power(2, -precise.mpf(bias_max) * exponent)) for exponent in exponents)


def geometry_to_json(geometry: AlibiGeometry) -> dict[str, Any]:
    """``geometry`` as ``ropewalk geometry --json`` prints it: plain values in a fixed order, without notes."""
    return {
        "scheme": "alibi",
        "model_type": geometry.model_type,
        "heads": geometry.heads,
        "slopes": list(geometry.slopes),
        "mode": geometry.mode,
        "scale_after": geometry.scale_after,
    }


_KEYS = frozenset(["scheme", "model_type", "heads", "slopes", "mode", "scale_after"])


def geometry_from_json(values: object, where: str = "geometry") -> AlibiGeometry:
    """The geometry that :func:`geometry_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything in ``values`` is missing, unknown, of another kind, out of range, or contradicts the rest.
    """
    keys = known_object(values, where, "alibi", _KEYS)
    heads = keys.required_integer("heads", 1, MAX_HEADS)
    return AlibiGeometry(
        model_type=keys.required_text("model_type"),
        heads=heads,
        slopes=keys.required_numbers("slopes", heads, 0.0, MAX_SLOPE),
        mode=keys.required_choice("mode", MODES),
        scale_after=_above_zero(keys, "scale_after"),
    )


def _above_zero(keys: Keys, key: str) -> float:
    value = keys.required_number(key, 0.0, 1.0)
    if value == 0:
        raise keys.error(key, "above 0")
    return value
