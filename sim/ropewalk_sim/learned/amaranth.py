"""The gateware of a learned-table adder in Amaranth's simulator, with a memory for a table outside."""

from collections import deque
from typing import Any

import numpy as np
from amaranth.hdl import Cat, ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk.designs.learned import LearnedDesign
from ropewalk.gateware.learned.top import LearnedPorts
from ropewalk.tables.learned import Words
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.errors import EngineError

from .memory import memory_image
from .stream import LearnedInput, LearnedOutput, Memory, Session
from .wires import input_words, output_of

PROGRESS_CLOCKS = 1 << 8
"""How often ``progress`` is called."""


def simulate(
    design: LearnedDesign,
    words: Words,
    stream: LearnedInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
    ports: Any = None,
    hold: tuple[int, int, int] = (0, 0, 0),
    progress: Progress | None = None,
) -> LearnedOutput:
    """Run ``stream`` through the gateware, or through ``ports``, an elaboratable with its ports.

    ``hold`` are descriptors, beats and a clock: no more than those are offered before that clock.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol of a stream or of AXI4.
    """
    stream.check(design)
    ports = LearnedPorts(design, words) if ports is None else ports
    bench = _Bench(ports, design, stream, stalls or Stalls(), session or Session(), hold, progress)
    memory = _MemoryModel(ports, design, words, bench) if design.storage == "external" else None

    simulator = Simulator(ResetInserter(bench.reset)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench.run)
    simulator.add_testbench(bench.meanwhile, background=True)
    if memory is not None:
        simulator.add_testbench(memory.run, background=True)
    simulator.run()
    fields = {} if memory is None else {"bursts": tuple(memory.bursts)}
    return output_of(design, bench.seen, answers=tuple(bench.host.answers), **bench.figures, **fields)


class _Bench:
    def __init__(
        self, ports: Any, design: LearnedDesign, stream: LearnedInput, stalls: Stalls, session: Session,
        hold: tuple[int, int, int],
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self.hold, self.progress = hold, progress
        self.ports, self.stream, self.stalls, self.session = ports, stream, stalls, session
        self.reset = Signal()
        self.tokens = [int(low) | int(high) << 32 for low, high in stream.descriptors]
        self.beats = input_words(design, stream)
        self.random = np.random.default_rng(stalls.seed)
        self.host = Host(ports, stalls.registers, np.random.default_rng(stalls.seed + 1))
        self.seen: list[tuple[int, int, int, int, int]] = []
        self.figures: dict[str, Any] = {}
        self.over = False

    def _rests(self, share: float) -> bool:
        return bool(share) and self.random.random() < share

    async def meanwhile(self, ctx: Any) -> None:
        while self.host.clock < 0:
            await ctx.tick()
        await self.host.run(ctx, self.session.meanwhile)

    async def run(self, ctx: Any) -> None:
        ports, stalls, session = self.ports, self.stalls, self.session
        ctx.set(self.reset, 1)
        await ctx.tick().repeat(2)
        ctx.set(self.reset, 0)
        await self.host.run(ctx, session.registers)
        expected = len(session.registers) + len(session.meanwhile)
        keeps = hasattr(ports, "m_axis_tkeep")
        data = Cat(ports.s_axis_tdata, *([ports.s_axis_tkeep] if keeps else []), ports.s_axis_tid, ports.s_axis_tlast)
        nothing = Signal(1)
        payload = (
            ports.m_axis_tdata, ports.m_axis_tkeep if keeps else nothing, ports.m_axis_tid, ports.m_axis_tuser,
            ports.m_axis_tlast,
        )  # fmt: skip
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        taken = offered = 0
        token_taken, token_offered = 0, 0
        held = None
        quiet = idle = clock = waits = 0
        early = first_data = first_out = last_out = None
        while quiet < QUIET_CLOCKS:
            self.host.clock = clock
            held_back = clock < self.hold[2]
            tokens, beats = (self.hold[0], self.hold[1]) if held_back else (len(self.tokens), len(self.beats))
            if token_offered == token_taken < tokens and not self._rests(stalls.token):
                ctx.set(ports.s_axis_token_tdata, self.tokens[token_taken])
                token_offered += 1
            if offered == taken < beats and clock >= session.data_start and not self._rests(stalls.data):
                ctx.set(data, self.beats[taken])
                offered += 1
                early = token_taken if early is None else early
            ctx.set(ports.s_axis_token_tvalid, token_offered > token_taken)
            ctx.set(ports.s_axis_tvalid, offered > taken)
            ready = clock >= session.output_start and not self._rests(stalls.output)
            ctx.set(ports.m_axis_tready, ready)
            _, _, seen, *out = await ctx.tick().sample(flags, *payload)
            moved = False
            if token_offered > token_taken and seen & 1:
                token_taken, moved = token_taken + 1, True
            if offered > taken and seen & 2:
                taken, moved = taken + 1, True
                first_data = clock if first_data is None else first_data
            elif offered > taken:
                waits += 1
            if seen & 4:
                if held not in (None, out):
                    raise EngineError(f"amaranth: in clock {clock}: the payload changed before it was taken")
                held = None if ready else out
                if ready:
                    self.seen.append(tuple(out))
                    first_out = clock if first_out is None else first_out
                    last_out, moved = clock, True
            elif held is not None:
                raise EngineError(f"amaranth: in clock {clock}: m_axis_tvalid fell before the beat was taken")
            all_taken = token_taken == len(self.tokens) and taken == len(self.beats)
            all_taken &= len(self.host.answers) == expected
            quiet = 0 if moved or not all_taken else quiet + ready
            idle = 0 if moved or clock < max(session.output_start, session.data_start) else idle + 1
            clock += 1
            if self.progress is not None and clock % PROGRESS_CLOCKS == 0:
                self.progress(taken, len(self.beats))
            if idle > HANG_CLOCKS:
                raise EngineError(f"amaranth: nothing moved for {HANG_CLOCKS} clocks; {taken} beats were taken")
        self.over = True
        self.figures = {
            "first_data_clock": first_data, "first_output_clock": first_out, "last_output_clock": last_out,
            "data_waits": waits, "early_tokens": early or 0,
        }  # fmt: skip


class _MemoryModel:
    """Answers the read master in order, each burst after a latency of its own."""

    def __init__(self, ports: Any, design: LearnedDesign, words: Words, bench: _Bench) -> None:
        self.ports, self.design, self.bench = ports, design, bench
        self.memory: Memory = bench.session.memory
        self.bytes = design.bus_bytes
        image, errors = memory_image(design, words, self.memory)
        self.words = [int.from_bytes(beat.tobytes(), "little") for beat in image.reshape(-1, self.bytes)]
        self.errors = errors.tolist()
        self.bursts: list[tuple[int, int, int]] = []
        self.random = np.random.default_rng(bench.stalls.seed + 2)

    def _check(self, address: int, length: int, size: int, burst: int) -> None:
        inside = address % 4096 + length * self.bytes <= 4096
        if 1 << size != self.bytes or burst != 1 or address % self.bytes or not inside:
            raise EngineError(f"amaranth: a burst of {length} beats at {address:#x} is not allowed")

    async def run(self, ctx: Any) -> None:
        ports, memory = self.ports, self.memory
        asked = Cat(ports.m_axi_araddr, ports.m_axi_arlen, ports.m_axi_arsize, ports.m_axi_arburst)
        bits = len(ports.m_axi_araddr)
        waiting: deque[tuple[int, int, bool]] = deque()
        clock = 0
        held = None
        offered = False
        while True:
            stalled = bool(memory.stall) and self.random.random() < memory.stall
            ctx.set(ports.m_axi_arready, not stalled)
            if not offered and waiting and waiting[0][0] <= clock and not stalled:
                _, address, last = waiting[0]
                place = (address - memory.base) // self.bytes
                inside = 0 <= place < len(self.words)
                ctx.set(ports.m_axi_rdata, self.words[place] if inside else 0)
                ctx.set(ports.m_axi_rresp, 0 if inside and not self.errors[place] else 2)
                ctx.set(ports.m_axi_rlast, last)
                offered = True
            ctx.set(ports.m_axi_rvalid, offered)
            _, _, valid, request, ready = await ctx.tick().sample(ports.m_axi_arvalid, asked, ports.m_axi_rready)
            if held not in (None, request) or (held is not None and not valid):
                raise EngineError("amaranth: a read was changed or withdrawn before it was taken")
            held = request if valid and stalled else None
            if offered and ready:
                waiting.popleft()
                offered = False
            if valid and not stalled:
                address = request & (1 << bits) - 1
                length = (request >> bits & 0xFF) + 1
                self._check(address, length, request >> bits + 8 & 7, request >> bits + 11)
                due = clock + int(self.random.integers(memory.latency[0], memory.latency[1], endpoint=True))
                self.bursts.append((address, length, 1 + sum(last for _, _, last in waiting)))
                for beat in range(length):
                    waiting.append((due, address + beat * self.bytes, beat == length - 1))
            clock += 1
