"""The exact bias, from the papers' formulas alone: nothing here comes from the unit's tables or model."""

from functools import cache

import mpmath

PRECISION_BITS = 200


@cache
def exact_slopes(heads: int, bias_max: float = 8) -> tuple[mpmath.mpf, ...]:
    """The slopes as the paper's authors compute them (``get_slopes``), in 200 bits; MPT's largest exponent."""
    with mpmath.workprec(PRECISION_BITS):
        power = 1 << (heads.bit_length() - 1)
        if power == heads:
            start = mpmath.power(2, -mpmath.mpf(bias_max) / heads)
            return tuple(start ** (head + 1) for head in range(heads))
        return exact_slopes(power, bias_max) + exact_slopes(2 * power, bias_max)[0::2][: heads - power]


def exact_bias(slope: mpmath.mpf, mode: str, query: int, key: int, length: int) -> mpmath.mpf:
    """The bias of one key; 0 for a key below 0, which is padding.

    ``relative`` slope (k - q), ``absolute`` slope k, ``mpt`` slope (k - (L - 1)), ``symmetric`` -slope |q - k|.
    """
    if key < 0:
        return mpmath.mpf(0)
    with mpmath.workprec(PRECISION_BITS):
        return (
            slope
            * {
                "relative": key - query,
                "absolute": key,
                "mpt": key - (length - 1),
                "symmetric": -abs(query - key),
            }[mode]
        )
