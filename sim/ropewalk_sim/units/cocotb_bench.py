"""The cocotb bench: one job's streams through an emitted top, by cocotbext-axi's own ends of each port.

It runs inside the simulator's process, in a job folder that :mod:`.cosim` made: ``job.npz`` and ``job.json`` in,
``result.npz`` and ``result.json`` out. Beside the sink, a monitor looks at all streams in the middle of each clock,
where everything has settled: it counts clocks, watches the protocol, and keeps every beat, those before a reset
included. What the sink received must be what the monitor saw.
"""

import json
import random
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource
from ropewalk_sim.engines.cocotb_host import Fault, Host, pauses

from .cocotb_memory import SlowRam
from .packets import beat_arrays
from .waiting import what_waits

PROGRESS_CLOCKS = 1000


@cocotb.test()
async def run_job(dut: Any) -> None:
    """Run the job in the current directory. A fault of the unit is a result; only one of the bench fails the test."""
    job = json.loads(Path("job.json").read_text())
    arrays = np.load("job.npz")
    bench = Bench(dut, job, arrays)
    results: dict[str, dict[str, Any]] = {}
    try:
        await bench.reset(2)
        if "interrupted_data" in arrays:
            await bench.host.run(job["interrupted_registers"])
            bench.begin(arrays, "interrupted_", {})
            results["before"] = await bench.watch(job["interrupted_clocks"])
            await bench.reset(job["reset_clocks"])
        await bench.host.run(job["registers"])
        await RisingEdge(dut.aclk)
        bench.begin(arrays, "", job)
        results["run"] = await bench.watch(None)
        bench.compare_sink(results["run"]["beats"])
    except Fault as fault:
        Path("result.json").write_text(json.dumps({"fault": f"in clock {bench.clock}: {fault}"}))
        return
    beats = {f"{name}_{key}": value for name, result in results.items() for key, value in result.pop("beats").items()}
    np.savez("result.npz", **beats)
    Path("result.json").write_text(json.dumps(results))


class Bench:
    """Sources, sink, memory and monitor around ``dut``."""

    def __init__(self, dut: Any, job: dict[str, Any], arrays: Any) -> None:
        self.dut, self.job, self.clock = dut, job, 0
        dut.aresetn.value = 0
        # No pragma of the clock's implementation: cocotb picks the fast one.
        Clock(dut.aclk, 10, unit="ns").start()
        common: dict[str, Any] = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        self.token = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_token"), byte_size=32, **common)
        self.has_keep = hasattr(dut, "m_axis_tkeep")
        octets = {} if self.has_keep else {"byte_size": 8}  # TKEEP says it by itself
        self.data = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), **octets, **common)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), **octets, **common)
        master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        self.host = Host(master, job["registers_stall"], job["seed"], job["most_polls"], job["silence_clocks"])
        self.octets = len(dut.m_axis_tdata) // 8
        self.ram = None
        if "image" in arrays:
            self.ram = SlowRam(self, job, arrays["image"], arrays["unreadable"], **common)

    async def reset(self, clocks: int) -> None:
        """Hold reset for ``clocks`` rising edges, and forget what was to be sent."""
        self.dut.aresetn.value = 0
        for _ in range(clocks):
            await RisingEdge(self.dut.aclk)
            await FallingEdge(self.dut.aclk)
            if self.dut.m_axis_tvalid.value:
                raise Fault("m_axis_tvalid was high in reset")
        for stream in (self.token, self.data, self.sink):
            stream.clear()
        if self.ram is not None:
            self.ram.forget()
        await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1

    def begin(self, arrays: Any, prefix: str, script: dict[str, Any]) -> None:
        """Queue the streams whose names begin with ``prefix``, and set the pauses; ``script`` says when they start."""
        descriptors, data, keep, tid, last = (
            arrays[prefix + name] for name in ("descriptors", "data", "keep", "tid", "last")
        )
        self.beats, self.tokens, self.script = len(data), len(descriptors), script
        if self.tokens:
            self.token.send_nowait(AxiStreamFrame(descriptors.reshape(-1).tolist()))
        ends = (np.flatnonzero(last) + 1).tolist()
        for first, end in zip([0, *ends], ends, strict=False):
            frame = AxiStreamFrame(data[first:end].tobytes(), tid=np.repeat(tid[first:end], self.octets).tolist())
            if self.has_keep:
                frame.tkeep = keep[first:end].reshape(-1).astype(int).tolist()
            self.data.send_nowait(frame)
        for name, stream in (("token", self.token), ("data", self.data), ("output", self.sink)):
            generator = random.Random(f"{self.job['seed']} {name}")
            start, share = script.get(f"{name}_start", 0), self.job[name]
            stream.set_pause_generator(pauses(generator, start, share) if start or share else None)
            stream.pause = start > 0

    async def watch(self, clocks: int | None) -> dict[str, Any]:
        """Look at every clock until ``clocks`` have passed or, with ``None``, the unit is done; what was seen.

        Raises
        ------
        Fault
            If the unit hangs or breaks the protocol.
        """
        dut = self.dut
        taken, waits = {"token": 0, "data": 0}, {"token": 0, "data": 0, "output": 0}
        total = {"token": self.tokens, "data": self.beats}
        seen: list[int] = []
        held = first_data = first_output = last_output = early = None
        idle = quiet = 0
        inputs = (
            ("token", dut.s_axis_token_tvalid, dut.s_axis_token_tready),
            ("data", dut.s_axis_tvalid, dut.s_axis_tready),
        )
        self.clock = self.host.clock = 0
        starts = [self.script.get(f"{name}_start", 0) for name in ("token", "data", "output")]
        meanwhile = self.script.get("meanwhile", [])
        hosting = cocotb.start_soon(self.host.run(meanwhile)) if meanwhile else None
        while clocks is None or self.clock < clocks:
            await FallingEdge(dut.aclk)
            moved = False
            for name, valid, ready in inputs:
                if taken[name] < total[name] and valid.value:
                    if name == "data" and early is None:
                        early = taken["token"]
                    if ready.value:
                        taken[name] += 1
                        moved = True
                        if name == "data" and first_data is None:
                            first_data = self.clock
                    else:
                        waits[name] += 1
            if self.ram is not None:
                self.ram.look()
            output_ready = bool(dut.m_axis_tready.value)
            if dut.m_axis_tvalid.value:
                now = self.payload()
                if held not in (None, now):
                    raise Fault("the payload of m_axis changed before the beat was taken")
                held = None if output_ready else now
                waits["output"] += not output_ready
                if output_ready:
                    seen.append(now)
                    first_output = self.clock if first_output is None else first_output
                    last_output = self.clock
                    moved = True
                    if len(seen) > self.beats:
                        raise Fault("more beats came out than went in")
            elif held is not None:
                raise Fault("m_axis_tvalid fell before the beat was taken")
            hosted = hosting is None or hosting.done()
            if hosting is not None and hosted:
                hosting.result()  # raises what it raised
            idle = 0 if moved or self.clock < max(starts) or not hosted else idle + 1
            quiet = 0 if moved or taken != total or not hosted else quiet + output_ready
            if clocks is None and quiet >= self.job["quiet_limit"]:
                break
            if clocks is None and idle >= self.job["hang_limit"]:
                waiting = what_waits(*((taken[name], total[name]) for name in ("token", "data")), given=len(seen))
                raise Fault(f"nothing moved for {self.job['hang_limit']} clocks: {waiting}")
            if self.clock % PROGRESS_CLOCKS == 0:
                Path("progress").write_text(str(taken["data"]))
            self.clock += 1
            self.host.clock = self.clock
        self.host.clock = -1
        answers, self.host.answers = self.host.answers, []
        return {
            "answers": answers,
            "beats": beat_arrays(seen, self.octets),
            "clocks": 0 if last_output is None or first_data is None else last_output - first_data + 1,
            "first_output_clock": first_output,
            "last_output_clock": last_output,
            "early_tokens": early or 0,
            **{f"{name}_waits": count for name, count in waits.items()},
            "bursts": [] if self.ram is None else self.ram.bursts,
        }

    def payload(self) -> int:
        """The beat on offer, as :func:`~.packets.beat_arrays` takes it; none of it may be undefined under valid."""
        dut = self.dut
        kept = [dut.m_axis_tkeep] if self.has_keep else []
        signals = [dut.m_axis_tdata, dut.m_axis_tid, dut.m_axis_tlast, dut.m_axis_tuser, *kept]
        try:
            data, tid, last, user, *keep = (int(signal.value) for signal in signals)
        except ValueError:
            raise Fault(f"m_axis is undefined under valid: {[str(signal.value) for signal in signals]}") from None
        bits = keep[0] if keep else (1 << self.octets) - 1
        return data | (bits | (tid | last << 8 | user << 9) << self.octets) << 8 * self.octets

    def compare_sink(self, beats: dict[str, np.ndarray]) -> None:
        """Raise a ``Fault`` unless the sink's whole frames are what the monitor saw."""
        data, keep = beats["data"].reshape(-1), beats["keep"].reshape(-1)
        place = 0
        while not self.sink.empty():
            frame = self.sink.recv_nowait(compact=False)
            part = slice(place, place + len(frame.tdata))
            if bytes(frame.tdata) != data[part].tobytes():
                raise Fault("the sink received other data than the monitor saw")
            if self.has_keep and not np.array_equal(np.array(list(frame.tkeep), bool), keep[part]):
                raise Fault("the sink received another TKEEP than the monitor saw")
            place += len(frame.tdata)
        whole = int((np.flatnonzero(beats["last"])[-1:] + 1).sum()) * self.octets
        if place != whole:
            raise Fault(f"the sink received {place} octets in whole packets, and the monitor saw {whole}")
