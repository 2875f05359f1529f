"""The one frozen description of a sinusoidal adder. Gateware and model are both sized by it, and by nothing else."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import __version__
from ..design import POSITION_BITS, SineFormat, check_range
from ..errors import InputError
from ..formats import Format
from ..geometry.sinusoidal import SinusoidalGeometry, geometry_from_json, geometry_to_json
from ..strict_json import Keys
from ..tables.digest import model_digest
from ..tables.steps import amplitude_word
from .row_design import RowDesign

MAX_DIMENSION = 16_384
"""Elements of a row that a unit is made for."""

LANES = (2, 4, 8, 16, 32)
GENERATORS = (1, 2, 4, 8, 16)

MAX_FRACTION_BITS = 24
"""Fraction bits of an element."""

ROW_BITS = POSITION_BITS + 1
"""Bits of a row's number: a position of 24 bits and an offset of at most 2**20."""

PROMISED_ROWS = 1 << 20
"""The error bound holds for positions below this, or below the limit where that is larger."""

ERROR_BOUND = 0.75
"""LSBs that a result may be off by."""

FORMAT = "ropewalk sinusoidal design 1"


@dataclass(frozen=True, kw_only=True)
class SinusoidalDesign(RowDesign):
    """A sinusoidal adder: a geometry and the choices that turn it into hardware.

    Parameters
    ----------
    geometry
        What is added.
    lanes
        N, elements of a beat: 2, 4, 8, 16 or 32.
    generators
        Generators of sines, each of which makes a pair of elements per clock: 1, 2, 4, 8 or 16, and at most one for
        every two lanes.
    data_width
        W, bits of an element, 4 to 32.
    fraction_bits
        F: an element's LSB is worth ``2**-F``. 0 to 24.
    coefficient_width, phase_bits
        C and P of ``docs/number-contract.md``: what sizes the sine ROM, and the bits of a phase and of a step.
    amplitude
        What sines and cosines are multiplied with: 1, or for elements that are not yet scaled as the model scales them
        (Marian multiplies its embeddings by the root of the dimension) the reciprocal of that factor. Above 0 and at
        most ``2 - 2**-17``. With 1 there is no multiplier for it, and a slot that is loaded must say 1 too.
    positions
        The limit; ``None`` takes the geometry's ``max_position``.
    family
        Whose primitives the gateware uses.

    Raises
    ------
    InputError
        If the choices do not fit each other or the geometry.
    """

    geometry: SinusoidalGeometry
    lanes: int = 4
    generators: int = 1
    data_width: int = 16
    fraction_bits: int = 8
    coefficient_width: int = 18
    phase_bits: int = 48
    amplitude: float = 1.0
    positions: int | None = None
    family: str = "generic"

    def __post_init__(self) -> None:
        check_range("data width", self.data_width, 4, 32)
        check_range("fraction bits", self.fraction_bits, 0, MAX_FRACTION_BITS)
        check_range("coefficient width", self.coefficient_width, 8, 24)
        check_range("phase bits", self.phase_bits, 16, 48)
        check_range("the dimension", self.geometry.dimension, 2, MAX_DIMENSION)
        for name, value, known in (("lanes", self.lanes, LANES), ("generators", self.generators, GENERATORS)):
            if isinstance(value, bool) or value not in known:
                raise InputError(f"{name} must be {', '.join(map(str, known[:-1]))} or {known[-1]}, not {value!r}")
        if 2 * self.generators > self.lanes:
            raise InputError(
                f"{self.generators} generators make {2 * self.generators} elements in a clock, more than the "
                f"{self.lanes} of a beat: give at most {self.lanes // 2}"
            )
        if self.family != "generic":
            raise InputError(f"family must be generic, not {self.family!r}")
        if self.positions is not None:
            check_range("positions", self.positions, 1, 1 << POSITION_BITS)
        amplitude_word(self.amplitude)  # refuses what the word cannot hold
        bound = self.error_bound
        if bound > ERROR_BOUND:
            fitting = [width for width in range(self.coefficient_width, 25) if self._bound(width) <= ERROR_BOUND]
            advice = f"a coefficient width of {fitting[0]} keeps it" if fitting else "give fewer fraction bits"
            raise InputError(
                f"with {self.fraction_bits} fraction bits, a coefficient width of {self.coefficient_width} and "
                f"{self.phase_bits} phase bits a result may be off by {bound:.2f} LSB at row {self.largest_row}, more "
                f"than {ERROR_BOUND}: {advice}"
            )

    @property
    def dimension(self) -> int:
        """d, elements of a row."""
        return self.geometry.dimension

    @property
    def half(self) -> bool:
        """Whether all sines come before all cosines."""
        return self.geometry.layout == "half"

    @property
    def pairs(self) -> int:
        """n, the angles of a row: the number of its sines."""
        return len(self.geometry.inverse_frequency)

    @property
    def cosines(self) -> int:
        """The cosines of a row: n, or one fewer. What is left of the dimension is one 0 at most."""
        return min(self.pairs, self.dimension - self.pairs)

    @cached_property
    def limit(self) -> int:
        """Number of positions: 0 to limit - 1 are encoded."""
        positions = self.positions if self.positions is not None else self.geometry.max_position
        return min(positions, 1 << POSITION_BITS)

    @property
    def largest_row(self) -> int:
        """The last row that the error bound covers."""
        return max(self.limit, PROMISED_ROWS) - 1 + self.geometry.row_offset

    @cached_property
    def sine(self) -> SineFormat:
        """The widths of the sine generator."""
        return SineFormat(coefficient_width=self.coefficient_width, phase_bits=self.phase_bits)

    @property
    def scaled(self) -> bool:
        """Whether there are multipliers for the amplitude."""
        return self.amplitude != 1.0

    @cached_property
    def encoding(self) -> Format:
        """An element of a row, rounded to the LSB of the data: -A * 2**F to A * 2**F, with A below 2 where scaled."""
        width = self.fraction_bits + (3 if self.scaled else 2)
        return Format(width=width, fraction_bits=self.fraction_bits, overflow="never")

    @property
    def groups(self) -> int:
        """Clocks that the generators take for a row."""
        return -(-self.pairs // self.generators)

    @property
    def beats_per_clock(self) -> float:
        """The steady rate when neither side stalls and every token has a row."""
        return min(1.0, self.beats_per_token / self.groups)

    @property
    def error_bound(self) -> float:
        """What a result that does not saturate is off by at most, in LSB, up to :attr:`largest_row`.

        ``docs/sinusoidal.md`` derives it: the rounding, and the error of the sine in units of the LSB.
        """
        return self._bound(self.coefficient_width)

    def _bound(self, coefficient_width: int) -> float:
        fmt = SineFormat(coefficient_width=coefficient_width, phase_bits=self.phase_bits)
        if fmt.magnitude_fraction_bits < self.fraction_bits:
            return math.inf
        turns = self.largest_row * 2.0 ** -(self.phase_bits + 1) + 2.0**-fmt.reduced_phase_bits
        error = self.amplitude * (0.072 * 2.0 ** (1 - coefficient_width) + 2 * math.pi * turns)
        if self.scaled:
            error += 2.0**-18
        return 0.5 + error * 2.0**self.fraction_bits


_INTEGERS = {"lanes": (1, 32), "generators": (1, 16), "data_width": (4, 32), "fraction_bits": (0, MAX_FRACTION_BITS),
             "coefficient_width": (8, 24), "phase_bits": (16, 48)}  # fmt: skip
_PARAMETERS = (*_INTEGERS, "amplitude", "positions", "family")
_KEYS = ("format", "ropewalk", "scheme", "parameters", "geometry", "digest", "derived")


def design_to_json(design: SinusoidalDesign, derived: dict[str, Any]) -> dict[str, Any]:
    """Everything that defines ``design``, and ``derived`` beside it, which is for readers and not read back."""
    return {
        "format": FORMAT,
        "ropewalk": __version__,
        "scheme": "sinusoidal",
        "parameters": {name: getattr(design, name) for name in _PARAMETERS},
        "geometry": geometry_to_json(design.geometry),
        "digest": model_digest(design.geometry),
        "derived": derived,
    }


def design_from_json(values: dict[str, Any], where: str) -> SinusoidalDesign:
    """The design that :func:`design_to_json` made ``values`` from; ``where`` begins every error.

    Raises
    ------
    InputError
        If anything that defines the design is missing, unknown or out of range, or is not what the digest says.
    """
    top = _checked(Keys(values, where), _KEYS)
    if values.get("format") != FORMAT:
        raise top.error("format", f'"{FORMAT}"')
    inside = top.object("parameters")
    if inside is None:
        raise top.error("parameters", "an object")
    parameters = _checked(inside, _PARAMETERS)
    geometry = geometry_from_json(values.get("geometry"), f"{where}: geometry")
    integers = {name: parameters.required_integer(name, low, high) for name, (low, high) in _INTEGERS.items()}
    amplitude = parameters.required_number("amplitude", 0.0, 2.0)
    positions, family = parameters.integer("positions", 1, 1 << POSITION_BITS), parameters.required_text("family")
    try:
        design = SinusoidalDesign(
            geometry=geometry, amplitude=amplitude, positions=positions, family=family, **integers
        )
        digest = model_digest(geometry)
    except InputError as refusal:  # what does not fit together; it does not know of the file
        raise top.refuse(str(refusal)) from None
    if values.get("digest") != digest:
        raise top.error("digest", f"the digest of the geometry beside it, {digest}")
    return design


def _checked(keys: Keys, known: tuple[str, ...]) -> Keys:
    for key in keys:
        if key not in known:
            raise keys.error(key, "absent: it is not a key of a design")
    return keys
