"""Longrope as a rope type: a list of divisors for short texts and one for long ones, two variants."""

from ..geometry.recipe import Recipe
from ..geometry.rotary import MAX_AMPLITUDE, MAX_POSITIONS
from ..geometry.scaled_frequencies import longrope_amplitude, longrope_frequencies
from ..strict_json import Keys, show
from .rope_types import FACTOR_LIMIT, Request, Scaled, original_length, ratio_of_lengths

LONGROPE_KEYS = frozenset(
    [
        "attention_factor",
        "factor",
        "long_factor",
        "long_mscale",
        "original_max_position_embeddings",
        "short_factor",
        "short_mscale",
    ]
)


def longrope(keys: Keys, request: Request) -> list[Scaled]:
    """The variants ``short`` and ``long``, in this order."""
    pairs = (request.width + 1) // 2
    short, long = (_divisors(keys, key, pairs) for key in ("short_factor", "long_factor"))
    original = original_length(keys, request)
    if original < 2:
        raise keys.refuse(f"original_max_position_embeddings must be at least 2 for longrope, not {original}")
    amplitudes = _amplitudes(keys, request, original)
    lengths = (original, request.max_position)
    use_long = _uses_long(request, original)
    return [
        Scaled(
            inverse_frequency=longrope_frequencies(request.base, request.width, divisors=divisors),
            amplitude=amplitude,
            max_position=length,
            name=name,
            in_force=use_long == (name == "long"),
            recipe=Recipe(kind="longrope", base=request.base, width=request.width, divisors=tuple(divisors)),
        )
        for name, divisors, amplitude, length in zip(("short", "long"), (short, long), amplitudes, lengths, strict=True)
    ]


def _divisors(keys: Keys, key: str, pairs: int) -> list[float]:
    listed = keys.items(key, 1 << 16)
    if listed is None or len(listed) != pairs:
        raise keys.error(key, f"a list of {pairs} numbers (rotary_dim / 2)")
    for item in listed:
        if isinstance(item, bool) or not isinstance(item, (int, float)) or not 1 / FACTOR_LIMIT <= item <= FACTOR_LIMIT:
            raise keys.refuse(f"{keys.name(key)} must hold numbers from 2**-20 to 2**20 only, not {show(item)}")
    return [float(item) for item in listed]


def _amplitudes(keys: Keys, request: Request, original: int) -> tuple[float, float]:
    """The amplitudes of the short and of the long list."""
    factor = keys.number("factor", 1 / FACTOR_LIMIT, FACTOR_LIMIT)
    if factor is None:
        factor = ratio_of_lengths(keys, request, original)
    given = keys.number("attention_factor", 0.0, MAX_AMPLITUDE)
    if given == 0:
        raise keys.error("attention_factor", "above 0")
    usual = longrope_amplitude(factor, original) if given is None else given
    own = [keys.number(key, 0.0, MAX_AMPLITUDE) for key in ("short_mscale", "long_mscale")]
    if 0 in own:
        raise keys.error("short_mscale" if own[0] == 0 else "long_mscale", "above 0")
    if request.model_type == "phi3" and request.follow == "hf" and own != [None, None]:
        request.note("short_mscale and long_mscale are ignored, as Hugging Face does in the family phi3")
        return usual, usual
    short, long = (usual if value is None else value for value in own)
    return short, long


def _uses_long(request: Request, original: int) -> bool:
    """Whether the long list is in force, with the rule of the followed software as a note."""
    if request.follow == "hf":
        length = request.sequence_length
        request.note(
            f"longrope: Hugging Face uses the long list for all tokens of a call whose highest position is {original} "
            f"or more, else the short one; vLLM and llama.cpp choose one for good by the length they are started with "
            f"(--follow)"
        )
        return length is not None and length > original
    length = min(request.sequence_length or request.max_position, MAX_POSITIONS)
    chosen = "long" if length > original else "short"
    request.note(
        f"longrope: {request.follow} chooses one list for good by the length it is started with ({length} against "
        f"{original}: {chosen}), so that short texts get the {chosen} list too"
    )
    return length > original
