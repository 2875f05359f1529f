"""The gateware of a sinusoidal adder in Amaranth's simulator."""

from typing import Any

import numpy as np
from amaranth.hdl import Cat, ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.gateware.sinusoidal.top import SinusoidalPorts
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.errors import EngineError

from .stream import Session, SinusoidalInput, SinusoidalOutput
from .wires import input_words, output_of


def simulate(
    design: SinusoidalDesign,
    stream: SinusoidalInput,
    stalls: Stalls | None = None,
    session: Session | None = None,
    ports: Any = None,
) -> SinusoidalOutput:
    """Run ``stream`` through the gateware, or through ``ports``, an elaboratable with its ports.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol of a stream.
    """
    stream.check(design)
    ports = SinusoidalPorts(design) if ports is None else ports
    bench = _Bench(ports, design, stream, stalls or Stalls(), session or Session())
    simulator = Simulator(ResetInserter(bench.reset)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench.run)
    simulator.add_testbench(bench.meanwhile, background=True)
    simulator.run()
    return output_of(design, bench.seen, answers=tuple(bench.host.answers), **bench.figures)


class _Bench:
    def __init__(
        self, ports: Any, design: SinusoidalDesign, stream: SinusoidalInput, stalls: Stalls, session: Session
    ) -> None:
        self.ports, self.design, self.stalls, self.session = ports, design, stalls, session
        self.reset = Signal()
        self.tokens = [int(low) | int(high) << 32 for low, high in stream.descriptors]
        self.beats = input_words(design, stream)
        self.random = np.random.default_rng(stalls.seed)
        self.host = Host(ports, stalls.registers, np.random.default_rng(stalls.seed + 1))
        self.seen: list[tuple[int, int, int, int, int]] = []
        self.figures: dict[str, Any] = {}

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
        keeps = self.design.has_keep
        data = Cat(ports.s_axis_tdata, *([ports.s_axis_tkeep] if keeps else []), ports.s_axis_tid, ports.s_axis_tlast)
        nothing = Signal(1)
        payload = (
            ports.m_axis_tdata, ports.m_axis_tkeep if keeps else nothing, ports.m_axis_tid, ports.m_axis_tuser,
            ports.m_axis_tlast,
        )  # fmt: skip
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        taken, offered, token_taken, token_offered = 0, 0, 0, 0
        held = None
        quiet = idle = clock = 0
        early = first_taken = None
        clocks: list[int] = []
        while quiet < QUIET_CLOCKS + self.design.groups:
            self.host.clock = clock
            if token_offered == token_taken < len(self.tokens) and not self._rests(stalls.token):
                ctx.set(ports.s_axis_token_tdata, self.tokens[token_taken])
                token_offered += 1
            if offered == taken < len(self.beats) and clock >= session.data_start and not self._rests(stalls.data):
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
                first_taken = clock if first_taken is None else first_taken
            if offered > taken and seen & 2:
                taken, moved = taken + 1, True
            if seen & 4:
                if held not in (None, out):
                    raise EngineError(f"amaranth: in clock {clock}: the payload changed before it was taken")
                held = None if ready else out
                if ready:
                    self.seen.append(tuple(out))
                    clocks.append(clock)
                    moved = True
            elif held is not None:
                raise EngineError(f"amaranth: in clock {clock}: m_axis_tvalid fell before the beat was taken")
            all_taken = token_taken == len(self.tokens) and taken == len(self.beats)
            all_taken &= len(self.host.answers) == expected
            quiet = 0 if moved or not all_taken else quiet + ready
            idle = 0 if moved or clock < max(session.output_start, session.data_start) else idle + 1
            clock += 1
            if idle > HANG_CLOCKS:
                raise EngineError(f"amaranth: nothing moved for {HANG_CLOCKS} clocks; {taken} beats were taken")
        self.figures = {"clocks": np.array(clocks), "first_token_clock": first_taken, "early_tokens": early or 0}
