"""What ``generate``, ``run`` and ``verify`` do for each scheme: the one place that tells the schemes apart."""

from ropewalk.design import Design
from ropewalk.designs.any_design import AnyDesign
from ropewalk.geometry import Geometry, scheme_of

from .alibi import AlibiScheme
from .learned import LearnedScheme
from .rotary import RotaryScheme
from .scheme import Scheme
from .sinusoidal import SinusoidalScheme

SCHEMES: dict[str, Scheme] = {
    "rope": RotaryScheme(),
    "alibi": AlibiScheme(),
    "learned": LearnedScheme(),
    "sinusoidal": SinusoidalScheme(),
}


def scheme_for(geometry: Geometry) -> Scheme:
    """The scheme of a model."""
    return SCHEMES[scheme_of(geometry)]


def scheme_of_design(design: AnyDesign) -> Scheme:
    """The scheme of a folder's design."""
    return SCHEMES["rope"] if isinstance(design, Design) else scheme_for(design.geometry)
