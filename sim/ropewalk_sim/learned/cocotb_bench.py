"""The cocotb bench: one job's streams through an emitted learned-table adder, by cocotbext-axi's own ends of each port.

It runs inside the simulator, in a job folder that :mod:`.cosim` made. Sources and sink are ``AxiStreamSource`` and
``AxiStreamSink``, the register port's user the rotary engine's, and the memory outside is ``AxiRamRead``, which here
answers each burst after a latency of its own. A monitor looks at all streams in the middle of each clock.
"""

import json
import random
from collections import deque
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiRamRead,
    AxiReadBus,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)
from ropewalk_sim.engines.cocotb_bench import Fault, Host, pauses


@cocotb.test()
async def run_job(dut: Any) -> None:
    """Run the job in the current directory. A fault of the unit is a result; only one of the bench fails the test."""
    job = json.loads(Path("job.json").read_text())
    bench = Bench(dut, job, dict(np.load("job.npz")))
    try:
        figures = await bench.run()
        bench.compare_sink()
    except Fault as fault:
        Path("result.json").write_text(json.dumps({"fault": f"in clock {bench.clock}: {fault}"}))
        return
    Path("result.json").write_text(json.dumps({**figures, "seen": bench.seen}))


class SlowRam(AxiRamRead):
    """An AxiRam whose bursts wait for a latency from the clock in which they were taken; some addresses fail."""

    def __init__(self, bench: "Bench", bus: Any, job: dict[str, Any], image: np.ndarray, **common: Any) -> None:
        super().__init__(bus, size=2**64, mem=bytearray(image.tobytes()), **common)
        self.octets = image.tobytes()
        self.bench, self.job, self.base = bench, job, job["memory_base"]
        self.unreadable = {self.base + place * self.byte_lanes for place in np.flatnonzero(job["errors"]).tolist()}
        self.random = random.Random(f"{job['seed']} memory")
        self.taken: deque[int] = deque()
        self.bursts: list[tuple[int, int, int]] = []
        self.under_way = 0
        self.ar_channel.queue_occupancy_limit = 256
        self.next_request = self.ar_channel.recv
        self.ar_channel.recv = self.recv_late
        if job["memory_stall"]:
            for name, channel in (("ar", self.ar_channel), ("r", self.r_channel)):
                channel.set_pause_generator(pauses(random.Random(f"{job['seed']} {name}"), 0, job["memory_stall"]))

    async def recv_late(self) -> Any:
        """The next read, when its latency is over."""
        request = await self.next_request()
        due = self.taken.popleft() + self.random.randint(*self.job["latency"])
        while self.bench.clock < due:
            await RisingEdge(self.clock)
        return request

    async def _read(self, address: int, length: int) -> bytes:
        if address in self.unreadable:
            raise OSError("unreadable")
        return self.octets[address - self.base : address - self.base + length].ljust(length, b"\0")

    def look(self, dut: Any) -> None:
        """Notes what happens on the read channels in this clock."""
        if dut.m_axi_arvalid.value and dut.m_axi_arready.value:
            address, length = int(dut.m_axi_araddr.value), int(dut.m_axi_arlen.value) + 1
            if address % 4096 + length * self.byte_lanes > 4096 or address % self.byte_lanes:
                raise Fault(f"a burst of {length} beats at {address:#x} is not allowed")
            self.taken.append(self.bench.clock)
            self.under_way += 1
            self.bursts.append((address, length, self.under_way))
        if dut.m_axi_rvalid.value and dut.m_axi_rready.value and dut.m_axi_rlast.value:
            self.under_way -= 1


class Bench:
    """Sources, sink, memory and monitor around ``dut``."""

    def __init__(self, dut: Any, job: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.dut, self.job, self.arrays = dut, job, arrays
        self.clock = 0
        self.seen: list[list[int]] = []
        self.keeps = job["has_keep"]
        dut.aresetn.value = 0
        Clock(dut.aclk, 10, unit="ns").start()
        common: dict[str, Any] = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        # With TKEEP cocotbext-axi counts its bits, which are octets; without, it must be told how wide a lane is.
        size = 8 if self.keeps else job["container_bits"]
        width = {} if self.keeps else {"byte_size": size}
        self.token = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_token"), byte_size=32, **common)
        self.data = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), **width, **common)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), **width, **common)
        master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        self.host = Host(master, job["registers_stall"], job["seed"], job["most_polls"], job["silence_clocks"])
        self.ram = None
        if job["external"]:
            bus = AxiReadBus.from_prefix(dut, "m_axi")
            self.ram = SlowRam(self, bus, {**job, "errors": arrays["errors"]}, arrays["image"], **common)
        self.size = size

    async def run(self) -> dict[str, Any]:
        """Reset, registers, streams; the figures of the run."""
        dut, job = self.dut, self.job
        for _ in range(2):
            await RisingEdge(dut.aclk)
            await FallingEdge(dut.aclk)
            if dut.m_axis_tvalid.value:
                raise Fault("m_axis_tvalid was high in reset")
        await RisingEdge(dut.aclk)
        dut.aresetn.value = 1
        await self.host.run(job["registers"])
        await RisingEdge(dut.aclk)
        tokens, beats = self.send()
        for name, stream in (("token", self.token), ("data", self.data), ("output", self.sink)):
            start, share = job.get(f"{name}_start", 0), job[name]
            if start or share:
                stream.set_pause_generator(pauses(random.Random(f"{job['seed']} {name}"), start, share))
                stream.pause = start > 0
        hosting = cocotb.start_soon(self.host.run(job["meanwhile"]))
        held: list[int] | None = None
        taken = {"token": 0, "data": 0}
        first_data = first_output = last_output = early = None
        idle = quiet = waits = 0
        inputs = (
            ("token", dut.s_axis_token_tvalid, dut.s_axis_token_tready, tokens),
            ("data", dut.s_axis_tvalid, dut.s_axis_tready, beats),
        )
        self.clock = self.host.clock = 0
        while quiet < job["quiet_limit"]:
            await FallingEdge(dut.aclk)
            moved = False
            for name, valid, ready, total in inputs:
                if taken[name] == total or not valid.value:
                    continue
                if name == "data" and early is None:
                    early = taken["token"]
                if ready.value:
                    taken[name], moved = taken[name] + 1, True
                    first_data = self.clock if name == "data" and first_data is None else first_data
                else:
                    waits += name == "data"
            if self.ram is not None:
                self.ram.look(dut)
            ready = bool(dut.m_axis_tready.value)
            if dut.m_axis_tvalid.value:
                now = self.payload()
                if held not in (None, now):
                    raise Fault("the payload of m_axis changed before the beat was taken")
                held = None if ready else now
                if ready:
                    self.seen.append(now)
                    first_output = self.clock if first_output is None else first_output
                    last_output, moved = self.clock, True
            elif held is not None:
                raise Fault("m_axis_tvalid fell before the beat was taken")
            if hosting.done():
                hosting.result()
            all_taken = taken == {"token": tokens, "data": beats} and hosting.done()
            idle = 0 if moved or not hosting.done() or self.clock < job["output_start"] else idle + 1
            quiet = 0 if moved or not all_taken else quiet + ready
            if idle >= job["hang_limit"]:
                raise Fault(f"nothing moved for {idle} clocks; {taken} were taken")
            self.clock += 1
            self.host.clock = self.clock
        return {
            "answers": self.host.answers, "first_data_clock": first_data, "first_output_clock": first_output,
            "last_output_clock": last_output, "data_waits": waits, "early_tokens": early or 0,
            "bursts": [] if self.ram is None else self.ram.bursts,
        }  # fmt: skip

    def send(self) -> tuple[int, int]:
        """Queue the streams; how many descriptors and beats there are."""
        arrays = self.arrays
        descriptors, octets, tid, last, keep = (arrays[name] for name in ("descriptors", "data", "tid", "last", "keep"))
        if len(descriptors):
            self.token.send_nowait(frame(descriptors.reshape(-1).tolist()))
        ends = (np.flatnonzero(last) + 1).tolist()
        for first, end in zip([0, *ends], ends, strict=False):
            if self.keeps:
                kept = keep[first:end].astype(bool).reshape(-1)
                words = octets[first:end].reshape(-1)[kept]
                tags = np.repeat(tid[first:end], keep.shape[1])[kept]
            else:
                words = octets[first:end].reshape(-1).view(f"<u{self.size // 8}")
                tags = np.repeat(tid[first:end], len(words) // (end - first))
            self.data.send_nowait(frame(words.tolist(), tags.tolist()))
        return len(descriptors), len(octets)

    def payload(self) -> list[int]:
        """Data, TKEEP, TID, TUSER, TLAST, none of which may be undefined under valid."""
        dut = self.dut
        signals = [dut.m_axis_tdata, dut.m_axis_tid, dut.m_axis_tuser, dut.m_axis_tlast]
        if self.keeps:
            signals.insert(1, dut.m_axis_tkeep)
        try:
            values = [int(signal.value) for signal in signals]
        except ValueError:
            raise Fault(f"m_axis is undefined under valid: {[str(one.value) for one in signals]}") from None
        if not self.keeps:
            values.insert(1, 0)
        return values

    def compare_sink(self) -> None:
        """Raise a ``Fault`` unless the sink's frames are what the monitor saw."""
        size = len(self.dut.m_axis_tdata) // self.size
        expected: list[int] = []
        for word, keep, *_ in self.seen:
            lanes = [word >> self.size * lane & (1 << self.size) - 1 for lane in range(size)]
            expected += [lane for place, lane in enumerate(lanes) if not self.keeps or keep >> place & 1]
        received: list[int] = []
        while not self.sink.empty():
            received += self.sink.recv_nowait(compact=True).tdata
        if received != expected[: len(received)]:
            raise Fault("the sink received other data than the monitor saw")


def frame(words: list[int], tags: list[int] | None = None) -> AxiStreamFrame:
    """A packet of ``words``, wider than octets, of which each has a tag."""
    data: Any = words  # cocotbext-axi says bytes, and means any list where a lane is wider
    return AxiStreamFrame(data, tid=tags)
