"""What the designs of the units whose token is one row of elements have in common: how that row lies in beats."""

from functools import cached_property

from ..formats import Format


class RowDesign:
    """The streams of a unit that adds something to rows of ``dimension`` elements, ``lanes`` of them a beat."""

    lanes: int
    data_width: int
    fraction_bits: int

    @property
    def dimension(self) -> int:
        """d, elements of a row."""
        raise NotImplementedError

    @cached_property
    def data(self) -> Format:
        """An element."""
        return Format(width=self.data_width, fraction_bits=self.fraction_bits)

    @property
    def beats_per_token(self) -> int:
        """Beats of a token, which is one row."""
        return -(-self.dimension // self.lanes)

    @property
    def last_lanes(self) -> int:
        """Elements in the last beat of a token."""
        return self.dimension - (self.beats_per_token - 1) * self.lanes

    @property
    def has_keep(self) -> bool:
        """Whether a row ends inside a beat, so that the streams have TKEEP."""
        return self.last_lanes != self.lanes

    @property
    def container_bits(self) -> int:
        """Bits an element takes on the stream: the smallest of 8, 16 and 32 that holds it."""
        return next(bits for bits in (8, 16, 32) if bits >= self.data_width)
