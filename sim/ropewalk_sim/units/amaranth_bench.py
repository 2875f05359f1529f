"""A unit's gateware in Amaranth's simulator: one testbench drives and samples all streams, a sample per clock."""

from typing import Any

import numpy as np
from amaranth.hdl import Cat, Const, ResetInserter, Signal
from amaranth.sim import Simulator
from ropewalk_sim.beats import Stalls
from ropewalk_sim.engines import HANG_CLOCKS, QUIET_CLOCKS, Progress
from ropewalk_sim.engines.amaranth_host import Host
from ropewalk_sim.errors import EngineError

from .script import UnitScript
from .streams import UnitInput, UnitOutput

PROGRESS_CLOCKS = 1 << 8
"""How often ``progress`` is called."""


def simulate(
    ports: Any,
    stream: UnitInput,
    stalls: Stalls | None = None,
    script: UnitScript | None = None,
    progress: Progress | None = None,
) -> UnitOutput:
    """Run ``stream`` through ``ports``, a component with the five ports of an emitted top in the ``sync`` domain.

    Raises
    ------
    EngineError
        If the gateware hangs or breaks the protocol.
    """
    script = script or UnitScript()
    bench = _Bench(ports, stalls or Stalls())
    result: list[UnitOutput] = []

    async def testbench(ctx: Any) -> None:
        await bench.reset(ctx, 2)
        before = None
        if script.interrupted is not None:
            await bench.host.run(ctx, script.interrupted_registers)
            before = await bench.drive(ctx, script.interrupted, script.interrupted_clocks, 0)
            if script.reset_clocks:
                await bench.reset(ctx, script.reset_clocks)
            else:
                bench.rest(ctx)
        bench.host.answers.clear()
        ctx.set(ports.m_axis_tready, 1)
        await bench.host.run(ctx, script.registers)
        bench.expected = len(script.registers) + len(script.meanwhile)
        output = await bench.drive(ctx, stream, None, script.output_start, progress)
        result.append(output(before))

    async def meanwhile(ctx: Any) -> None:
        while not bench.expected or bench.host.clock < 0:
            await ctx.tick()
        await bench.host.run(ctx, script.meanwhile)

    simulator = Simulator(ResetInserter(bench.reset_signal)(ports))
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    if script.meanwhile:
        simulator.add_testbench(meanwhile)
    simulator.run()
    return result[0]


class _Source:
    """One input stream: which beat is next, and whether it is on offer."""

    def __init__(self, beats: list[int], valid: Any, payload: Any, stall: float, random: np.random.Generator):
        self.beats, self.valid, self.payload, self.stall, self.random = beats, valid, payload, stall, random
        self.taken = self.waits = 0
        self.offered = False

    def offer(self, ctx: Any) -> None:
        if self.offered or self.taken == len(self.beats) or (self.stall and self.random.random() < self.stall):
            return
        self.offered = True
        ctx.set(self.payload, self.beats[self.taken])
        ctx.set(self.valid, 1)

    def settle(self, ctx: Any, ready: bool) -> bool:
        """After a clock: whether the beat on offer was taken."""
        if not self.offered or not ready:
            self.waits += self.offered
            return False
        self.taken += 1
        self.offered = False
        ctx.set(self.valid, 0)
        return True


class _Bench:
    def __init__(self, ports: Any, stalls: Stalls) -> None:
        self.ports, self.stalls = ports, stalls
        self.reset_signal = Signal()
        self.randoms = [np.random.default_rng(seed) for seed in np.random.SeedSequence(stalls.seed).spawn(4)]
        self.host = Host(ports, stalls.registers, self.randoms[3])
        self.expected = 0
        self.has_keep = "s_axis_tkeep" in ports.signature.members

    def rest(self, ctx: Any) -> None:
        """Offer nothing."""
        for valid in (self.ports.s_axis_tvalid, self.ports.s_axis_token_tvalid, self.ports.m_axis_tready):
            ctx.set(valid, 0)

    async def reset(self, ctx: Any, clocks: int) -> None:
        self.rest(ctx)
        ctx.set(self.reset_signal, 1)
        for _ in range(clocks):
            await ctx.tick()
            if ctx.get(self.ports.m_axis_tvalid):
                raise EngineError("amaranth: m_axis_tvalid was high in reset")
        ctx.set(self.reset_signal, 0)

    async def drive(
        self, ctx: Any, stream: UnitInput, clocks: int | None, output_start: int, progress: Progress | None = None
    ) -> Any:
        """Offer ``stream`` for ``clocks`` clocks, or until the unit is done; a function that makes the output."""
        ports, stalls = self.ports, self.stalls
        octets = stream.data.shape[1]
        token = _Source(
            [int.from_bytes(row.tobytes(), "little") for row in stream.descriptors.astype("<u4")],
            ports.s_axis_token_tvalid, ports.s_axis_token_tdata, stalls.token, self.randoms[0],
        )  # fmt: skip
        data = _Source(
            [
                int.from_bytes(row.tobytes(), "little") | (keep | tid << octets | last << octets + 8) << 8 * octets
                for row, keep, tid, last in zip(
                    stream.data, _bits(stream.keep), stream.tid.tolist(), stream.last.tolist(), strict=True
                )
            ],
            ports.s_axis_tvalid,
            Cat(
                ports.s_axis_tdata, ports.s_axis_tkeep if self.has_keep else Signal(octets), ports.s_axis_tid,
                ports.s_axis_tlast,
            ),
            stalls.data, self.randoms[1],
        )  # fmt: skip
        flags = Cat(ports.s_axis_token_tready, ports.s_axis_tready, ports.m_axis_tvalid)
        kept = ports.m_axis_tkeep if self.has_keep else Const((1 << octets) - 1, octets)
        payload = Cat(ports.m_axis_tdata, kept, ports.m_axis_tid, ports.m_axis_tlast, ports.m_axis_tuser)
        beats: list[int] = []
        first_data = first_output = last_output = early = held = None
        output_waits = idle = quiet = clock = 0
        ready = ready_before = False
        ctx.set(ports.m_axis_tready, 0)
        while clocks is None or clock < clocks:
            self.host.clock = clock
            token.offer(ctx)
            data.offer(ctx)
            ready = clock >= output_start and not (stalls.output and self.randoms[2].random() < stalls.output)
            if ready != ready_before:
                ctx.set(ports.m_axis_tready, ready)
                ready_before = ready
            _, _, seen, out = await ctx.tick().sample(flags, payload)
            if data.offered and early is None:
                early = token.taken
            moved = token.settle(ctx, bool(seen & 1))
            if data.settle(ctx, bool(seen & 2)):
                moved = True
                first_data = clock if first_data is None else first_data
            if seen & 4:
                if held not in (None, out):
                    raise EngineError(f"amaranth: in clock {clock}: the payload of m_axis changed before it was taken")
                held = None if ready else out
                output_waits += not ready
                if ready:
                    beats.append(out)
                    first_output = clock if first_output is None else first_output
                    last_output = clock
                    moved = True
                    if len(beats) > stream.beats:
                        raise EngineError(f"amaranth: in clock {clock}: more beats came out than went in")
            elif held is not None:
                raise EngineError(f"amaranth: in clock {clock}: m_axis_tvalid fell before the beat was taken")
            hosting = len(self.host.answers) < self.expected
            done = token.taken == stream.tokens and data.taken == stream.beats and not hosting
            idle = 0 if moved or hosting or clock < output_start else idle + 1
            quiet = 0 if moved or not done else quiet + ready
            clock += 1
            if progress is not None and clock % PROGRESS_CLOCKS == 0:
                progress(data.taken, stream.beats)
            if clocks is None and quiet >= QUIET_CLOCKS:
                break
            if clocks is None and idle >= HANG_CLOCKS:
                raise EngineError(
                    f"amaranth: nothing moved for {HANG_CLOCKS} clocks: {token.taken} of {stream.tokens} descriptors "
                    f"and {data.taken} of {stream.beats} data beats were taken, {len(beats)} beats came out"
                )
        self.host.clock = -1

        def output(before: Any) -> UnitOutput:
            return UnitOutput(
                **_arrays(beats, octets),
                clocks=0 if last_output is None or first_data is None else last_output - first_data + 1,
                first_output_clock=first_output, last_output_clock=last_output, early_tokens=early or 0,
                data_waits=data.waits, token_waits=token.waits, output_waits=output_waits,
                before=before(None) if before is not None else None, answers=tuple(self.host.answers),
            )  # fmt: skip

        return output


def _arrays(beats: list[int], octets: int) -> dict[str, np.ndarray]:
    """The beats of the output, taken apart."""
    raw = np.frombuffer(b"".join((beat & (1 << 8 * octets) - 1).to_bytes(octets, "little") for beat in beats), np.uint8)
    side = [beat >> 8 * octets for beat in beats]
    keep = np.array([[one >> place & 1 for place in range(octets)] for one in side], bool)
    rest = np.array([one >> octets for one in side], np.int64)
    return {
        "data": raw.reshape(-1, octets),
        "keep": keep.reshape(-1, octets),
        "tid": (rest & 0xFF).astype(np.uint8),
        "last": (rest >> 8 & 1).astype(bool),
        "user": (rest >> 9).astype(np.uint8),
    }


def _bits(keep: np.ndarray) -> list[int]:
    """Each row of flags as a number, the first flag lowest."""
    return [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in keep]
