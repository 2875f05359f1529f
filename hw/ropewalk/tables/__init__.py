"""From a geometry's doubles to the integers in the hardware: steps, amplitudes, the sine ROM, full tables, digest.

Every integer is specified in ``docs/number-contract.md`` and comes out the same on every platform: where a double
cannot decide a rounding, multiple precision does. The modules that take numpy (``rows``, ``angle_models``, ``source``)
are imported where they are needed: what is named here runs on any Python with mpmath and Amaranth.
"""

from .digest import geometry_digest, model_digest
from .sine import SineWord, pack, sine_words
from .steps import amplitude_word, step_words

__all__ = [
    "SineWord",
    "amplitude_word",
    "geometry_digest",
    "model_digest",
    "pack",
    "sine_words",
    "step_words",
]
