"""The cocotb bench: one job's streams through an emitted sinusoidal adder, by cocotbext-axi's sources and sink.

It runs inside the simulator, in a job folder that :mod:`.cosim` made. A monitor looks at all streams in the middle of
each clock; what the sink received must be what the monitor saw.
"""

import json
import random
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
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


class Bench:
    """Sources, sink and monitor around ``dut``."""

    def __init__(self, dut: Any, job: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.dut, self.job, self.arrays = dut, job, arrays
        self.clock = 0
        self.seen: list[list[int]] = []
        self.keeps = job["has_keep"]
        dut.aresetn.value = 0
        Clock(dut.aclk, 10, unit="ns").start()
        common: dict[str, Any] = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        # With TKEEP cocotbext-axi counts its bits, which are octets; without, it must be told how wide a lane is.
        self.size = 8 if self.keeps else job["container_bits"]
        width = {} if self.keeps else {"byte_size": self.size}
        self.token = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_token"), byte_size=32, **common)
        self.data = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), **width, **common)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), **width, **common)
        master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        self.host = Host(master, job["registers_stall"], job["seed"], job["most_polls"], job["silence_clocks"])

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
        total = self.send()
        for name, stream in (("token", self.token), ("data", self.data), ("output", self.sink)):
            start, share = job.get(f"{name}_start", 0), job[name]
            if start or share:
                stream.set_pause_generator(pauses(random.Random(f"{job['seed']} {name}"), start, share))
                stream.pause = start > 0
        hosting = cocotb.start_soon(self.host.run(job["meanwhile"]))
        inputs = (
            ("token", dut.s_axis_token_tvalid, dut.s_axis_token_tready),
            ("data", dut.s_axis_tvalid, dut.s_axis_tready),
        )
        held: list[int] | None = None
        taken = {"token": 0, "data": 0}
        clocks: list[int] = []
        early = None
        idle = quiet = 0
        self.clock = self.host.clock = 0
        while quiet < job["quiet_limit"]:
            await FallingEdge(dut.aclk)
            moved = False
            for name, valid, ready in inputs:
                if taken[name] < total[name] and valid.value:
                    early = taken["token"] if name == "data" and early is None else early
                    taken[name] += bool(ready.value)
                    moved |= bool(ready.value)
            ready = bool(dut.m_axis_tready.value)
            if dut.m_axis_tvalid.value:
                now = self.payload()
                if held not in (None, now):
                    raise Fault("the payload of m_axis changed before the beat was taken")
                held = None if ready else now
                if ready:
                    self.seen.append(now)
                    clocks.append(self.clock)
                    moved = True
            elif held is not None:
                raise Fault("m_axis_tvalid fell before the beat was taken")
            if hosting.done():
                hosting.result()  # raises what it raised
            waiting = not hosting.done() or self.clock < max(job["output_start"], job["data_start"])
            idle = 0 if moved or waiting else idle + 1
            quiet = 0 if moved or taken != total or not hosting.done() else quiet + ready
            if idle >= job["hang_limit"]:
                raise Fault(f"nothing moved for {idle} clocks; {taken} of {total} were taken")
            self.clock += 1
            self.host.clock = self.clock
        return {"answers": self.host.answers, "clocks": clocks, "early_tokens": early or 0}

    def send(self) -> dict[str, int]:
        """Queue the streams; how many descriptors and beats there are."""
        arrays = self.arrays
        descriptors, octets, tid, keep = (arrays[name] for name in ("descriptors", "data", "tid", "keep"))
        if len(descriptors):
            self.token.send_nowait(AxiStreamFrame(descriptors.reshape(-1).tolist()))
        ends = (np.flatnonzero(arrays["last"]) + 1).tolist()
        for first, end in zip([0, *ends], ends, strict=False):
            kept = keep[first:end].astype(bool).reshape(-1)
            words = octets[first:end].reshape(-1)[kept]
            tags = np.repeat(tid[first:end], keep.shape[1])[kept]
            if not self.keeps:
                words, tags = words.view(f"<u{self.size // 8}"), tags[:: self.size // 8]
            self.data.send_nowait(AxiStreamFrame(words.tolist(), tid=tags.tolist()))
        return {"token": len(descriptors), "data": len(octets)}

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
        """Raise a ``Fault`` unless the sink's whole frames are what the monitor saw."""
        lanes = range(len(self.dut.m_axis_tdata) // self.size)
        expected: list[int] = []
        whole = 0
        for word, keep, _, _, last in self.seen:
            mask = (1 << self.size) - 1
            expected += [word >> self.size * lane & mask for lane in lanes if not self.keeps or keep >> lane & 1]
            whole = len(expected) if last else whole
        received: list[int] = []
        while not self.sink.empty():
            received += self.sink.recv_nowait(compact=True).tdata
        if received != expected[:whole]:
            raise Fault("the sink received other data than the monitor saw")
