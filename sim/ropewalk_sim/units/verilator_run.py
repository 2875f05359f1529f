"""The struct that the compiled library works on, and what it answers: ``harness.cpp`` has both, field by field."""

import ctypes

from ropewalk_sim.engines.verilator_host import Host
from ropewalk_sim.registers import SILENCE_CLOCKS

from .verilator_memory import Reads

RUNNING, DONE, HUNG, TOO_MANY, VALID_DROPPED, PAYLOAD_CHANGED, VALID_IN_RESET, BROKEN = range(8)
PORT_SILENT, PORT_UNASKED, PORT_CHANGED, POLLS_ENDLESS, READ_WRONG, READ_CHANGED = range(8, 14)
FAULTS = {
    TOO_MANY: "more beats came out than went in",
    VALID_DROPPED: "m_axis_tvalid fell before the beat was taken",
    PAYLOAD_CHANGED: "the payload of m_axis changed before the beat was taken",
    VALID_IN_RESET: "m_axis_tvalid was high in reset",
    PORT_SILENT: f"the register port did not answer for {SILENCE_CLOCKS} clocks",
    PORT_UNASKED: "the register port answered what it was not asked",
    PORT_CHANGED: "an answer of the register port changed before it was taken",
    POLLS_ENDLESS: "a register does not show what is waited for",
    READ_WRONG: "the read master asked for a burst that AXI4 does not allow",
    READ_CHANGED: "a read was changed or withdrawn before it was taken",
}
"""What is said of a status that ends a run."""


class Source(ctypes.Structure):
    """The struct Source: one stream that goes in."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("beats", "start")),
        *((name, ctypes.c_uint64) for name in ("random", "stall")),
        *((name, ctypes.c_int64) for name in ("taken", "waits")),
        *((name, ctypes.c_int32) for name in ("offered", "padding")),
    )


class Run(ctypes.Structure):
    """The struct Run: the arrays of a run, and how far it is."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("token_words", "data_words", "tid", "last")),
        *((name, ctypes.c_void_p) for name in ("out_words", "out_tid", "out_last", "out_user")),
        *((name, ctypes.c_int64) for name in ("capacity", "given", "output_start")),
        *((name, ctypes.c_uint64) for name in ("output_random", "output_stall")),
        ("output_waits", ctypes.c_int64),
        ("token", Source),
        ("data", Source),
        *((name, ctypes.c_int64) for name in ("clock", "quiet_limit", "hang_limit", "quiet", "idle")),
        *((name, ctypes.c_int64) for name in ("first_data_clock", "first_output_clock", "last_output_clock")),
        ("early_tokens", ctypes.c_int64),
        ("host", Host),
        *((name, ctypes.c_void_p) for name in ("keep", "out_keep")),
        ("reads", Reads),
    )
