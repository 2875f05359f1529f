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
        self.ports, self.design, self.stream, self.stalls, self.session = ports, design, stream, stalls, session
        self.reset = Signal()
        self.random = np.random.default_rng(stalls.seed)
        self.host = Host(ports, stalls.registers, np.random.default_rng(stalls.seed + 1))
        self.expected = len(session.registers) + len(session.meanwhile)
        self.seen: list[tuple[int, int, int, int, int]] = []
        self.figures: dict[str, Any] = {}

    def _rests(self, share: float) -> bool:
        return bool(share) and self.random.random() < share

    async def meanwhile(self, ctx: Any) -> None:
        while self.host.clock < 0:
            await ctx.tick()
        await self.host.run(ctx, self.session.meanwhile)

    async def run(self, ctx: Any) -> None:
        ports, session = self.ports, self.session
        ctx.set(self.reset, 1)
        await ctx.tick().repeat(2)
        if ctx.get(ports.m_axis_tvalid):
            raise EngineError("amaranth: m_axis_tvalid was high in reset")
        ctx.set(self.reset, 0)
        if session.interrupted is not None:
            await self.drive(ctx, session.interrupted, session.interrupted_clocks)
            self.seen.clear()
            for valid in (ports.s_axis_token_tvalid, ports.s_axis_tvalid):
                ctx.set(valid, 0)
        ctx.set(ports.m_axis_tready, 1)
        await self.host.run(ctx, session.registers)
        ctx.set(ports.m_axis_tready, 0)
        await self.drive(ctx, self.stream, None)

    async def drive(self, ctx: Any, stream: SinusoidalInput, most: int | None) -> None:
        """Offer ``stream``, for ``most`` clocks or until the unit is done."""
        ports, stalls, session = self.ports, self.stalls, self.session
        tokens = [int(low) | int(high) << 32 for low, high in stream.descriptors]
        beats = input_words(self.design, stream)
        keeps = self.design.has_keep
        data = Cat(ports.s_axis_tdata, *([ports.s_axis_tkeep] if keeps else []), ports.s_axis_tid, ports.s_axis_tlast)
        payload = (
            ports.m_axis_tdata, ports.m_axis_tkeep if keeps else Signal(), ports.m_axis_tid, ports.m_axis_tuser,
            ports.m_axis_tlast,
        )  # fmt: skip
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        taken, offered, token_taken, token_offered = 0, 0, 0, 0
        held = early = first_taken = None
        clocks: list[int] = []
        quiet = idle = clock = 0
        while quiet < QUIET_CLOCKS + self.design.groups and clock != most:
            self.host.clock = clock if most is None else -1
            if token_offered == token_taken < len(tokens) and not self._rests(stalls.token):
                ctx.set(ports.s_axis_token_tdata, tokens[token_taken])
                token_offered += 1
            if offered == taken < len(beats) and clock >= session.data_start and not self._rests(stalls.data):
                ctx.set(data, beats[taken])
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
            all_taken = token_taken == len(tokens) and taken == len(beats)
            all_taken &= len(self.host.answers) == self.expected
            quiet = 0 if moved or not all_taken else quiet + ready
            idle = 0 if moved or clock < max(session.output_start, session.data_start) else idle + 1
            clock += 1
            if idle > HANG_CLOCKS:
                raise EngineError(f"amaranth: nothing moved for {HANG_CLOCKS} clocks; {taken} beats were taken")
        self.figures = {"clocks": np.array(clocks), "first_token_clock": first_taken, "early_tokens": early or 0}
