"""The frequencies of a GGUF model: ``rope.scaling.*``, divisor lists, and where the stacks read them differently.

llama.cpp computes ``theta_i = b ** (-2 i / d) / divisor_i``, scales it by ``1 / factor`` and, for YaRN, blends the two;
see ``ggml_rope_cache_init`` and ``rope_yarn`` (ggml) and ``llama_context`` (the amplitude).
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from ..geometry.frequencies import (
    BETA_FAST,
    BETA_SLOW,
    default_frequencies,
    yarn_amplitude,
    yarn_frequencies,
    yarn_gain,
    yarn_range,
    yarn_score_scale,
)
from ..geometry.recipe import Recipe
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..geometry.scaled_frequencies import linear_frequencies, longrope_amplitude, longrope_frequencies
from ..strict_json import Keys, show
from .gguf_architectures import Architecture
from .gguf_tensors import LARGEST_DIVISOR
from .scaling import FACTOR_LIMIT, Follow

TYPES = ("none", "linear", "yarn", "longrope")

YARN_KEYS = ("yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow", "yarn_ext_factor", "yarn_log_multiplier")


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """What a file's scaling keys mean to the stack that is followed.

    Parameters
    ----------
    kind
        ``linear`` (also for none), ``yarn`` or ``longrope``.
    factor
        Frequencies are divided by it.
    context, original
        Positions in all, and before the extension.
    amplitude
        On cos and sin, of every variant that is scaled.
    score_scale
        What the model multiplies scores with, or None.
    beta_fast, beta_slow, truncate, step, blend
        YaRN's range; what betas the wrong way round mean; the share of YaRN in the result, mostly 1.
    """

    kind: str
    factor: float
    context: int
    original: int
    amplitude: float
    score_scale: float | None = None
    beta_fast: float = BETA_FAST
    beta_slow: float = BETA_SLOW
    truncate: bool = True
    step: bool = False
    blend: float = 1.0

    @property
    def max_position(self) -> int:
        """The number of positions of a variant with this scaling."""
        return max(self.context, int(self.factor * self.original)) if self.kind == "yarn" else self.context


def read_scaling(
    keys: Keys, name: str, architecture: Architecture, follow: Follow, lists: bool, note: Callable[[str], None]
) -> Scaling:
    """The scaling that ``keys`` of the architecture ``name`` mean; ``lists``: there are longrope's divisor lists.

    Raises
    ------
    InputError
        If a key has a wrong value, or belongs to another architecture.
    """
    context = keys.required_integer("context_length", 1, MAX_POSITIONS)
    original = keys.integer("rope.scaling.original_context_length", 0, MAX_POSITIONS) or context
    kind = keys.get("rope.scaling.type")
    if kind is not None and kind not in TYPES:
        raise keys.error("rope.scaling.type", f"{', '.join(TYPES[:-1])} or {TYPES[-1]}")
    factor = keys.number("rope.scaling.factor", 0.0, FACTOR_LIMIT)
    legacy = keys.number("rope.scale_linear", 0.0, FACTOR_LIMIT)
    factor = legacy if factor is None else factor
    if kind == "none" or not factor:
        factor = 1.0
    if factor < 1 / FACTOR_LIMIT:
        raise keys.error("rope.scaling.factor", f"0 or from {1 / FACTOR_LIMIT:g} to {FACTOR_LIMIT:g}")
    gain = keys.number("rope.scaling.attn_factor", 0.0, MAX_AMPLITUDE)
    if gain == 0:
        raise keys.error("rope.scaling.attn_factor", "above 0")
    if kind == "yarn":
        return _yarn(keys, name, architecture, follow, factor, context, original, gain or 1.0, note)
    for key in YARN_KEYS:
        if f"rope.scaling.{key}" in keys:
            keys.get(f"rope.scaling.{key}")
            note(f"{keys.name(f'rope.scaling.{key}')} is ignored: the scaling is not YaRN")
    if kind == "longrope" and not lists:
        raise keys.refuse(
            "rope.scaling.type is longrope, but the tensors rope_factors_long.weight and rope_factors_short.weight "
            "are missing"
        )
    if lists:
        gain = _longrope_amplitude(keys, follow, context, original, gain, note)
        kind = "longrope"
    return Scaling(
        kind=kind if kind == "longrope" else "linear",
        factor=factor,
        context=context,
        original=original,
        amplitude=gain or 1.0,
    )


def scaled_frequencies(
    base: float, width: int, scaling: Scaling | None, divisors: tuple[float, ...] | None
) -> tuple[float, ...]:
    """The inverse frequencies of ``width`` rotated elements; ``scaling`` None leaves them unscaled.

    The largest divisor that converters write stands for a pair that is not rotated, whose frequency is 0.
    """
    if scaling is None or scaling.factor == 1:
        found = default_frequencies(base, width) if divisors is None else _divided(base, width, divisors)
    elif scaling.kind == "yarn":
        found = _yarn_blend(base, width, scaling)
        if divisors is not None:
            found = tuple(frequency / divisor for frequency, divisor in zip(found, divisors, strict=True))
    elif divisors is None:
        found = linear_frequencies(base, width, factor=scaling.factor)
    else:
        found = tuple(frequency / scaling.factor for frequency in _divided(base, width, divisors))
    if divisors is None:
        return found
    return tuple(
        0.0 if divisor >= LARGEST_DIVISOR else frequency for frequency, divisor in zip(found, divisors, strict=True)
    )


def file_recipe(base: float, width: int, scaling: Scaling | None, divisors: tuple[float, ...] | None) -> Recipe | None:
    """What llama.cpp starts from for :func:`scaled_frequencies`; ``None`` for a part of YaRN, which has no name."""
    if scaling is not None and scaling.kind == "yarn":
        if scaling.blend != 1:
            return None
        return Recipe(
            kind="yarn",
            base=base,
            width=width,
            factor=scaling.factor,
            original=scaling.original,
            beta_fast=scaling.beta_fast,
            beta_slow=scaling.beta_slow,
            truncate=scaling.truncate,
            divisors=divisors,
        )
    if scaling is not None and scaling.factor != 1:
        return Recipe(kind="linear", base=base, width=width, factor=scaling.factor, divisors=divisors)
    listed = scaling is not None and scaling.kind == "longrope"
    return Recipe(kind="longrope" if listed else "default", base=base, width=width, divisors=divisors)


def _divided(base: float, width: int, divisors: tuple[float, ...]) -> tuple[float, ...]:
    return longrope_frequencies(base, width, divisors=divisors)


def _yarn_blend(base: float, width: int, scaling: Scaling) -> tuple[float, ...]:
    whole = yarn_frequencies(
        base,
        width,
        factor=scaling.factor,
        original=scaling.original,
        beta_fast=scaling.beta_fast,
        beta_slow=scaling.beta_slow,
        truncate=scaling.truncate,
        inverted="step" if scaling.step else "blend",
    )
    if scaling.blend == 1:
        return whole
    linear = linear_frequencies(base, width, factor=scaling.factor)
    share = scaling.blend
    return tuple(share * a + (1 - share) * b for a, b in zip(whole, linear, strict=True))


def check_yarn_range(keys: Keys, base: float, width: int, scaling: Scaling, note: Callable[[str], None]) -> None:
    """Refuse a base that YaRN cannot work with; note a range that truncation changes."""
    if scaling.kind != "yarn":
        return
    if base <= 1:
        raise keys.refuse(f"{keys.name('rope.freq_base')} must be above 1 for YaRN, not {base:g}")
    if not scaling.truncate:
        low, high = yarn_range(
            base,
            width,
            original=scaling.original,
            beta_fast=scaling.beta_fast,
            beta_slow=scaling.beta_slow,
            truncate=False,
        )
        note(
            f"YaRN's ramp runs from pair {low:.4g} to {high:.4g} as this model was trained (truncate false, which the "
            f"file does not say); llama.cpp rounds both to whole pairs (--follow llama.cpp)"
        )


def _yarn(
    keys: Keys,
    name: str,
    architecture: Architecture,
    follow: Follow,
    factor: float,
    context: int,
    original: int,
    gain: float,
    note: Callable[[str], None],
) -> Scaling:
    """YaRN's keys. The author's are read for ``hf``; what llama.cpp does not look at is ignored for ``llama.cpp``."""
    ours = follow == "llama.cpp"
    fast = keys.number("rope.scaling.yarn_beta_fast", 0.0, 1e9)
    slow = keys.number("rope.scaling.yarn_beta_slow", 0.0, 1e9)
    given = (fast or architecture.beta_fast, slow or BETA_SLOW)
    betas = given if architecture.yarn_keys or not ours else (architecture.beta_fast, BETA_SLOW)
    if not architecture.yarn_keys and given != (architecture.beta_fast, BETA_SLOW):
        note(
            f"yarn_beta_fast {given[0]:g} and yarn_beta_slow {given[1]:g} "
            + ("are ignored" if ours else "are used")
            + f": llama.cpp takes {architecture.beta_fast:g} and {BETA_SLOW:g} in the architecture {name}"
        )
    if betas[0] < betas[1]:
        note(
            f"yarn_beta_fast {betas[0]:g} is below yarn_beta_slow {betas[1]:g}: imported as "
            f"{'llama.cpp' if ours else 'Hugging Face'} computes it"
        )
    if ours and not architecture.truncate:
        note(
            "YaRN's range is rounded to whole pairs, as llama.cpp does; this model was trained without (truncate false)"
        )
    if factor * original > MAX_POSITIONS:
        raise keys.refuse("rope.scaling.factor x original_context_length must be at most 2**40")
    blend = keys.number("rope.scaling.yarn_ext_factor", 0.0, 1e6)
    if blend is not None and blend != 1 and not architecture.yarn_ext:
        note(f"{keys.name('rope.scaling.yarn_ext_factor')} {blend:g} is ignored, as llama.cpp does in {name}")
    if blend is None or not architecture.yarn_ext:
        blend = 1.0
    mscale_all_dim = _mscale_all_dim(keys, name, architecture)
    return Scaling(
        kind="yarn",
        factor=factor,
        context=context,
        original=original,
        amplitude=_yarn_amplitude(keys, name, follow, factor, mscale_all_dim, blend, note) * gain,
        score_scale=yarn_score_scale(factor, mscale_all_dim) if architecture.latent and mscale_all_dim else None,
        beta_fast=betas[0],
        beta_slow=betas[1],
        truncate=architecture.truncate or ours,
        step=ours,
        blend=blend,
    )


def _mscale_all_dim(keys: Keys, name: str, architecture: Architecture) -> float:
    """DeepSeek's mscale_all_dim. Older converters wrote a tenth of it, in some architectures."""
    key = "rope.scaling.yarn_log_multiplier"
    value = keys.number(key, 0.0, 100.0)
    if value and architecture.log_multiplier is None:
        raise keys.refuse(f"the key {keys.name(key)} is not one of the architecture {name}")
    if not value:
        return 0.0
    return float(f"{value / (architecture.log_multiplier or 1.0):.7g}")  # a 32-bit float has seven digits


def _yarn_amplitude(
    keys: Keys,
    name: str,
    follow: Follow,
    factor: float,
    mscale_all_dim: float,
    blend: float,
    note: Callable[[str], None],
) -> float:
    key = "rope.scaling.yarn_attn_factor"
    own = keys.number(key, 0.0, MAX_AMPLITUDE)
    if own == 0:
        raise keys.error(key, "above 0")
    if blend == 0:  # then llama.cpp leaves YaRN out, and takes the key as it is
        return own or 1.0
    mscale = mscale_all_dim if name == "deepseek2" else 1.0
    if mscale_all_dim not in (0.0, 1.0):
        note(f"the file does not say mscale: it is taken to be {mscale:g}, as llama.cpp does")
    usual = yarn_amplitude(
        factor, mscale=mscale if mscale_all_dim else None, mscale_all_dim=mscale_all_dim if mscale_all_dim else None
    )
    if own is None or abs(own / usual - 1) < 1e-6:
        return usual
    if abs(own * yarn_gain(factor, 1.0) - 1) < 1e-6:
        note(f"{keys.name(key)} {own:g} is ignored: it is the older key attn_factor, which Hugging Face ignores too")
        return usual
    if follow == "llama.cpp":
        note(f"{keys.name(key)} {own:g} is ignored, as llama.cpp does: the amplitude is {usual:.6g}")
        return usual
    note(f"{keys.name(key)} {own:g} is the amplitude; llama.cpp ignores it and takes {usual:.6g}")
    return own


def _longrope_amplitude(
    keys: Keys, follow: Follow, context: int, original: int, given: float | None, note: Callable[[str], None]
) -> float:
    """``rope.scaling.attn_factor``; the exact formula where the file's 32-bit float is that, or where it is absent."""
    if original < 2:
        raise keys.error("rope.scaling.original_context_length", "above 1")
    exact = longrope_amplitude(context / original, original)
    if given is None:
        if exact == 1 or follow == "llama.cpp":
            return 1.0
        note(
            f"{keys.name('rope.scaling.attn_factor')} is absent: the amplitude is longrope's own, {exact:.6g}; "
            f"llama.cpp takes 1"
        )
        return exact
    if struct.pack("<f", exact) == struct.pack("<f", given):
        return exact
    if abs(given / exact - 1) > 1e-6:
        note(
            f"{keys.name('rope.scaling.attn_factor')} is {show(given)}; longrope's formula gives {exact:.6g} for these "
            f"lengths"
        )
    return given
