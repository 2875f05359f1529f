"""A memory at the read master of a unit in Amaranth's simulator."""

from collections import deque
from typing import Any

import numpy as np
from amaranth.hdl import Cat
from ropewalk_sim.errors import EngineError

from .read_memory import PAGE_BYTES, ReadMemory


class AmaranthMemory:
    """Answers the ``m_axi_*`` of ``ports`` in order, each burst after a latency of its own.

    ``bursts`` are the reads so far: address, beats, and reads under way at that moment, this one counted.
    """

    def __init__(self, ports: Any, memory: ReadMemory, random: np.random.Generator) -> None:
        self._ports, self._memory, self._random = ports, memory, random
        self._bytes = len(ports.m_axi_rdata) // 8
        self._words = [int.from_bytes(beat.tobytes(), "little") for beat in memory.image.reshape(-1, self._bytes)]
        self._unreadable = memory.unreadable.tolist()
        self.bursts: list[tuple[int, int, int]] = []
        self.reset()

    def reset(self) -> None:
        """Forget what was asked for."""
        self._owed: deque[tuple[int, int, bool]] = deque()  # the clock from which on, the address, whether it is last
        self._offered = False
        self._held: int | None = None

    def _check(self, address: int, length: int, size: int, burst: int) -> None:
        inside = address % PAGE_BYTES + length * self._bytes <= PAGE_BYTES
        if 1 << size != self._bytes or burst != 1 or address % self._bytes or not inside:
            raise EngineError(f"amaranth: a burst of {length} beats at {address:#x} is not allowed")

    def _offer(self, ctx: Any, address: int, last: bool) -> None:
        ports = self._ports
        place = (address - self._memory.base) // self._bytes
        inside = 0 <= place < len(self._words)
        ctx.set(ports.m_axi_rdata, self._words[place] if inside else 0)
        ctx.set(ports.m_axi_rresp, 0 if inside and not self._unreadable[place] else 2)
        ctx.set(ports.m_axi_rlast, last)
        self._offered = True

    async def run(self, ctx: Any) -> None:
        """The testbench, to be run in the background.

        Raises
        ------
        EngineError
            If a read breaks the rules of AXI4.
        """
        ports, latency = self._ports, self._memory.latency
        asked = Cat(ports.m_axi_araddr, ports.m_axi_arlen, ports.m_axi_arsize, ports.m_axi_arburst)
        bits = len(ports.m_axi_araddr)
        clock = 0
        while True:
            stalled = bool(self._memory.stall) and self._random.random() < self._memory.stall
            ctx.set(ports.m_axi_arready, not stalled)
            if not self._offered and self._owed and self._owed[0][0] <= clock and not stalled:
                self._offer(ctx, *self._owed[0][1:])
            ctx.set(ports.m_axi_rvalid, self._offered)
            _, _, valid, request, ready = await ctx.tick().sample(ports.m_axi_arvalid, asked, ports.m_axi_rready)
            if self._held not in (None, request) or (self._held is not None and not valid):
                raise EngineError("amaranth: a read was changed or withdrawn before it was taken")
            self._held = request if valid and stalled else None
            if self._offered and ready:
                self._owed.popleft()
                self._offered = False
            if valid and not stalled:
                address, length = request & (1 << bits) - 1, (request >> bits & 0xFF) + 1
                self._check(address, length, request >> bits + 8 & 7, request >> bits + 11)
                due = clock + int(self._random.integers(*latency, endpoint=True))
                self.bursts.append((address, length, 1 + sum(last for _, _, last in self._owed)))
                self._owed += [(due, address + beat * self._bytes, beat == length - 1) for beat in range(length)]
            clock += 1
