"""What a GGUF file's scaling means, and YaRN's keys among it."""

from collections.abc import Callable
from dataclasses import dataclass

from ..geometry.frequencies import BETA_FAST, BETA_SLOW, yarn_amplitude, yarn_gain, yarn_range, yarn_score_scale
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..strict_json import Keys
from .gguf_architectures import Architecture
from .scaling import Follow


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


def read_yarn(
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
