"""A queue in front of a stream."""

from amaranth.hdl import Module, Value, ValueLike
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered

from ..component import Component


def queue_before(
    m: Module,
    out: Component,
    *,
    name: str,
    depth: int,
    payload: ValueLike,
    valid: ValueLike,
    buffered: bool = False,
) -> SyncFIFO | SyncFIFOBuffered:
    """Put ``payload`` of each clock with ``valid`` into a queue that the stream ``out`` is read from.

    Latency 1 clock, or 2 where the queue is ``buffered``: then its output is a register. Who writes looks at the
    queue's ``w_rdy``, or at its ``w_level`` ahead of time.
    """
    queue = (SyncFIFOBuffered if buffered else SyncFIFO)(width=len(Value.cast(out.payload)), depth=depth)
    m.submodules[name] = queue
    m.d.comb += [
        queue.w_data.eq(payload),
        queue.w_en.eq(valid),
        out.payload.eq(queue.r_data),
        out.valid.eq(queue.r_rdy),
        queue.r_en.eq(out.ready),
    ]
    return queue
