"""Where a configuration keeps its rope parameters: older keys, newer keys, one object or one per layer type."""

from collections.abc import Callable
from dataclasses import dataclass

from ..geometry.rotary import MAX_LAYERS
from ..strict_json import NAME, Keys
from .family import Family
from .layers import FULL, SLIDING

LOW_BASE, HIGH_BASE = 1.0, 1e30


@dataclass(frozen=True, kw_only=True)
class RopeObject:
    """The rope parameters of one variant: its name, its keys, its base, and whether it is one of several."""

    name: str
    keys: Keys
    base: float
    nested: bool


def rope_objects(keys: Keys, family: Family, note: Callable[[str], None]) -> tuple[list[RopeObject], list[str]]:
    """The rope parameters of each variant in slot order, and the layer types that are declared to have none.

    Slot order is the order of the configuration's own objects; from the older keys, ``full_attention`` before
    ``sliding_attention``, which is how the newer files are published.

    Raises
    ------
    InputError
        If both styles stand side by side and differ, or objects and values are mixed.
    """
    key = parameters_key(keys)
    given = keys.object(key) if key else None
    if given is not None and any(isinstance(value, dict) for value in given.values.values()):
        return _nested(keys, given, key or "", family, note)
    if family.two_bases:
        if given is not None and len(list(given)) and key == "rope_parameters":
            note(
                "rope_parameters is taken for that of the full-attention layers; this family's files hold one object "
                "per layer type, and Hugging Face ignores others"
            )
        full = given if given is not None and list(given) else _default(keys, family, FULL)
        sliding = full if family.window_scaled else _default(keys, family, SLIDING)
        return [
            RopeObject(name=FULL, keys=full, base=_base(keys, full, family, False, note), nested=True),
            RopeObject(name=SLIDING, keys=sliding, base=_base(keys, sliding, family, True, note), nested=True),
        ], []
    if given is None or not list(given):
        given = Keys(family.scaling, keys.where, "rope_parameters.")
    return [RopeObject(name="default", keys=given, base=_base(keys, given, family, False, note), nested=False)], []


def parameters_key(keys: Keys) -> str | None:
    """The key that holds the parameters: ``rope_parameters``, or the older ``rope_scaling``, or neither."""
    older, newer = keys.object("rope_scaling"), keys.object("rope_parameters")
    if older is not None and newer is not None and list(older) and list(newer) and older.values != newer.values:
        raise keys.refuse("rope_scaling and rope_parameters are both given and differ; keep the right one")
    if newer is not None and list(newer):
        return "rope_parameters"
    return "rope_scaling" if older is not None else None


def _nested(
    keys: Keys, given: Keys, key: str, family: Family, note: Callable[[str], None]
) -> tuple[list[RopeObject], list[str]]:
    declared = {kind for kind in keys.items("layer_types", MAX_LAYERS) or () if isinstance(kind, str)}
    objects = []
    for name in given:
        inner = given.values[name]
        if not isinstance(inner, dict):
            raise keys.refuse(f"{given.name(name)} is mixed with objects per layer type, and would be ignored")
        if not NAME.fullmatch(name):
            raise keys.refuse(f"{given.name(name)} must be a name of at most 64 letters, digits and _ . -")
        if name not in declared | set(family.kind_variants.values()) | {FULL, SLIDING, "chunked_attention"}:
            raise keys.refuse(f"{given.name(name)} is not a layer type of this model")
        inner = given.object(name) or _empty(keys)
        local = family.two_bases and name == SLIDING
        objects.append(RopeObject(name=name, keys=inner, base=_base(keys, inner, family, local, note), nested=True))
    absent = [name for name in keys.values[key] if name not in given]
    if family.two_bases:
        for name in (FULL, SLIDING):
            if name not in given:
                inner = _default(keys, family, name)
                base = _base(keys, inner, family, name == SLIDING, note)
                objects.append(RopeObject(name=name, keys=inner, base=base, nested=True))
        absent = [name for name in absent if name not in (FULL, SLIDING)]
    return objects, absent


def _empty(keys: Keys) -> Keys:
    return Keys({}, keys.where, "rope_parameters.")


def _default(keys: Keys, family: Family, kind: str) -> Keys:
    """The family's parameters of a kind of layer."""
    return Keys(family.kind_scaling.get(kind, {}), keys.where, f"rope_parameters.{kind}.")


def _base(keys: Keys, parameters: Keys, family: Family, local: bool, note: Callable[[str], None]) -> float:
    """``rope_theta`` of one variant: inside its parameters, else beside them, else the family's."""
    names = [family.base_key]
    if not family.two_bases:
        names += ["rope_theta", "rotary_emb_base"]
    if local and family.local_base is not None:
        names = [family.local_base_key] if family.local_base_key else []
    outside = None
    for name in names:
        outside = outside or keys.number(name, LOW_BASE, HIGH_BASE)
    inside = parameters.number("rope_theta", LOW_BASE, HIGH_BASE)
    if inside is not None:
        if outside is not None and outside != inside:
            note(f"{parameters.name('rope_theta')} {inside:g} is used, not {outside:g} beside it")
        return inside
    if outside is not None:
        return outside
    return family.local_base if local and family.local_base is not None else family.base
