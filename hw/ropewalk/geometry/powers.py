"""``b ** e`` in single precision as two libraries compute it, bit for bit.

Neither is correctly rounded everywhere, and one unit of an inverse frequency is 0.06 rad at position 2**20: to follow a
software's angles is to follow its power function.

- :func:`sleef_pow`: SLEEF's ``powf`` with a bound of 1.0 units (``Sleef_powf8_u10`` and its wider sisters, with fused
  multiply-add), which PyTorch uses on CPUs for whole vectors. After SLEEF 3's ``sleefsimdsp.c`` and ``df.h`` (Naoki
  Shibata and contributors, Boost Software License 1.0): the logarithm of the base as an unevaluated sum of two
  float32, times the exponent, and back.
- :func:`libm_pow`: the ``powf`` of glibc since 2.28 and of musl, after Arm's optimized-routines (MIT licence): base-2
  logarithm and exponential in double precision from small tables.

Both are written here for positive bases and results in the normal range, which is all that positions need.
"""

import math

from .float32 import add, div, f32, fma, mul, sub
from .precise import nearest, precise

Double = tuple[float, float]
"""A number as the unevaluated sum of two float32, the larger first."""


def sleef_pow(base: float, exponent: float) -> float:
    """``base ** exponent`` for a float32 ``base`` of at least 1 and a float32 ``exponent`` of at least 0."""
    if exponent == 0 or base == 1:
        return 1.0
    return _exp(_times(_log(base), exponent))


_LOG = tuple(map(f32, (0.240320354700088500976562, 0.285112679004669189453125, 0.400007992982864379882812)))
_LOG_LAST: Double = (f32(0.66666662693023681640625), f32(3.69183861259614332084311e-09))
_LN2: Double = (f32(0.69314718246459960938), f32(-1.904654323148236017e-09))
_EXP = tuple(
    map(
        f32,
        (
            0.00136324646882712841033936,
            0.00836596917361021041870117,
            0.0416710823774337768554688,
            0.166665524244308471679688,
            0.499999850988388061523438,
        ),
    )
)
_LN2_HIGH, _LN2_LOW = f32(0.693145751953125), f32(1.428606765330187045e-06)
_LOG2_E = f32(1.442695040888963407359924681001892137)
_FOUR_THIRDS = div(1.0, 0.75)


def _log(d: float) -> Double:
    """ln d: with d = m 2**e and m from 0.75 to 1.5, e ln 2 + 2 artanh((m - 1) / (m + 1))."""
    exponent = math.frexp(mul(d, _FOUR_THIRDS))[1] - 1
    m = math.ldexp(d, -exponent)
    x = _quotient(_sum(-1.0, m), _sum(1.0, m))
    square = _square(x)
    t = _LOG[0]
    for constant in _LOG[1:]:
        t = fma(t, square[0], constant)
    s = _times(_LN2, float(exponent))
    s = _add_smaller(s, (mul(x[0], 2.0), mul(x[1], 2.0)))
    return _add_smaller(s, _product(_product(square, x), _add(_times(square, t), _LOG_LAST)))


def _exp(d: Double) -> float:
    """e**d: with d = q ln 2 + s, 2**q times a polynomial in s."""
    q = round(mul(add(d[0], d[1]), _LOG2_E))  # to the nearest, ties to even
    s = _add_one(d, mul(q, -_LN2_HIGH))
    s = _add_one(s, mul(q, -_LN2_LOW))
    high = add(s[0], s[1])
    s = (high, add(sub(s[0], high), s[1]))
    u = _EXP[0]
    for constant in _EXP[1:]:
        u = fma(u, s[0], constant)
    t = _add_smaller(s, _times(_square(s), u))
    high = add(1.0, t[0])
    t = (high, add(add(sub(1.0, high), t[0]), t[1]))
    return math.ldexp(add(t[0], t[1]), q)


def _sum(x: float, y: float) -> Double:
    high = add(x, y)
    v = sub(high, x)
    return high, add(sub(x, sub(high, v)), sub(y, v))


def _add_one(x: Double, y: float) -> Double:
    high, low = _sum(x[0], y)
    return high, add(low, x[1])


def _add(x: Double, y: Double) -> Double:
    high, low = _sum(x[0], y[0])
    return high, add(low, add(x[1], y[1]))


def _add_smaller(x: Double, y: Double) -> Double:
    """``x + y`` where ``|x| >= |y|``."""
    high = add(x[0], y[0])
    return high, add(add(add(sub(x[0], high), y[0]), x[1]), y[1])


def _times(x: Double, y: float) -> Double:
    high = mul(x[0], y)
    return high, fma(x[1], y, fma(x[0], y, -high))


def _product(x: Double, y: Double) -> Double:
    high = mul(x[0], y[0])
    return high, fma(x[0], y[1], fma(x[1], y[0], fma(x[0], y[0], -high)))


def _square(x: Double) -> Double:
    high = mul(x[0], x[0])
    return high, fma(add(x[0], x[0]), x[1], fma(x[0], x[0], -high))


def _quotient(n: Double, d: Double) -> Double:
    t = div(1.0, d[0])
    high = mul(n[0], t)
    u = fma(t, n[0], -high)
    v = fma(-d[1], t, fma(-d[0], t, 1.0))
    return high, fma(high, v, fma(n[1], t, u))


def libm_pow(base: float, exponent: float) -> float:
    """``base ** exponent`` for float32 arguments, ``base`` above 0 and normal, the result in the normal range."""
    mantissa, power = math.frexp(base)
    # The table covers z from 0x1.66p-1 to 0x1.66p+0 in 16 steps that are equal in the bits of a float32.
    code = (int(mantissa * (1 << 24)) - (1 << 23)) + (126 << 23)  # the bits of the mantissa as a float32 below 1
    offset = code - _OFFSET
    if offset < 0:
        offset += 1 << 23
        code += 1 << 23
        mantissa, power = mantissa * 2, power - 1
    inverse, logarithm = _LOG2_TABLE[offset >> 19]
    r = mantissa * inverse - 1.0
    y0 = logarithm + power
    r2 = r * r
    y = _LOG2_POLYNOMIAL[0] * r + _LOG2_POLYNOMIAL[1]
    p = _LOG2_POLYNOMIAL[2] * r + _LOG2_POLYNOMIAL[3]
    q = p * r2 + (_LOG2_POLYNOMIAL[4] * r + y0)
    x = exponent * (y * (r2 * r2) + q)
    k = round(x * 32)  # to the nearest, ties to even, as the library's shifting does
    r = x - k / 32
    y = (_EXP2_POLYNOMIAL[0] * r + _EXP2_POLYNOMIAL[1]) * (r * r) + (_EXP2_POLYNOMIAL[2] * r + 1.0)
    return f32(y * math.ldexp(_EXP2_TABLE[k % 32], k // 32))


_OFFSET = 0x3F330000
_LOG2_TABLE = [
    (float.fromhex(inverse), float.fromhex(logarithm))
    for inverse, logarithm in (
        ("0x1.661ec79f8f3bep+0", "-0x1.efec65b963019p-2"),
        ("0x1.571ed4aaf883dp+0", "-0x1.b0b6832d4fca4p-2"),
        ("0x1.49539f0f010bp+0", "-0x1.7418b0a1fb77bp-2"),
        ("0x1.3c995b0b80385p+0", "-0x1.39de91a6dcf7bp-2"),
        ("0x1.30d190c8864a5p+0", "-0x1.01d9bf3f2b631p-2"),
        ("0x1.25e227b0b8eap+0", "-0x1.97c1d1b3b7afp-3"),
        ("0x1.1bb4a4a1a343fp+0", "-0x1.2f9e393af3c9fp-3"),
        ("0x1.12358f08ae5bap+0", "-0x1.960cbbf788d5cp-4"),
        ("0x1.0953f419900a7p+0", "-0x1.a6f9db6475fcep-5"),
        ("0x1p+0", "0x0p+0"),
        ("0x1.e608cfd9a47acp-1", "0x1.338ca9f24f53dp-4"),
        ("0x1.ca4b31f026aap-1", "0x1.476a9543891bap-3"),
        ("0x1.b2036576afce6p-1", "0x1.e840b4ac4e4d2p-3"),
        ("0x1.9c2d163a1aa2dp-1", "0x1.40645f0c6651cp-2"),
        ("0x1.886e6037841edp-1", "0x1.88e9c2c1b9ff8p-2"),
        ("0x1.767dcf5534862p-1", "0x1.ce0a44eb17bccp-2"),
    )
]
"""1 / c and log2(c) of a point c near the middle of each step."""

_LOG2_POLYNOMIAL = [
    float.fromhex(constant)
    for constant in (
        "0x1.27616c9496e0bp-2",
        "-0x1.71969a075c67ap-2",
        "0x1.ec70a6ca7baddp-2",
        "-0x1.7154748bef6c8p-1",
        "0x1.71547652ab82bp0",
    )
]
_EXP2_POLYNOMIAL = [
    float.fromhex(constant) for constant in ("0x1.c6af84b912394p-5", "0x1.ebfce50fac4f3p-3", "0x1.62e42ff0c52d6p-1")
]
_EXP2_TABLE = [nearest(precise.mpf(2) ** (precise.mpf(step) / 32)) for step in range(32)]
"""2 ** (i / 32) as doubles."""
