"""The one frozen description of an engine. Gateware and model are both sized by it, and by nothing else."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from .design_checks import check_choices, check_range, check_table, check_variants
from .errors import InputError
from .family import Family
from .formats import Format, Rounding
from .geometry.rotary import RotaryGeometry, Variant
from .geometry.shape import Shape
from .lanes import default_lanes, fitting_lanes, lanes_rule, own_pairings
from .order import Order, StreamPairing, order_of
from .sine_format import SineFormat

Source = Literal["synth", "table"]
AngleModel = Literal["exact", "hf_f32", "llamacpp_f32"]
Coefficients = Literal["exact", "q15"]
LaneMultipliers = Literal["dsp", "luts"]

POSITION_BITS = 24
"""Positions run from 0 to 2**24 - 1."""

AMPLITUDE = Format(width=18, fraction_bits=17, signed=False)
"""The amplitude word of a slot, whatever the coefficients' width."""

ROW_ROUND_TRIP = 48
"""At most so many clocks pass from asking for a row to its first entry being read and its bank being free again, where
a pair is made in every clock."""

SHARED_PRODUCTS = 3
"""Products one behind the other, in which a pair waits for the others of its clocks where multipliers are shared."""

MAX_AXES = 3
"""Axes that a position can have: time, height and width."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """An engine: a geometry and the choices that turn it into hardware.

    Parameters
    ----------
    geometry
        What is rotated, and by how much. Variant i is held in slot i, with its own shape (:attr:`shapes`).
    lanes
        Pairs per clock. A beat carries ``2 * lanes`` elements.
    data_width
        W, bits of an element, 4 to 32.
    coefficient_width
        C, bits of |cos| and |sin|, 8 to 24: unsigned with C - 1 fraction bits.
    phase_bits
        P, bits of a phase and of a step, 16 to 48.
    source
        Where rows come from: ``synth`` makes them, ``table`` reads them from a block ROM.
    clocks_per_pair
        Clocks that a row takes per pair: 1, or 2, 4 or 8 with the synth source, which then shares its multipliers.
    slots
        How many variants can be told apart, 1 to 64.
    positions
        The limit of every variant; ``None`` takes each variant's own ``max_position``.
    value_heads
        Value heads of a token, which follow its keys and pass through.
    family
        Whose primitives the gateware uses.
    lane_multipliers
        What the lanes multiply with: ``dsp``, multiplier blocks, or ``luts``, look-up tables. No bit and no clock
        depends on it.
    rounding
        How the rotated element is rounded: ``half-up``, or ``floor`` as some other designs do.
    coefficients
        ``exact``, or ``q15``: cos and sin clipped to the range of a signed Q1.15 word, as other designs hold them, so
        that 1.0 becomes 32767 / 32768. Takes a coefficient width of 16.
    angle_model
        Whose angles a table holds: ``exact``, or the single-precision ones of a software stack (see
        ``docs/number-contract.md``, "Angle models"). Takes the table source and variants that have a recipe.
    registers
        Whether there are registers behind the AXI4-Lite port. Without them, for small parts, head counts and slots are
        what they are here, and every access is answered with SLVERR.
    input_pairing, output_pairing
        The order of a head's elements on the streams (``docs/ports.md``, "Element order"); ``None`` takes the model's.
    position_axes
        Axes of a descriptor's position, 1 to 3, which :attr:`axes` gives; ``None`` takes what the variants need. More
        of them let slots of models with more axes be loaded later. Takes the synth source where there are several.

    Raises
    ------
    InputError
        If the choices do not fit each other or the geometry.
    """

    geometry: RotaryGeometry
    lanes: int
    data_width: int = 16
    coefficient_width: int = 18
    phase_bits: int = 48
    source: Source = "synth"
    clocks_per_pair: int = 1
    slots: int = 8
    positions: int | None = None
    value_heads: int = 0
    family: Family = "generic"
    lane_multipliers: LaneMultipliers = "dsp"
    rounding: Rounding = "half-up"
    coefficients: Coefficients = "exact"
    angle_model: AngleModel = "exact"
    registers: bool = True
    input_pairing: StreamPairing | None = None
    output_pairing: StreamPairing | None = None
    position_axes: int | None = None

    def __post_init__(self) -> None:
        check_choices(self)
        check_variants(self, AMPLITUDE)
        # Said or not, what the model has is one and the same design.
        object.__setattr__(self, "input_pairing", self.stream_pairings[0])
        object.__setattr__(self, "output_pairing", self.stream_pairings[1])
        fitting = fitting_lanes(self.geometry, *self.stream_pairings)
        if self.lanes not in fitting:
            raise InputError(
                f"{self.lanes} lanes do not fit {lanes_rule(self.geometry, *self.stream_pairings)}; "
                f"these do: {', '.join(map(str, fitting))}"
            )
        if self.positions is not None:
            check_range("positions", self.positions, 1, 1 << POSITION_BITS)
        if self.position_axes is not None:
            check_range("axes", self.position_axes, 1, MAX_AXES)
            if self.position_axes < self._needed_axes:
                raise InputError(
                    f"the model's positions have {self._needed_axes} axes, which do not fit an engine of "
                    f"{self.position_axes}: give {self._needed_axes} axes"
                )
        if self.source == "table" and self.axes > 1:
            raise InputError(
                f"a table holds one row per position, and here a row follows from positions on {self.axes} axes: use "
                f"the synth source"
            )
        if self.source == "table":
            check_table(self)

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants in slot order; slots past them are empty."""
        return self.geometry.variants

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Of each variant, in slot order: which elements of a head it rotates, how they pair, its head counts."""
        return tuple(self.geometry.of(slot) for slot in range(len(self.variants)))

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """Number of positions of each variant: positions 0 to limit - 1 are rotated."""
        return tuple(
            min(self.positions if self.positions is not None else variant.max_position, 1 << POSITION_BITS)
            for variant in self.variants
        )

    @cached_property
    def data(self) -> Format:
        """An element. Its LSB has whatever value the user gives it; the engine rounds once and saturates."""
        return Format(width=self.data_width, fraction_bits=0, rounding=self.rounding)

    @cached_property
    def coefficient(self) -> Format:
        """The magnitudes |cos| and |sin| of a row: never negative, 1.0 exact, to 2 - 2**-(C-1)."""
        return Format(width=self.coefficient_width, fraction_bits=self.coefficient_width - 1, signed=False)

    @cached_property
    def magnitude_limits(self) -> tuple[tuple[int, int], ...]:
        """The largest |cos| and |sin| of a row entry, by its quadrant.

        A magnitude that stands for a negative cosine or sine may be 1.0 in Q1.15, another may not.
        """
        most = self.coefficient.maximum
        if self.coefficients == "exact":
            return ((most, most),) * 4
        one = self.coefficient.one
        return ((one - 1, one - 1), (one - 1, one), (one, one), (one, one - 1))

    @cached_property
    def sine(self) -> SineFormat:
        """The widths of the sine generator."""
        return SineFormat(coefficient_width=self.coefficient_width, phase_bits=self.phase_bits)

    @cached_property
    def stream_pairings(self) -> tuple[StreamPairing, StreamPairing]:
        """The orders on the input and on the output; ``both`` where the slot says which."""
        return own_pairings(self.geometry, self.input_pairing, self.output_pairing)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The order of the heads of each variant, in slot order."""
        return tuple(
            order_of(self.geometry.of(slot), self.lanes, *self.stream_pairings) for slot in range(len(self.variants))
        )

    def order(self, slot: int) -> Order:
        """The order of the heads of a token; those of an empty slot go as those of slot 0."""
        return self.orders[slot if slot < len(self.orders) else 0]

    @property
    def moves(self) -> bool:
        """Whether elements are moved for any slot that the engine can hold."""
        return self.stream_pairings != ("interleaved", "interleaved")

    @property
    def input_buffer(self) -> bool:
        """Whether there is a reorder buffer before the rotator."""
        return self.stream_pairings[0] in ("half", "both") or any(order.input_buffer for order in self.orders)

    @property
    def output_buffer(self) -> bool:
        """Whether there is a reorder buffer behind the rotator."""
        return self.stream_pairings[1] in ("half", "both") or any(order.output_buffer for order in self.orders)

    @property
    def buffered(self) -> bool:
        """Whether a head passes any buffer, so that the engine works on whole heads only."""
        return self.input_buffer or self.output_buffer

    @property
    def row_entry_bits(self) -> int:
        """Bits of one row entry: quadrant, |cos|, |sin|, the first lowest."""
        return 2 + 2 * self.coefficient_width

    @property
    def loadable(self) -> bool:
        """Whether slots can be loaded at run time: a table's rows cannot, and without registers there is no way in."""
        return self.source == "synth" and self.registers

    @property
    def row_banks(self) -> int:
        """Rows held at once, a power of two: one in use and the others made ahead of it.

        Two would do for a token that outlasts its row. Where making rows is the limit, the source must never wait for
        the reader to let go of a bank, and a row takes :attr:`row_round_trip` clocks to come round. The shortest tokens
        take the most banks: those of one head, with the fewest pairs that a slot may have.
        """
        pairs = 1 if self.loadable else min(shape.pairs for shape in self.shapes)
        shortest = max(pairs * self.clocks_per_pair, self.beats_per_head)
        return max(4, 1 << (-(-self.row_round_trip // shortest)).bit_length())

    @property
    def row_round_trip(self) -> int:
        """Clocks, at most, from asking for a row to its first entry being read and its bank being free again."""
        waiting = SHARED_PRODUCTS * self.clocks_per_pair if self.clocks_per_pair > 1 else 0
        return ROW_ROUND_TRIP + waiting

    @property
    def axes(self) -> int:
        """Position axes of a descriptor: as many position words follow its first word."""
        return self._needed_axes if self.position_axes is None else self.position_axes

    @cached_property
    def _needed_axes(self) -> int:
        """One more than the highest axis that a pair of a variant follows."""
        return 1 + max((axis for variant in self.variants for axis in variant.axis or ()), default=0)

    @property
    def elements(self) -> int:
        """Elements of a beat."""
        return 2 * self.lanes

    @property
    def container_bits(self) -> int:
        """Bits an element takes on the stream: the smallest of 8, 16 and 32 that holds it."""
        return next(bits for bits in (8, 16, 32) if bits >= self.data_width)

    @property
    def heads(self) -> tuple[int, int, int]:
        """Query, key and value heads of a token, in stream order: those of slot 0, which registers hold after reset."""
        return self.geometry.query_heads, self.geometry.key_heads, self.value_heads

    @property
    def slots_of_other_heads(self) -> tuple[int, ...]:
        """The slots of variants with other head counts than :attr:`heads`: registers must be written for them."""
        counts = [(shape.query_heads, shape.key_heads) for shape in self.shapes]
        return tuple(slot for slot, count in enumerate(counts) if count != counts[0])

    @property
    def beats_per_head(self) -> int:
        """Beats of one head."""
        return self.geometry.head_dim // self.elements

    @property
    def beats_per_token(self) -> int:
        """Beats of one token, all its heads."""
        return self.beats_per_head * sum(self.heads)

    @property
    def rates(self) -> tuple[float, ...]:
        """Beats per clock of each variant, in slot order, in the steady state: no stalls, every token with a new row.

        A row takes as many clocks as its pairs do (PORTS.md); a token has :attr:`heads`.
        """
        return tuple(min(1.0, self.beats_per_token / (shape.pairs * self.clocks_per_pair)) for shape in self.shapes)

    @property
    def beats_per_clock(self) -> float:
        """The lowest of :attr:`rates`: what every mixture of variants reaches."""
        return min(self.rates)


def default_slots(geometry: RotaryGeometry) -> int:
    """8 slots, or as many as there are variants."""
    return max(8, len(geometry.variants))


def default_design(geometry: RotaryGeometry) -> Design:
    """The design that ``generate`` makes of ``geometry`` where no option is given; with more slots if it needs them."""
    return Design(geometry=geometry, lanes=default_lanes(geometry), slots=default_slots(geometry))
