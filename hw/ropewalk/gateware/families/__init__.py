"""The primitives of each family of parts: a file for each, chosen by the platform that a component is elaborated for.

Each form takes as many clocks as the portable one and computes the same bits. ``docs/families.md`` says what is
instantiated, what is inferred, and why.
"""

from .ecp5 import Ecp5
from .form import PORTABLE, Form
from .gowin import Gowin
from .ice40 import Ice40
from .xilinx import Xilinx

FORMS: dict[str, Form] = {"generic": PORTABLE, "ecp5": Ecp5(), "ice40": Ice40(), "gowin": Gowin(), "xilinx": Xilinx()}
"""The forms by the names of :data:`ropewalk.family.FAMILIES`."""


def form_of(platform: object) -> Form:
    """The form of the primitives on an elaboration platform: that which it names, else the portable one."""
    form = getattr(platform, "form", PORTABLE)
    if not isinstance(form, Form):
        raise TypeError(f"the platform's form of the primitives must be a Form, not {form!r}")
    return form
