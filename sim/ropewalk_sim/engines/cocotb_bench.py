"""The cocotb bench: one job's streams through the emitted top, by cocotbext-axi's sources and sink.

It runs inside the simulator's process, in a job folder that :mod:`.cosim` made: ``job.npz`` and ``job.json`` in,
``result.npz`` and ``result.json`` out. Beside the sink, a monitor looks at all streams in the middle of each clock,
where everything has settled: it counts clocks, watches the protocol, and keeps every beat, those before a reset
included. What the sink received must be what the monitor saw.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

PROGRESS_CLOCKS = 1000


class Fault(Exception):
    """The engine hung or broke the protocol."""


@cocotb.test()
async def run_job(dut: Any) -> None:
    """Run the job in the current directory. A fault of the engine is a result; only one of the bench fails the test."""
    job = json.loads(Path("job.json").read_text())
    arrays = np.load("job.npz")
    bench = Bench(dut, job)
    results: dict[str, dict[str, Any]] = {}
    try:
        await bench.reset(2)
        if "interrupted_data" in arrays:
            await bench.accesses(job["interrupted_registers"])
            bench.begin(arrays, "interrupted_", {})
            results["before"] = await bench.watch(job["interrupted_clocks"])
            await bench.reset(job["reset_clocks"])
        await bench.accesses(job["registers"])
        bench.begin(arrays, "", job)
        results["run"] = await bench.watch(None)
        bench.compare_sink(results["run"])
    except Fault as fault:
        Path("result.json").write_text(json.dumps({"fault": f"in clock {bench.clock}: {fault}"}))
        return
    beats = {f"{name}_{key}": value for name, result in results.items() for key, value in result.pop("beats").items()}
    np.savez("result.npz", **beats)
    Path("result.json").write_text(json.dumps(results))


class Bench:
    """Sources, sink and monitor around ``dut``."""

    def __init__(self, dut: Any, job: dict[str, Any]) -> None:
        self.dut = dut
        self.job = job
        self.clock = 0
        dut.aresetn.value = 0
        # No pragma of the clock's implementation: cocotb picks the fast one.
        Clock(dut.aclk, 10, unit="ns").start()
        common = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        container = job["container_bits"]
        self.token = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis_token"), byte_size=32, **common)
        self.data = AxiStreamSource(AxiStreamBus.from_prefix(dut, "s_axis"), byte_size=container, **common)
        self.sink = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis"), byte_size=container, **common)
        master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        self.host = Host(master, job["registers_stall"], job["seed"], job["most_polls"], job["silence_clocks"])

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
        await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1

    async def accesses(self, accesses: list[dict[str, Any]]) -> None:
        """Carry out accesses to registers before streams begin."""
        await self.host.run(accesses)
        await RisingEdge(self.dut.aclk)

    def begin(self, arrays: Any, prefix: str, script: dict[str, Any]) -> None:
        """Queue the streams whose names begin with ``prefix``, and set the pauses."""
        descriptors, data, tid, last = (arrays[prefix + name] for name in ("descriptors", "data", "tid", "last"))
        self.beats, self.tokens = len(data), len(descriptors)
        self.script = script
        if self.tokens:
            self.token.send_nowait(AxiStreamFrame(descriptors.reshape(-1).tolist()))
        ends = (np.flatnonzero(last) + 1).tolist()
        for first, end in zip([0, *ends], ends, strict=False):
            tags = np.repeat(tid[first:end], data.shape[1])
            self.data.send_nowait(AxiStreamFrame(data[first:end].reshape(-1).tolist(), tid=tags.tolist()))
        for name, stream in (("token", self.token), ("data", self.data), ("output", self.sink)):
            generator = random.Random(f"{self.job['seed']} {name}")
            start, share = script.get(f"{name}_start", 0), self.job[name]
            stream.set_pause_generator(pauses(generator, start, share) if start or share else None)
            stream.pause = start > 0

    async def watch(self, clocks: int | None) -> dict[str, Any]:
        """Look at every clock until ``clocks`` have passed or, with ``None``, the engine is done; what was seen.

        Raises
        ------
        Fault
            If the engine hangs or breaks the protocol.
        """
        dut, limits = self.dut, self.job
        taken = {"token": 0, "data": 0}
        waits = {"token": 0, "data": 0, "output": 0}
        total = {"token": self.tokens, "data": self.beats}
        seen: list[tuple[int, int, int, int]] = []
        held: tuple[int, int, int, int] | None = None
        first_data = first_output = last_output = early = None
        idle = quiet = 0
        inputs = (
            ("token", dut.s_axis_token_tvalid, dut.s_axis_token_tready),
            ("data", dut.s_axis_tvalid, dut.s_axis_tready),
        )
        payload = (dut.m_axis_tdata, dut.m_axis_tid, dut.m_axis_tlast, dut.m_axis_tuser)
        self.clock = self.host.clock = 0
        following = self.script.get("meanwhile", [])
        hosting = cocotb.start_soon(self.host.run(following)) if following else None
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
            output_ready = bool(dut.m_axis_tready.value)
            if dut.m_axis_tvalid.value:
                now = known(payload)
                if held not in (None, now):
                    raise Fault("the payload of m_axis changed before the beat was taken")
                held = None if output_ready else now
                if output_ready:
                    seen.append(now)
                    first_output = self.clock if first_output is None else first_output
                    last_output = self.clock
                    moved = True
                    if len(seen) > self.beats:
                        raise Fault("more beats came out than went in")
                else:
                    waits["output"] += 1
            elif held is not None:
                raise Fault("m_axis_tvalid fell before the beat was taken")
            hosted = hosting is None or hosting.done()
            if hosting is not None and hosted:
                hosting.result()  # raises what it raised
            all_taken = taken == total and hosted
            held_back = any(self.clock < self.script.get(f"{name}_start", 0) for name in ("token", "data", "output"))
            idle = 0 if moved or held_back or not hosted else idle + 1
            quiet = 0 if moved or not all_taken else quiet + output_ready
            if clocks is None and quiet >= limits["quiet_limit"]:
                break
            if clocks is None and idle >= limits["hang_limit"]:
                raise Fault(self.waiting(taken, total, len(seen)))
            if self.clock % PROGRESS_CLOCKS == 0:
                Path("progress").write_text(str(taken["data"]))
            self.clock += 1
            self.host.clock = self.clock
        self.host.clock = -1
        answers, self.host.answers = self.host.answers, []
        return {
            "answers": answers,
            "beats": self.arrays(seen),
            "clocks": 0 if last_output is None or first_data is None else last_output - first_data + 1,
            "first_output_clock": first_output,
            "last_output_clock": last_output,
            "early_tokens": early or 0,
            **{f"{name}_waits": count for name, count in waits.items()},
        }

    def waiting(self, taken: dict[str, int], total: dict[str, int], given: int) -> str:
        """Which stream waits for what, for the message of a hang."""
        parts = [f"nothing moved for {self.job['hang_limit']} clocks"]
        for name, port in (("token", "s_axis_token"), ("data", "s_axis")):
            if taken[name] < total[name]:
                parts.append(f"{port} waits for ready with {taken[name]} of {total[name]} beats taken")
            else:
                parts.append(f"all {total[name]} beats of {port} were taken")
        return "; ".join([*parts, f"{given} beats came out"])

    def arrays(self, seen: list[tuple[int, int, int, int]]) -> dict[str, np.ndarray]:
        """The monitor's beats as arrays: ``data`` as the octets of the bus, and the side signals."""
        size = len(self.dut.m_axis_tdata) // 8
        octets = b"".join(beat[0].to_bytes(size, "little") for beat in seen)
        side = np.array([beat[1:] for beat in seen], np.uint8).reshape(len(seen), 3)
        return {
            "data": np.frombuffer(octets, np.uint8).reshape(len(seen), size),
            "tid": side[:, 0],
            "last": side[:, 1],
            "user": side[:, 2],
        }

    def compare_sink(self, result: dict[str, Any]) -> None:
        """Raise a ``Fault`` unless the sink's whole frames are what the monitor saw."""
        beats = result["beats"]
        size = self.job["container_bits"] // 8
        words = beats["data"].reshape(-1).view(f"<u{size}")
        place = 0
        while not self.sink.empty():
            frame = self.sink.recv_nowait(compact=False)
            expected = words[place : place + len(frame.tdata)]
            if not np.array_equal(np.array(list(frame.tdata), expected.dtype), expected):
                raise Fault("the sink received other data than the monitor saw")
            place += len(frame.tdata)
        whole = (np.flatnonzero(beats["last"])[-1:] + 1).sum() * (beats["data"].shape[1] // size)
        if place != whole:
            raise Fault(f"the sink received {place} elements in whole packets, and the monitor saw {whole}")


class Host:
    """Carries out accesses at the register port, each channel resting at random in the share ``stall`` of the clocks.

    The channels of cocotbext-axi's master are used one by one: its own ``write`` makes no misaligned access of a
    whole word and no strobes with a gap.
    """

    def __init__(self, master: AxiLiteMaster, stall: float, seed: int, most_polls: int, silence: int) -> None:
        self.write: Any = master.write_if
        self.read: Any = master.read_if
        self.most_polls = most_polls
        self.silence = silence
        self.answers: list[tuple[int, int, int]] = []
        self.clock = -1
        channels = {
            "aw": self.write.aw_channel, "w": self.write.w_channel, "b": self.write.b_channel,
            "ar": self.read.ar_channel, "r": self.read.r_channel,
        }  # fmt: skip
        for name, channel in channels.items():
            if stall:
                channel.set_pause_generator(pauses(random.Random(f"{seed} {name}"), 0, stall))

    async def run(self, accesses: list[dict[str, Any]]) -> None:
        """Carry out ``accesses``: fields of :class:`ropewalk_sim.registers.Access`."""
        for access in accesses:
            while 0 <= self.clock < access["start"]:
                await RisingEdge(self.write.clock)
            for _ in range(self.most_polls):
                try:
                    value, response = await with_timeout(self.access(access), 10 * self.silence, "ns")
                except SimTimeoutError:
                    raise Fault(f"the register port did not answer for {self.silence} clocks") from None
                if not access["mask"] or response or value & access["mask"] == access["until"]:
                    break
            else:
                raise Fault("a register does not show what is waited for")
            self.answers.append((value, response, self.clock))

    async def access(self, access: dict[str, Any]) -> tuple[int, int]:
        """The word that was read, or 0, and the response."""
        if access["write"] is not None:
            address, data = self.write.aw_channel._transaction_obj(), self.write.w_channel._transaction_obj()
            address.awaddr, address.awprot = access["address"], 0
            data.wdata, data.wstrb = access["write"], access["strobes"]
            await self.write.aw_channel.send(address)
            await self.write.w_channel.send(data)
            return 0, int((await self.write.b_channel.recv()).bresp)
        address = self.read.ar_channel._transaction_obj()
        address.araddr, address.arprot = access["address"], 0
        await self.read.ar_channel.send(address)
        answer = await self.read.r_channel.recv()
        return int(answer.rdata), int(answer.rresp)


def pauses(generator: random.Random, start: int, share: float) -> Iterator[bool]:
    """Pause for ``start`` clocks, then at random in that share of the clocks."""
    for _ in range(start):
        yield True
    while True:
        yield generator.random() < share


def known(payload: tuple[Any, ...]) -> tuple[int, int, int, int]:
    """The values of the payload's signals, none of which may be undefined under valid."""
    try:
        data, tid, last, user = (int(signal.value) for signal in payload)
    except ValueError:
        raise Fault(f"m_axis is undefined under valid: {[str(signal.value) for signal in payload]}") from None
    return data, tid, last, user
