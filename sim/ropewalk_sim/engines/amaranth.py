"""The ``amaranth`` engine: the gateware itself, in Amaranth's simulator, before any Verilog is made of it.

Thousands of clocks a second: for checking, not for bulk. One testbench drives and samples all streams, with one
sample of all outputs per clock, which is what the simulator is quickest at.
"""

from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.hdl import Cat, ResetInserter, Signal
from amaranth.sim import Simulator
from numpy.typing import NDArray
from ropewalk.design import Design
from ropewalk.emit.folder import load_rotary
from ropewalk.gateware.top import RotaryPorts
from ropewalk_sim.beats import Script, Stalls, StreamInput, StreamOutput
from ropewalk_sim.engines import HANG_CLOCKS, Progress, quiet_clocks
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.engines.wires import containers, elements
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import Answer

PROGRESS_CLOCKS = 500

Process = Callable[[Any], Coroutine[Any, Any, None]]
"""A simulator process or testbench."""


class AmaranthEngine:
    """The gateware of the design in ``folder``. See :class:`ropewalk_sim.engines.Engine`."""

    def __init__(self, folder: Path) -> None:
        self._design = load_rotary(Path(folder))

    @property
    def design(self) -> Design:
        """The design in the folder."""
        return self._design

    def run(
        self,
        stream: StreamInput,
        *,
        stalls: Stalls | None = None,
        script: Script | None = None,
        progress: Progress | None = None,
    ) -> StreamOutput:
        """Run ``stream`` through the gateware."""
        return simulate(RotaryPorts(self._design), self._design, stream, stalls, script, progress)


def simulate(
    ports: RotaryPorts,
    design: Design,
    stream: StreamInput,
    stalls: Stalls | None = None,
    script: Script | None = None,
    progress: Progress | None = None,
    processes: Sequence[Process] = (),
    testbenches: Sequence[Process] = (),
    prelude: Process | None = None,
    reset_clocks: int | None = None,
) -> StreamOutput:
    """Run ``stream`` through ``ports``, an elaboratable with the ports of ``design``: the engine or a changed one.

    ``processes`` are further simulator processes, which may watch what is inside; ``testbenches`` may drive the
    register port meanwhile, and ``prelude`` before the streams begin. ``reset_clocks``, where given, overrules the
    script's, and may be 0.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol.
    """
    stream.check(design)
    script = script or Script()
    reset = Signal()
    bench = _Bench(ports, design, stalls or Stalls(), reset)
    result: list[StreamOutput] = []

    async def testbench(ctx: Any) -> None:
        before = None
        if script.interrupted is not None:
            script.interrupted.check(design)
            await bench.reset(ctx, 2)
            await bench.host.run(ctx, script.interrupted_registers)
            first = await bench.drive(ctx, script.interrupted, Script(), None, script.interrupted_clocks)
            before = first.output(design, None, tuple(bench.host.answers))
            bench.host.answers.clear()
        if prelude is not None:
            await prelude(ctx)
        await bench.reset(ctx, script.reset_clocks if reset_clocks is None else reset_clocks)
        if script.registers:
            ctx.set(ports.m_axis_tready, 1)
            await bench.host.run(ctx, script.registers)
            ctx.set(ports.m_axis_tready, 0)
        bench.expected = len(script.registers) + len(script.meanwhile)
        log = await bench.drive(ctx, stream, script, progress, None)
        result.append(log.output(design, before, tuple(bench.host.answers)))

    async def meanwhile(ctx: Any) -> None:
        while not bench.expected or bench.host.clock < 0:
            await ctx.tick()
        await bench.host.run(ctx, script.meanwhile)

    simulator = Simulator(ResetInserter(reset)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    if script.meanwhile:
        simulator.add_testbench(meanwhile)
    for driver in testbenches:
        simulator.add_testbench(driver)
    for process in processes:
        simulator.add_process(process)
    simulator.run()
    return result[0]


class _Log:
    """What a run has seen."""

    def __init__(self) -> None:
        self.beats: list[tuple[int, int, int, int]] = []
        self.waits = {"token": 0, "data": 0, "output": 0}
        self.first_data: int | None = None
        self.first_output: int | None = None
        self.last_output: int | None = None
        self.early: int | None = None

    def output(self, design: Design, before: StreamOutput | None, answers: tuple[Answer, ...]) -> StreamOutput:
        """The beats as arrays."""
        size = design.elements * design.container_bits // 8
        octets = np.frombuffer(b"".join(beat[0].to_bytes(size, "little") for beat in self.beats), np.uint8)
        side = np.array([beat[1:] for beat in self.beats], np.uint8).reshape(len(self.beats), 3)
        clocks = 0
        if self.last_output is not None and self.first_data is not None:
            clocks = self.last_output - self.first_data + 1
        return StreamOutput(
            data=elements(design, octets.reshape(len(self.beats), size)).reshape(len(self.beats), design.elements),
            tid=np.ascontiguousarray(side[:, 0]),
            user=np.ascontiguousarray(side[:, 1]),
            last=side[:, 2].astype(bool),
            clocks=clocks,
            first_output_clock=self.first_output,
            last_output_clock=self.last_output,
            early_tokens=self.early or 0,
            data_waits=self.waits["data"],
            token_waits=self.waits["token"],
            output_waits=self.waits["output"],
            before=before,
            answers=answers,
        )


class _Source:
    """One input stream: which beat is next, and whether it is on offer."""

    def __init__(self, beats: list[int], valid: Signal, payload: Any, stall: float, random: np.random.Generator):
        self.beats = beats
        self.valid = valid
        self.payload = payload
        self.stall = stall
        self.random = random
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
    def __init__(self, ports: RotaryPorts, design: Design, stalls: Stalls, reset: Signal) -> None:
        self.ports: Any = ports
        self.design = design
        self.stalls = stalls
        self.reset_signal = reset
        seeds = np.random.SeedSequence(stalls.seed).spawn(4)
        self.token_random, self.data_random, self.output_random, random = map(np.random.default_rng, seeds)
        self.host = Host(ports, stalls.registers, random)
        self.expected = 0

    async def reset(self, ctx: Any, clocks: int) -> None:
        """Hold reset for ``clocks`` edges; the outputs must rest from the first of them on."""
        ports = self.ports
        for valid in (ports.s_axis_tvalid, ports.s_axis_token_tvalid, ports.m_axis_tready):
            ctx.set(valid, 0)
        ctx.set(self.reset_signal, 1)
        for _ in range(clocks):
            await ctx.tick()
            if ctx.get(ports.m_axis_tvalid):
                raise EngineError("amaranth: m_axis_tvalid was high in reset")
        ctx.set(self.reset_signal, 0)

    async def drive(
        self, ctx: Any, stream: StreamInput, script: Script, progress: Progress | None, clocks: int | None
    ) -> _Log:
        """Offer ``stream`` for ``clocks`` clocks, or until the engine is done."""
        ports, stalls, log = self.ports, self.stalls, _Log()
        token = _Source(
            _integers(stream.descriptors),
            ports.s_axis_token_tvalid,
            ports.s_axis_token_tdata,
            stalls.token,
            self.token_random,
        )
        data_payload = Cat(ports.s_axis_tdata, ports.s_axis_tid, ports.s_axis_tlast)
        data = _Source(_packets(self.design, stream), ports.s_axis_tvalid, data_payload, stalls.data, self.data_random)
        width = len(ports.m_axis_tdata)
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        payload = Cat(ports.m_axis_tdata, ports.m_axis_tid, ports.m_axis_tuser, ports.m_axis_tlast)
        quiet_limit = quiet_clocks(self.design)
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
                    raise EngineError(f"amaranth: in clock {clock}: the payload of m_axis changed before it was taken")
                held = None if ready else out
                if ready:
                    log.beats.append(
                        (out & (1 << width) - 1, out >> width & 0xFF, out >> width + 8 & 7, out >> width + 11)
                    )
                    log.first_output = clock if log.first_output is None else log.first_output
                    log.last_output = clock
                    moved = True
                    if len(log.beats) > stream.beats:
                        raise EngineError(f"amaranth: in clock {clock}: more beats came out than went in")
                else:
                    log.waits["output"] += 1
            elif held is not None:
                raise EngineError(f"amaranth: in clock {clock}: m_axis_tvalid fell before the beat was taken")
            hosting = len(self.host.answers) < self.expected
            done = token.taken == stream.tokens and data.taken == stream.beats and not hosting
            held_back = clock < max(script.token_start, script.data_start, script.output_start)
            idle = 0 if moved or held_back or hosting else idle + 1
            quiet = 0 if moved or not done else quiet + ready
            clock += 1
            if clocks is None and quiet >= quiet_limit:
                break
            if clocks is None and idle >= HANG_CLOCKS:
                raise EngineError(
                    f"amaranth: nothing moved for {HANG_CLOCKS} clocks: {token.taken} of {stream.tokens} descriptors "
                    f"and {data.taken} of {stream.beats} data beats were taken, {len(log.beats)} beats came out"
                )
            if progress is not None and clock % PROGRESS_CLOCKS == 0:
                progress(data.taken, stream.beats)
        self.host.clock = -1
        return log


def _integers(rows: NDArray[Any]) -> list[int]:
    """Each row of words as one integer, the first word lowest."""
    return [int.from_bytes(row.tobytes(), "little") for row in np.ascontiguousarray(rows)]


def _packets(design: Design, stream: StreamInput) -> list[int]:
    """Each beat as one integer: the containers, TID, TLAST."""
    width = design.elements * design.container_bits
    words = _integers(containers(design, stream.data))
    sides = stream.tid.astype(int) | stream.last.astype(int) << 8
    return [word | int(side) << width for word, side in zip(words, sides, strict=True)]
