"""A memory at the read master of a unit under cocotb: cocotbext-axi's, with a latency and with addresses that fail."""

import random
from collections import deque
from typing import Any

import numpy as np
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiRamRead, AxiReadBus
from ropewalk_sim.engines.cocotb_host import Fault, pauses

from .read_memory import PAGE_BYTES


class SlowRam(AxiRamRead):
    """An ``AxiRamRead`` whose bursts wait for a latency from the clock in which they were taken.

    ``bench`` tells the clock; ``image`` and ``unreadable`` are those of :class:`~.read_memory.ReadMemory`, whose other
    fields stand in ``job``. ``bursts`` are the reads so far: address, beats, reads under way, this one counted.
    """

    def __init__(
        self, bench: Any, job: dict[str, Any], image: np.ndarray, unreadable: np.ndarray, **common: Any
    ) -> None:
        bus = AxiReadBus.from_prefix(bench.dut, "m_axi")
        super().__init__(bus, size=2**64, mem=bytearray(image.tobytes()), **common)
        self.octets = image.tobytes()
        self.bench, self.job, self.base = bench, job, job["memory_base"]
        self.unreadable = {self.base + place * self.byte_lanes for place in np.flatnonzero(unreadable).tolist()}
        self.random = random.Random(f"{job['seed']} memory")
        self.bursts: list[tuple[int, int, int]] = []
        self.forget()
        self.ar_channel.queue_occupancy_limit = 256
        self.next_request = self.ar_channel.recv
        self.ar_channel.recv = self.recv_late
        if job["memory_stall"]:
            for name, channel in (("ar", self.ar_channel), ("r", self.r_channel)):
                channel.set_pause_generator(pauses(random.Random(f"{job['seed']} {name}"), 0, job["memory_stall"]))

    def forget(self) -> None:
        """In reset: nothing is under way."""
        self.taken: deque[int] = deque()
        self.under_way = 0

    async def recv_late(self) -> Any:
        """The next read, when its latency is over."""
        request = await self.next_request()
        due = self.taken.popleft() + self.random.randint(*self.job["memory_latency"])
        while self.bench.clock < due:
            await RisingEdge(self.clock)
        return request

    async def _read(self, address: int, length: int) -> bytes:
        if address in self.unreadable:
            raise OSError("unreadable")
        return self.octets[address - self.base : address - self.base + length].ljust(length, b"\0")

    def look(self) -> None:
        """Note what happens on the read channels in this clock; raises ``Fault`` for a burst that is not allowed."""
        dut = self.bench.dut
        if dut.m_axi_arvalid.value and dut.m_axi_arready.value:
            address, length = int(dut.m_axi_araddr.value), int(dut.m_axi_arlen.value) + 1
            if address % PAGE_BYTES + length * self.byte_lanes > PAGE_BYTES or address % self.byte_lanes:
                raise Fault(f"a burst of {length} beats at {address:#x} is not allowed")
            self.taken.append(self.bench.clock)
            self.under_way += 1
            self.bursts.append((address, length, self.under_way))
        if dut.m_axi_rvalid.value and dut.m_axi_rready.value and dut.m_axi_rlast.value:
            self.under_way -= 1
