"""A module around the emitted top that bundles what the soak's watcher looks at: one look costs much less than twenty.

It adds outputs and no logic: ``watch_state``, the valid (lower bit) and ready of each of :data:`STATE` and then
``aresetn``; ``watch_data`` and ``watch_output``, whole beats with TID, TLAST and TUSER above the data.
"""

from typing import Any

from ropewalk_sim.engines.clocked import ports_of
from ropewalk_sim.errors import EngineError

TOP = "soak_top"
STATE = {
    "token": "s_axis_token_t", "data": "s_axis_t", "output": "m_axis_t", "aw": "s_axil_aw", "w": "s_axil_w",
    "b": "s_axil_b", "ar": "s_axil_ar", "r": "s_axil_r",
}  # fmt: skip
"""The interfaces, with what their valid and ready are called without those words."""


def pair(name: str) -> int:
    """The bits of an interface's valid and ready in ``watch_state``."""
    return 3 << 2 * list(STATE).index(name)


def waits(state: Any, name: str) -> Any:
    """Whether an interface has valid and not ready: of a ``watch_state``, or of an array of them."""
    return (state >> 2 * list(STATE).index(name) & 3) == 1


def wrapper(verilog: str) -> str:
    """The Verilog of the module :data:`TOP` around the module ``ropewalk`` in ``verilog``."""
    ports = ports_of(verilog)
    if not ports:
        raise EngineError("the emitted Verilog has no module ropewalk")
    beat = next(port.width for port in ports if port.name == "m_axis_tdata")
    state = ["aresetn", *(f"{name}{end}" for name in reversed(STATE.values()) for end in ("ready", "valid"))]
    return "\n".join(
        [
            "",
            f"module {TOP}(",
            *(f"    {direction} {bits} {name}," for direction, bits, name in ports),
            f"    output [{len(state) - 1}:0] watch_state,",
            f"    output [{beat + 8}:0] watch_data,",
            f"    output [{beat + 11}:0] watch_output",
            ");",
            f"    assign watch_state = {{{', '.join(state)}}};",
            "    assign watch_data = {s_axis_tlast, s_axis_tid, s_axis_tdata};",
            "    assign watch_output = {m_axis_tuser, m_axis_tlast, m_axis_tid, m_axis_tdata};",
            "    ropewalk engine(",
            ",\n".join(f"        .{name}({name})" for _, _, name in ports),
            "    );",
            "endmodule",
            "",
        ]
    )
