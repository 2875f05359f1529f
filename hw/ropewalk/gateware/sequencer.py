"""The sequencer: makes token descriptors from commands. Prefill and decode count with one counter.

A decode that follows a prefill gets the position behind it because there is no second counter that could disagree.
"""

from amaranth.hdl import Cat, ClockDomain, ClockSignal, Module, ResetSignal, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from .component import Component
from .layouts import descriptor_layout

COMMAND_BITS = 128
"""Bits of a command, all in one beat."""


def command_layout() -> data.StructLayout:
    """A command: words of 32 bits, word 0 lowest. Word 0 is that of a descriptor, with the options in its free byte."""
    return data.StructLayout(
        {
            "slot": 8,
            "flags": 8,
            "tag": 8,
            "options": data.StructLayout({"set": 1, "decode": 1, "same_tag": 1, "reserved": 5}),
            "start": 32,
            "count": 32,
            "reserved": 32,
        }
    )


class Sequencer(Component):
    """Turns commands into runs of token descriptors, in the ``sync`` domain.

    The counter holds the position of the next token: 0 after reset, saturating at ``2**32 - 1``, which no engine takes
    for a position. Latency :attr:`latency` clocks from a command to its first descriptor; one descriptor per clock,
    within a command and from one to the next. A command without a token takes a clock. Each ready depends on registers
    of this component only.

    Parameters
    ----------
    axes
        Positions of a descriptor, 1 to 3. All get the same value, as text does in models with several axes.

    Members
    -------
    command : In stream
        What to do (:func:`command_layout`).
    descriptor : Out stream
        Descriptors as on the token port of an engine.
    """

    latency = 2

    def __init__(self, axes: int = 1):
        self._axes = axes
        super().__init__(
            {
                "command": In(stream.Signature(command_layout())),
                "descriptor": Out(stream.Signature(descriptor_layout(axes))),
            }
        )

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        layout = descriptor_layout(self._axes)
        command = self.command.payload

        # The command that is being carried out. Its last token makes room for the next command in the same clock.
        active, last = Signal(), Signal()
        slot, flags, tag = (Signal(8, name=name, reset_less=True) for name in ("slot", "flags", "tag"))
        same_tag = Signal(reset_less=True)
        left = Signal(32, reset_less=True)
        # Bit 32 says that the counter has passed the end; it stays there.
        counter = Signal(33)
        emit, accept, awake = Signal(), Signal(), Signal()
        room = Signal()
        m.d.sync += awake.eq(1)
        m.d.comb += [
            emit.eq(active & room),
            # In reset nothing may be taken: it would be lost.
            self.command.ready.eq(awake & (~active | (last & room))),
            accept.eq(self.command.valid & self.command.ready),
        ]
        with m.If(emit):
            m.d.sync += [left.eq(left - 1), last.eq(left == 2), active.eq(~last)]
            with m.If(~counter[32]):
                m.d.sync += counter.eq(counter + 1)
            with m.If(~same_tag):
                m.d.sync += tag.eq(tag + 1)
        with m.If(accept):
            m.d.sync += [
                active.eq(command.options.decode | (command.count != 0)),
                last.eq(command.options.decode | (command.count == 1)),
                left.eq(command.count),
                slot.eq(command.slot),
                flags.eq(command.flags),
                tag.eq(command.tag),
                same_tag.eq(command.options.same_tag),
            ]
            with m.If(command.options.set):
                m.d.sync += counter.eq(command.start)

        # Two places at the output: the second takes what is made in the clock in which the first is found full.
        made = Signal(layout)
        position = counter[:32] | counter[32].replicate(32)
        m.d.comb += [
            made.as_value()[:24].eq(Cat(slot, flags, tag)),
            *(made.position[axis].eq(position) for axis in range(self._axes)),
        ]
        offered = Signal(layout, reset_less=True)
        spare = Signal(layout, reset_less=True)
        spare_full = Signal()
        m.d.comb += [room.eq(~spare_full), self.descriptor.payload.eq(offered)]
        with m.If(~self.descriptor.valid | self.descriptor.ready):
            m.d.sync += spare_full.eq(0)
            with m.If(spare_full):
                m.d.sync += [offered.eq(spare), self.descriptor.valid.eq(1)]
            with m.Else():
                m.d.sync += [offered.eq(made), self.descriptor.valid.eq(emit)]
        with m.Elif(emit):
            m.d.sync += [spare.eq(made), spare_full.eq(1)]
        return m


class SequencerTop(Component):
    """The emitted module: a :class:`Sequencer` with a clock, a reset and AXI4-Stream ports.

    Members
    -------
    aclk, aresetn : In
        The clock, and the synchronous reset, active low.
    s_axis_command_* : AXI4-Stream
        Commands in.
    m_axis_token_* : AXI4-Stream
        Descriptors out, for the ``s_axis_token_*`` of an engine.
    """

    def __init__(self, axes: int = 1):
        self._sequencer = Sequencer(axes)
        super().__init__(
            {
                "aclk": In(1),
                "aresetn": In(1),
                "s_axis_command_tdata": In(COMMAND_BITS),
                "s_axis_command_tvalid": In(1),
                "s_axis_command_tready": Out(1),
                "m_axis_token_tdata": Out(descriptor_layout(axes).size),
                "m_axis_token_tvalid": Out(1),
                "m_axis_token_tready": In(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from the one in which a command is taken to the one in which its first descriptor is offered."""
        return self._sequencer.latency

    def elaborate(self, platform) -> Module:  # noqa: D102
        m = Module()
        m.domains.sync = ClockDomain("sync")
        m.submodules.sequencer = sequencer = self._sequencer
        m.d.comb += [
            ClockSignal().eq(self.aclk),
            ResetSignal().eq(~self.aresetn),
            sequencer.command.payload.eq(data.View(command_layout(), self.s_axis_command_tdata)),
            sequencer.command.valid.eq(self.s_axis_command_tvalid),
            self.s_axis_command_tready.eq(sequencer.command.ready),
            self.m_axis_token_tdata.eq(sequencer.descriptor.payload.as_value()),
            self.m_axis_token_tvalid.eq(sequencer.descriptor.valid),
            sequencer.descriptor.ready.eq(self.m_axis_token_tready),
        ]
        return m
