"""A top's gateware in Amaranth's simulator: one testbench drives and samples all streams, a sample per clock.

Thousands of clocks a second: for checking, not for bulk. One sample of all outputs per clock is what the simulator is
quickest at.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import numpy as np
from amaranth.hdl import Cat, Const, ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk_sim.beats import Script, Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import Answer

from .amaranth_memory import AmaranthMemory
from .packets import beat_arrays, integers, packets
from .read_memory import ReadMemory
from .streams import UnitInput, UnitOutput
from .waiting import what_waits

PROGRESS_CLOCKS = 1 << 8
"""How often ``progress`` is called."""

Process = Callable[[Any], Coroutine[Any, Any, None]]
"""A simulator process or testbench."""


def simulate(
    ports: Any,
    stream: UnitInput,
    stalls: Stalls | None = None,
    script: Script[UnitInput] | None = None,
    progress: Progress | None = None,
    *,
    memory: ReadMemory | None = None,
    quiet_clocks: int = QUIET_CLOCKS,
    processes: Sequence[Process] = (),
    testbenches: Sequence[Process] = (),
    prelude: Process | None = None,
    reset_clocks: int | None = None,
) -> UnitOutput:
    """Run ``stream`` through ``ports``, a component with the five ports of an emitted top in the ``sync`` domain.

    ``memory`` is what its read master finds, where it has one. A run ends ``quiet_clocks`` after the last beat.
    ``processes`` are further simulator processes, which may watch what is inside; ``testbenches`` may drive the
    register port meanwhile, and ``prelude`` before the streams begin. ``reset_clocks``, where given, overrules the
    script's, and may be 0.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol.
    """
    script = script or Script()
    bench = _Bench(ports, stalls or Stalls(), memory, quiet_clocks)
    clocks = script.reset_clocks if reset_clocks is None else reset_clocks
    result: list[UnitOutput] = []

    async def testbench(ctx: Any) -> None:
        before = None
        if script.interrupted is not None:
            await bench.reset(ctx, 2)
            await bench.host.run(ctx, script.interrupted_registers)
            log = await bench.drive(ctx, script.interrupted, Script(), script.interrupted_clocks)
            before = log.output(tuple(bench.host.answers), None)
            bench.host.answers.clear()
        if prelude is not None:
            await prelude(ctx)
        await bench.reset(ctx, clocks)
        ctx.set(ports.m_axis_tready, 1)
        await bench.host.run(ctx, script.registers)
        ctx.set(ports.m_axis_tready, 0)
        bench.expected = len(script.registers) + len(script.meanwhile)
        log = await bench.drive(ctx, stream, script, None, progress)
        result.append(log.output(tuple(bench.host.answers), before))

    async def meanwhile(ctx: Any) -> None:
        while not bench.expected or bench.host.clock < 0:
            await ctx.tick()
        await bench.host.run(ctx, script.meanwhile)

    simulator = Simulator(ResetInserter(bench.reset_signal)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    if script.meanwhile:
        simulator.add_testbench(meanwhile)
    if bench.memory is not None:
        simulator.add_testbench(bench.memory.run, background=True)
    for driver in testbenches:
        simulator.add_testbench(driver)
    for process in processes:
        simulator.add_process(process)
    simulator.run()
    return result[0]


class _Log:
    """What a run has seen."""

    def __init__(self, octets: int, bursts: list[tuple[int, int, int]]) -> None:
        self.octets, self.bursts = octets, bursts
        self.beats: list[int] = []
        self.waits = {"token": 0, "data": 0, "output": 0}
        self.first_data: int | None = None
        self.first_output: int | None = None
        self.last_output: int | None = None
        self.early: int | None = None

    def output(self, answers: tuple[Answer, ...], before: UnitOutput | None) -> UnitOutput:
        """The beats as arrays, and the figures."""
        clocks = 0
        if self.last_output is not None and self.first_data is not None:
            clocks = self.last_output - self.first_data + 1
        return UnitOutput(
            **beat_arrays(self.beats, self.octets),
            clocks=clocks,
            first_output_clock=self.first_output,
            last_output_clock=self.last_output,
            early_tokens=self.early or 0,
            data_waits=self.waits["data"],
            token_waits=self.waits["token"],
            output_waits=self.waits["output"],
            before=before,
            answers=answers,
            bursts=tuple(self.bursts),
        )


class _Source:
    """One input stream: which beat is next, and whether it is on offer."""

    def __init__(self, beats: list[int], valid: Any, payload: Any, stall: float, random: np.random.Generator):
        self.beats, self.valid, self.payload, self.stall, self.random = beats, valid, payload, stall, random
        self.taken = 0
        self.offered = False

    def offer(self, ctx: Any, held_back: bool) -> None:
        """Put the next beat on offer unless one is, or the source rests."""
        if self.offered or held_back or self.taken == len(self.beats):
            return
        if self.stall and self.random.random() < self.stall:
            return
        self.offered = True
        ctx.set(self.payload, self.beats[self.taken])
        ctx.set(self.valid, 1)

    def take(self, ctx: Any) -> None:
        """The beat on offer was taken."""
        self.taken += 1
        self.offered = False
        ctx.set(self.valid, 0)


class _Bench:
    def __init__(self, ports: Any, stalls: Stalls, memory: ReadMemory | None, quiet_clocks: int) -> None:
        self.ports, self.stalls, self.quiet_clocks = ports, stalls, quiet_clocks
        self.reset_signal = Signal()
        seeds = np.random.SeedSequence(stalls.seed).spawn(5)
        self.token_random, self.data_random, self.output_random, host, reads = map(np.random.default_rng, seeds)
        self.host = Host(ports, stalls.registers, host)
        self.memory = None if memory is None else AmaranthMemory(ports, memory, reads)
        self.expected = 0
        self.has_keep = "s_axis_tkeep" in ports.signature.members

    async def reset(self, ctx: Any, clocks: int) -> None:
        """Offer nothing, and hold reset for ``clocks`` edges; the outputs must rest from the first of them on."""
        ports = self.ports
        for valid in (ports.s_axis_tvalid, ports.s_axis_token_tvalid, ports.m_axis_tready):
            ctx.set(valid, 0)
        if not clocks:
            return
        if self.memory is not None:
            self.memory.reset()
        ctx.set(self.reset_signal, 1)
        for _ in range(clocks):
            await ctx.tick()
            if ctx.get(ports.m_axis_tvalid):
                raise EngineError("amaranth: m_axis_tvalid was high in reset")
        ctx.set(self.reset_signal, 0)

    def sources(self, stream: UnitInput) -> tuple[_Source, _Source]:
        """Those of the descriptors and of the data."""
        ports, stalls = self.ports, self.stalls
        kept = [ports.s_axis_tkeep] if self.has_keep else []
        payload = Cat(ports.s_axis_tdata, *kept, ports.s_axis_tid, ports.s_axis_tlast)
        words = integers(stream.descriptors.astype("<u4"))
        token = _Source(words, ports.s_axis_token_tvalid, ports.s_axis_token_tdata, stalls.token, self.token_random)
        beats = packets(stream, self.has_keep)
        return token, _Source(beats, ports.s_axis_tvalid, payload, stalls.data, self.data_random)

    async def drive(
        self, ctx: Any, stream: UnitInput, script: Script, clocks: int | None, progress: Progress | None = None
    ) -> _Log:
        """Offer ``stream`` for ``clocks`` clocks, or until the top is done."""
        ports, stalls = self.ports, self.stalls
        octets = stream.data.shape[1]
        log = _Log(octets, [] if self.memory is None else self.memory.bursts)
        token, data = self.sources(stream)
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        kept = ports.m_axis_tkeep if self.has_keep else Const((1 << octets) - 1, octets)
        payload = Cat(ports.m_axis_tdata, kept, ports.m_axis_tid, ports.m_axis_tlast, ports.m_axis_tuser)
        starts = (script.token_start, script.data_start, script.output_start)
        held: int | None = None
        idle = quiet = clock = 0
        ready_before = False
        while clocks is None or clock < clocks:
            self.host.clock = clock
            token.offer(ctx, clock < script.token_start)
            data.offer(ctx, clock < script.data_start)
            ready = clock >= script.output_start and not (stalls.output and self.output_random.random() < stalls.output)
            if ready != ready_before:
                ctx.set(ports.m_axis_tready, ready)
                ready_before = ready
            _, _, seen, out = await ctx.tick().sample(flags, payload)
            moved = False
            if data.offered and log.early is None:
                log.early = token.taken
            for name, source, bit in (("token", token, 1), ("data", data, 2)):
                if source.offered and seen & bit:
                    if name == "data" and log.first_data is None:
                        log.first_data = clock
                    source.take(ctx)
                    moved = True
                elif source.offered:
                    log.waits[name] += 1
            if seen & 4:
                if held not in (None, out):
                    message = "the payload of m_axis changed before the beat was taken"
                    raise EngineError(f"amaranth: in clock {clock}: {message}")
                held = None if ready else out
                log.waits["output"] += not ready
                if ready:
                    log.beats.append(out)
                    log.first_output = clock if log.first_output is None else log.first_output
                    log.last_output = clock
                    moved = True
                    if len(log.beats) > stream.beats:
                        raise EngineError(f"amaranth: in clock {clock}: more beats came out than went in")
            elif held is not None:
                raise EngineError(f"amaranth: in clock {clock}: m_axis_tvalid fell before the beat was taken")
            hosting = len(self.host.answers) < self.expected
            done = token.taken == stream.tokens and data.taken == stream.beats and not hosting
            idle = 0 if moved or hosting or clock < max(starts) else idle + 1
            quiet = 0 if moved or not done else quiet + ready
            clock += 1
            if progress is not None and clock % PROGRESS_CLOCKS == 0:
                progress(data.taken, stream.beats)
            if clocks is None and quiet >= self.quiet_clocks:
                break
            if clocks is None and idle >= HANG_CLOCKS:
                waits = what_waits((token.taken, stream.tokens), (data.taken, stream.beats), len(log.beats))
                raise EngineError(f"amaranth: nothing moved for {HANG_CLOCKS} clocks: {waits}")
        self.host.clock = -1
        return log
