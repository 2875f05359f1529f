"""What every emitted top has outside: AXI4-Stream ports, a clock and a reset; and how they reach what is inside."""

from collections.abc import Iterable

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Const, Module, ResetSignal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .component import Component


def join(m: Module, names: Iterable[str], *, outside: Component, inside: Component, prefix: str = "") -> None:
    """Connect the ports ``names`` of a component inside to those of the same name, after ``prefix``, outside."""
    for name in names:
        outer, inner = getattr(outside, prefix + name), getattr(inside, name)
        m.d.comb += outer.eq(inner) if inside.signature.members[name].flow == Out else inner.eq(outer)


def stream_members(*, beat: int, user: int, descriptor: int, keep: bool = False) -> dict[str, wiring.Member]:
    """AXI4-Stream for data in and out, ``beat`` bits wide, and for token descriptors; TKEEP where ``keep``."""
    octets = beat // 8
    return {
        "s_axis_tdata": In(beat),
        **({"s_axis_tkeep": In(octets)} if keep else {}),
        "s_axis_tid": In(8),
        "s_axis_tlast": In(1),
        "s_axis_tvalid": In(1),
        "s_axis_tready": Out(1),
        "m_axis_tdata": Out(beat),
        **({"m_axis_tkeep": Out(octets)} if keep else {}),
        "m_axis_tid": Out(8),
        "m_axis_tuser": Out(user),
        "m_axis_tlast": Out(1),
        "m_axis_tvalid": Out(1),
        "m_axis_tready": In(1),
        "s_axis_token_tdata": In(descriptor),
        "s_axis_token_tvalid": In(1),
        "s_axis_token_tready": Out(1),
    }


def join_streams(
    m: Module,
    ports: Component,
    engine: Component,
    *,
    data_width: int,
    container_bits: int,
    clear: Value,
    awake: Value | None = None,
    elements: str = "elements",
) -> None:
    """Connect the ports of :func:`stream_members` to an engine's ``descriptor``, ``packet`` and ``result``.

    Nothing is taken unless ``awake`` (without it, the engine itself sees to that), and nothing is offered while
    ``clear``. ``elements`` is what a beat's elements are called inside: each stands in a container of
    ``container_bits`` outside, sign-extended on the way out. Bit 0 of TUSER is the error. TKEEP has a bit per octet;
    the result's ``keep`` may have one per element.
    """
    if awake is None:
        awake = Const(1)
    arrival, result = engine.packet.payload, engine.result.payload
    arriving, leaving = arrival[elements], result[elements]
    for place in range(len(arriving)):
        low = place * container_bits
        m.d.comb += [
            arriving[place].eq(ports.s_axis_tdata[low : low + data_width]),
            ports.m_axis_tdata[low : low + container_bits].eq(leaving[place]),
        ]
    m.d.comb += [
        arrival.tag.eq(ports.s_axis_tid),
        arrival.last.eq(ports.s_axis_tlast),
        engine.packet.valid.eq(ports.s_axis_tvalid & awake),
        ports.s_axis_tready.eq(engine.packet.ready & awake),
        ports.m_axis_tid.eq(result.side.tag),
        ports.m_axis_tuser[0].eq(result.side.error),
        ports.m_axis_tlast.eq(result.side.last),
        ports.m_axis_tvalid.eq(engine.result.valid & ~clear),
        engine.result.ready.eq(ports.m_axis_tready & ~clear),
        engine.descriptor.payload.eq(ports.s_axis_token_tdata),
        engine.descriptor.valid.eq(ports.s_axis_token_tvalid & awake),
        ports.s_axis_token_tready.eq(engine.descriptor.ready & awake),
    ]
    if "s_axis_tkeep" in ports.signature.members:
        kept = result.side.keep
        octets = len(ports.m_axis_tkeep) // len(kept)
        m.d.comb += [
            arrival.keep.eq(ports.s_axis_tkeep),
            ports.m_axis_tkeep.eq(Cat(bit.replicate(octets) for bit in kept)),
        ]


class ClockedTop(Component):
    """An emitted top: a component of the ``sync`` domain and its ports, with a clock and a reset.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    """

    def __init__(self, ports: Component):
        self._inside = ports
        super().__init__({"aclk": In(1), "aresetn": In(1), **ports.signature.members})

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.ports = self._inside
        join(m, self._inside.signature.members, outside=self, inside=self._inside)
        return m
