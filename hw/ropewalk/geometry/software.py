"""The single-precision frequencies of the software stacks: what each computes before it takes a cosine.

A :class:`~ropewalk.geometry.recipe.Recipe` holds what a stack starts from; the functions follow its float32 steps, one
rounding at a time, from the sources named at each. What is reproduced, and how exactly, is in
``docs/number-contract.md``, "Angle models".
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..errors import InputError
from .float32 import add, div, f32, mul, of_precise, sub
from .frequencies import BETA_FAST, BETA_SLOW
from .powers import libm_pow, sleef_pow
from .precise import nearest, precise
from .recipe import HIGH_BASE, Recipe

Software = Literal["hf_f32", "llamacpp_f32"]

VECTOR = 32
"""PyTorch's loops take this many float32 at a time on a CPU with AVX-512 (16 with AVX2); the rest goes to the libm."""


@dataclass(frozen=True, kw_only=True)
class RunningProduct:
    """llama.cpp's parameters of a variant, all float32: see :func:`llamacpp_parameters`.

    ``divisors`` and ``mix`` (the part of the unscaled angle) have one value per pair; ``mix`` is ``None`` where
    nothing is blended.
    """

    theta_scale: float
    frequency_scale: float
    magnitude: float
    divisors: tuple[float, ...]
    mix: tuple[float, ...] | None


@lru_cache(maxsize=64)
def hf_frequencies(recipe: Recipe) -> tuple[float, ...]:
    """``inv_freq`` of Hugging Face transformers 5 on PyTorch's CPU backend, as the float32 values of its tensor.

    Source: ``modeling_rope_utils.py``.

    Raises
    ------
    InputError
        If the recipe is none of Hugging Face's, or leads to no frequencies.
    """
    frequencies = _hf_frequencies(recipe)
    if not all(0 <= frequency < math.inf for frequency in frequencies):
        raise InputError(f"in single precision the rope type {recipe.kind} of this variant leads to no frequencies")
    return frequencies


def _hf_frequencies(recipe: Recipe) -> tuple[float, ...]:
    if recipe.divisors is not None and recipe.kind != "longrope":
        raise InputError(
            f"divisors beside the rope type {recipe.kind} are llama.cpp's: use the angle model llamacpp_f32"
        )
    width, base = recipe.width, f32(recipe.base)
    if recipe.kind == "dynamic":
        base = _dynamic_base(recipe)
    if recipe.kind == "proportional":
        turning = recipe.rotated or 0
        inverse = [div(div(1.0, power), f32(recipe.factor)) for power in _powers(base, width, turning)]
        return (*inverse, *(0.0,) * (recipe.pairs - turning))
    powers = _powers(base, width, recipe.pairs)
    if recipe.kind == "longrope":
        divisors = recipe.divisors or ()
        return tuple(div(1.0, mul(f32(d), power)) for d, power in zip(divisors, powers, strict=True))
    inverse = [div(1.0, power) for power in powers]
    if recipe.kind == "linear":
        return tuple(div(frequency, f32(recipe.factor)) for frequency in inverse)
    if recipe.kind == "llama3":
        return tuple(_llama3(frequency, recipe) for frequency in inverse)
    if recipe.kind == "yarn":
        scaled = [div(1.0, mul(f32(recipe.factor), power)) for power in powers]
        weights = _hf_ramp(recipe)
        return tuple(
            add(mul(slow, sub(1.0, weight)), mul(fast, weight))
            for slow, fast, weight in zip(scaled, inverse, weights, strict=True)
        )
    return tuple(inverse)


@lru_cache(maxsize=64)
def llamacpp_parameters(recipe: Recipe, amplitude: float) -> RunningProduct:
    """What llama.cpp's ``ggml_rope_cache_init`` (ggml's CPU backend) is called with, and makes at once of it.

    Sources: ``ggml/src/ggml-cpu/ops.cpp``, ``ggml/src/ggml.c`` (``ggml_rope_yarn_corr_dims``), ``llama-context.cpp``
    (YaRN's magnitude) and ``convert_hf_to_gguf.py`` (llama3's divisors).

    Raises
    ------
    InputError
        If llama.cpp has no such rope type.
    """
    if recipe.kind == "dynamic" and (recipe.length or 0) > (recipe.original or 0):
        raise InputError("llama.cpp has no dynamic NTK scaling, so there is no llamacpp_f32 angle to follow")
    if recipe.width % 2:
        raise InputError(f"llama.cpp rotates an even number of elements, not {recipe.width}")
    base = f32(recipe.base)
    scale = div(1.0, f32(recipe.factor)) if recipe.kind in ("linear", "yarn", "proportional") else 1.0
    magnitude, mix = f32(amplitude), None
    if recipe.kind == "yarn":
        mix = _llamacpp_mix(recipe)
        # The context divides by the gain that ggml multiplies with.
        gain = add(1.0, mul(f32(0.1), _log(div(1.0, scale))))
        magnitude = mul(mul(magnitude, div(1.0, gain)), gain)
    return RunningProduct(
        theta_scale=libm_pow(base, div(-2.0, float(recipe.width))),
        frequency_scale=scale,
        magnitude=magnitude,
        divisors=_llamacpp_divisors(recipe),
        mix=mix,
    )


def check_software(recipe: Recipe | None, software: Software, name: str, amplitude: float, pairs: int) -> None:
    """Refuse a variant, called ``name``, whose angles in ``software`` are not known.

    Raises
    ------
    InputError
        If it has no recipe, or one that is not of its number of pairs, or not one of the software's.
    """
    if recipe is None:
        raise InputError(
            f"what software makes the frequencies of the variant {name!r} from is not known, so the angle model "
            f"{software} cannot be had; use exact"
        )
    if recipe.pairs != pairs:
        raise InputError(f"the recipe of the variant {name!r} makes {recipe.pairs} pairs, not {pairs}")
    if software == "hf_f32":
        hf_frequencies(recipe)
    else:
        llamacpp_parameters(recipe, amplitude)


def _powers(base: float, width: int, count: int) -> list[float]:
    """``base ** (2 i / d)`` of ``count`` pairs, as PyTorch's CPU kernel makes a tensor of them."""
    whole = count - count % VECTOR
    exponents = [div(2.0 * pair, float(width)) for pair in range(count)]
    return [sleef_pow(base, e) for e in exponents[:whole]] + [libm_pow(base, e) for e in exponents[whole:]]


def _dynamic_base(recipe: Recipe) -> float:
    """The base that dynamic NTK scaling puts in the place of ``rope_theta`` at a length.

    While it runs, the length is a tensor: all steps are float32, but for the power, which PyTorch takes of a single
    value with the double exponent. (Called with a plain number for the length, the same function uses doubles.)
    """
    original, length, width = recipe.original or 1, recipe.length or 0, recipe.width
    if length <= original:
        return f32(recipe.base)
    product = mul(f32(recipe.factor), f32(float(length)))
    stretched = sub(div(product, f32(float(original))), f32(recipe.factor - 1))
    power = of_precise(lambda ctx: ctx.mpf(stretched) ** ctx.mpf(width / (width - 2)))
    base = mul(f32(recipe.base), power)
    if base > HIGH_BASE:
        raise InputError(
            f"at the length {length} dynamic NTK scaling makes a base of {base:g}: more than {HIGH_BASE:g}"
        )
    return base


def _over(number: float, value: float) -> float:
    """A Python number over a tensor's value: PyTorch multiplies with the reciprocal."""
    return mul(div(1.0, value), f32(number))


def _llama3(frequency: float, recipe: Recipe) -> float:
    original = float(recipe.original or 1)
    low, high = recipe.low_freq_factor or 1.0, recipe.high_freq_factor or 4.0
    factor = f32(recipe.factor)
    wavelength = _over(2 * math.pi, frequency)
    if wavelength > f32(original / low):
        return div(frequency, factor)
    if wavelength < f32(original / high):
        return frequency
    smooth = div(sub(_over(original, wavelength), f32(low)), f32(high - low))
    return add(div(mul(sub(1.0, smooth), frequency), factor), mul(smooth, frequency))


def _hf_ramp(recipe: Recipe) -> list[float]:
    """The weight of the unscaled frequency of each pair."""
    low, high = _turning(recipe, recipe.beta_fast or BETA_FAST), _turning(recipe, recipe.beta_slow or BETA_SLOW)
    if recipe.truncate is not False:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, recipe.width - 1)
    if low == high:
        high += 0.001
    span = f32(high - low)
    ramp = [div(sub(float(pair), f32(low)), span) for pair in range(recipe.width // 2)]
    return [sub(1.0, min(max(value, 0.0), 1.0)) for value in ramp]


def _turning(recipe: Recipe, rotations: float) -> float:
    """The pair that turns ``rotations`` times over the original length, as a double.

    Python computes this with doubles; correctly rounded steps differ from any libm's by a unit of a double at most.
    """
    turns = rotations * 2 * math.pi
    ratio = (recipe.original or 1) / turns if turns else math.inf
    if ratio == math.inf:
        raise InputError(f"YaRN's beta of {rotations:g} is too small for any pair to turn that rarely")
    return recipe.width * nearest(precise.log(ratio)) / (2 * nearest(precise.log(recipe.base)))


def _llamacpp_divisors(recipe: Recipe) -> tuple[float, ...]:
    if recipe.kind == "proportional":
        turning = recipe.rotated or 0
        return (1.0,) * turning + (math.inf,) * (recipe.pairs - turning)
    if recipe.divisors is not None:
        return tuple(map(f32, recipe.divisors))
    if recipe.kind != "llama3":
        return (1.0,) * recipe.pairs
    original = float(recipe.original or 1)
    low, high = recipe.low_freq_factor or 1.0, recipe.high_freq_factor or 4.0
    divisors = []
    for power in _powers(f32(recipe.base), recipe.width, recipe.pairs):
        wavelength = _over(2 * math.pi, div(1.0, power))
        if wavelength < f32(original / high):
            divisors.append(1.0)
        elif wavelength > f32(original / low):
            divisors.append(f32(recipe.factor))
        else:
            smooth = div(sub(_over(original, wavelength), f32(low)), f32(high - low))
            divisors.append(div(1.0, add(div(sub(1.0, smooth), f32(recipe.factor)), smooth)))
    return tuple(divisors)


def _llamacpp_mix(recipe: Recipe) -> tuple[float, ...]:
    """The part of the unscaled angle of each pair: 1 - ramp."""
    low, high = (
        _llamacpp_turning(recipe, beta) for beta in (recipe.beta_fast or BETA_FAST, recipe.beta_slow or BETA_SLOW)
    )
    low = max(0.0, float(math.floor(low)) if math.isfinite(low) else low)
    high = min(float(recipe.width - 1), float(math.ceil(high)) if math.isfinite(high) else high)
    span = max(f32(0.001), sub(high, low))
    ramp = [div(sub(float(pair), low), span) for pair in range(recipe.pairs)]
    return tuple(sub(1.0, min(1.0, max(0.0, value))) for value in ramp)


def _llamacpp_turning(recipe: Recipe, rotations: float) -> float:
    full = mul(mul(f32(rotations), 2.0), f32(math.pi))
    logarithm = _log(div(f32(float(recipe.original or 1)), full))
    return div(mul(float(recipe.width), logarithm), mul(2.0, _log(f32(recipe.base))))


def _log(value: float) -> float:
    """``logf``, correctly rounded; the libm's is within one unit of it."""
    if not 0 < value < math.inf:
        raise InputError(f"in single precision YaRN's range is lost: it takes the logarithm of {value:g}")
    return of_precise(lambda ctx: ctx.log(value))
