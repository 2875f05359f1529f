"""The base of every component here: Amaranth's, with members that a type checker may believe in."""

from typing import TYPE_CHECKING, Any

from amaranth.lib import wiring


class Component(wiring.Component):
    """A :class:`amaranth.lib.wiring.Component` whose members come from the signature given to the constructor."""

    if TYPE_CHECKING:
        # The signature is a value, so no checker can see which members it makes.
        def __getattr__(self, name: str) -> Any: ...

        def elaborate(self, platform: Any) -> Any: ...  # noqa: D102
