"""The soak's bench, inside the simulator: cocotbext-axi at every interface, and a watcher that writes down all it sees.

It runs in a job folder with ``job.json``; it leaves ``chunk-N.npz`` whenever enough has been seen, cut at resets, and
at last ``done.json``. It compares nothing with a model: that is for who reads the chunks (:mod:`.run`).
"""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, FallingEdge, RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamMonitor,
    AxiStreamSink,
    AxiStreamSource,
)
from ropewalk_sim.soak.notes import Notes
from ropewalk_sim.soak.plan import CHANNELS, LONGEST_PAUSE, Stretch, pool
from ropewalk_sim.soak.watcher import Fault, Watcher

SOFT_RESET, FLUSH = 1, 8
BUSY, SCANNING = 2, 4
CLOCK_NS = 10


@cocotb.test()
async def soak(dut: Any) -> None:
    """Run stretches until enough beats have come out. A fault of the engine is a result."""
    bench = Bench(dut, json.loads(Path("job.json").read_text()))
    fault = ""
    try:
        await bench.run()
    except Fault as error:
        fault = f"in clock {bench.watcher.clock}, stretch {bench.number}: {error}"
        bench.notes.dump(stretches=bench.number)
    Path("done.json").write_text(json.dumps({"fault": fault, "stretches": bench.number}))


class Bench:
    """Sources, sink, monitors and master around ``dut``, and one stretch after the other."""

    def __init__(self, dut: Any, job: dict[str, Any]) -> None:
        self.dut, self.job = dut, job
        self.number = 0
        dut.aresetn.value = 0
        Clock(dut.aclk, CLOCK_NS, unit="ns").start()
        common = {"clock": dut.aclk, "reset": dut.aresetn, "reset_active_level": False}
        # One "byte" a beat: the bench works on whole beats.
        buses = {name: AxiStreamBus.from_prefix(dut, name) for name in ("s_axis_token", "s_axis", "m_axis")}
        whole = {"byte_lanes": 1, **common}
        self.token = AxiStreamSource(buses["s_axis_token"], **whole)
        self.data = AxiStreamSource(buses["s_axis"], **whole)
        self.sink = AxiStreamSink(buses["m_axis"], **whole)
        self.monitors = {
            "token": AxiStreamMonitor(buses["s_axis_token"], **whole),
            "data": AxiStreamMonitor(buses["s_axis"], **whole),
            "output": self.sink,
        }
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), **common)
        master: Any = self.master
        write, read = master.write_if, master.read_if
        self.paused: dict[str, Any] = {
            "token": self.token, "data": self.data, "output": self.sink, "aw": write.aw_channel, "w": write.w_channel,
            "b": write.b_channel, "ar": read.ar_channel, "r": read.r_channel,
        }  # fmt: skip
        self.pool = pool(job["seed"], job["elements"], job["container_bits"], job["data_width"])
        self.notes = Notes(job)
        self.stretch = Stretch(job["seed"], 0, job)
        self.watcher = Watcher(dut, self.notes, self.on_token, self.on_clock)
        self.left: list[int] = [0] * len(CHANNELS)
        self.ending = Event()
        self.since = 0

    async def run(self) -> None:
        """All stretches."""
        watching = cocotb.start_soon(self.watcher.run())
        self.watching = watching
        await self.reset(4)
        kept = None
        while self.notes.beats < self.job["beats"]:
            self.stretch = Stretch(self.job["seed"], self.number, self.job, kept=kept)
            await self.one(self.stretch)
            kept = self.stretch if self.stretch.keep else None
            self.number += 1
        await self.reset(2)
        self.notes.dump(stretches=self.number)

    async def one(self, stretch: Stretch) -> None:
        """Run ``stretch`` to its end, and end it."""
        self.since = self.watcher.clock
        self.left = [0] * len(CHANNELS)
        self.ending.clear()
        if stretch.ahead:
            # Head counts do not change while packets are on their way: they are what they are now.
            beats = self.beats_of_token()
        for word in stretch.descriptors():
            self.token.send_nowait(frame_of([word]))
            if stretch.ahead:
                self.send_packet(word >> 16 & 255, beats)
        host = cocotb.start_soon(self.host(stretch))
        self.watcher.quiet = 0
        await self.until(self.ending)
        drained = self.watcher.quiet >= self.job["quiet_clocks"]
        if host.done():
            host.result()  # raises what it raised
        host.cancel()
        for source in self.paused.values():
            source.pause = False
        self.left = [1 << 60] * len(CHANNELS)
        self.notes.end(self.watcher.clock, drained, self.watcher.state)
        if stretch.end == "aresetn":
            await self.reset(stretch.reset_clocks)
        else:
            await self.idle_master()
            self.watcher.flushed.clear()
            await self.write(self.job["control"], SOFT_RESET if stretch.end == "soft reset" else FLUSH)
            await self.until(self.watcher.flushed)
            for _ in range(3):  # a load that is begun while the engine is emptied would be dropped with it
                await RisingEdge(self.dut.aclk)
            if not stretch.keep:
                self.token.clear()
                self.data.clear()

    async def until(self, event: Event) -> None:
        """Wait for ``event``, or for the watcher to find a fault."""
        while not event.is_set():
            if self.watching.done():
                self.watching.result()
            try:
                await with_timeout(event.wait(), 500 * CLOCK_NS, "ns")
            except SimTimeoutError:
                continue

    async def reset(self, clocks: int) -> None:
        """Hold ``aresetn`` low for ``clocks`` rising edges, and forget what was to be sent."""
        await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 0
        for _ in range(clocks):
            await RisingEdge(self.dut.aclk)
        for stream in (self.token, self.data):
            stream.clear()
        if self.watching.done():
            self.watching.result()
        self.compare_monitors()
        self.notes.reset(self.watcher.clock)
        if self.notes.fresh >= self.job["chunk_beats"]:
            self.notes.dump(stretches=self.number)
        await FallingEdge(self.dut.aclk)
        await RisingEdge(self.dut.aclk)
        self.dut.aresetn.value = 1
        await RisingEdge(self.dut.aclk)

    def compare_monitors(self) -> None:
        """Raise a ``Fault`` unless cocotbext-axi's monitors saw the beats since the last reset that the watcher saw."""
        for name, monitor in self.monitors.items():
            got, sides = [], []
            while not monitor.empty():
                frame = monitor.recv_nowait(compact=False)
                got += frame.tdata
                users = frame.tuser or [0] * len(frame.tid)
                sides += [tid | user << 9 for tid, user in zip(frame.tid, users, strict=True)]
                if sides:
                    sides[-1] |= 256
            # A monitor hands out whole packets; what it has of another one is lost with the reset.
            if (got, sides) != self.notes.since_reset(name):
                raise Fault(f"the monitor of the {name} stream saw other beats than the watcher")

    def beats_of_token(self) -> int:
        """Beats of a token whose descriptor is taken now."""
        return sum(self.notes.heads) * self.job["beats_per_head"]

    def on_token(self, word: int) -> None:
        """A descriptor is taken in this clock."""
        if not self.stretch.ahead:
            self.send_packet(word >> 16 & 255, self.beats_of_token())

    def send_packet(self, tag: int, beats: int) -> None:
        """Offer a packet, sound or not, for a token of ``beats`` beats."""
        tids, parts = self.stretch.packet(tag, beats)
        place = 0
        for start, count in parts:
            tid = tids[place : place + count]
            self.data.send_nowait(frame_of(self.pool[start : start + count], tid=tid))
            place += count

    def on_clock(self) -> None:
        """Between two clocks: begin and end pauses, and see whether the stretch is over."""
        left = self.left
        for number, name in enumerate(CHANNELS):
            left[number] -= 1
            if left[number] < 0:
                self.toggle(number, name)
        if self.watcher.clock - self.since >= self.stretch.moment or (self.watcher.quiet >= self.job["quiet_clocks"]):
            self.ending.set()

    def toggle(self, number: int, name: str) -> None:
        """End a pause of a channel, or begin one, and choose for how long."""
        share, length = self.stretch.pauses[name]
        channel = self.paused[name]
        if not share:
            channel.pause = False
            self.left[number] = 1 << 60
            return
        pausing = not channel.pause
        channel.pause = pausing
        mean = length if pausing else length * (1 - share) / share
        chosen = int(self.stretch.generator.expovariate(1 / mean) + 0.5)
        self.left[number] = min(chosen, LONGEST_PAUSE if pausing else chosen)

    async def host(self, stretch: Stretch) -> None:
        """Carry out what the host of ``stretch`` does, until it is cancelled."""
        for order, first, second in stretch.host():
            if order == "rest":
                for _ in range(first):
                    await RisingEdge(self.dut.aclk)
            elif order == "write":
                await self.write(first, second)
            elif order == "read":
                await self.read(first)
            else:
                mask = BUSY if order == "idle" else SCANNING
                while await self.read(self.job["load_state"]) & mask:
                    pass
                if order == "crc":
                    await self.read(self.job["crc"] + 4 * first)

    async def write(self, address: int, word: int) -> None:
        """Write a word; what was answered is in the watcher's notes."""
        await self.answered(self.master.write(address, word.to_bytes(4, "little")))

    async def read(self, address: int) -> int:
        """Read a word and note it."""
        written, clock = len(self.notes.writes), self.watcher.clock
        answer = await self.answered(self.master.read(address, 4))
        value = int.from_bytes(answer.data, "little")
        self.notes.reads.append((self.notes.written_before + written, address, value, int(answer.resp), clock))
        return value

    async def answered(self, access: Any) -> Any:
        """The answer of an access, which must come."""
        try:
            return await with_timeout(access, self.job["silence_clocks"] * CLOCK_NS, "ns")
        except SimTimeoutError:
            raise Fault("the register port did not answer") from None

    async def idle_master(self) -> None:
        """Wait until the master has nothing under way."""
        await self.answered(self.master.wait())


def frame_of(words: Any, tid: list[int] | None = None) -> AxiStreamFrame:
    """A packet of whole beats."""
    return AxiStreamFrame(words, tid=tid)
