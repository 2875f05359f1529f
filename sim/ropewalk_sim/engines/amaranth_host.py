"""The register port's user in the ``amaranth`` engine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from amaranth.hdl import Cat
from ropewalk_sim.errors import EngineError
from ropewalk_sim.registers import MOST_POLLS, SILENCE_CLOCKS, Access, Answer


class Host:
    """Carries out accesses one after the other; each channel rests at random in the share ``stall`` of the clocks."""

    def __init__(self, ports: Any, stall: float, random: np.random.Generator) -> None:
        self.ports = ports
        self.stall = stall
        self.random = random
        self.answers: list[Answer] = []
        self.clock = -1
        """The clock of the streams, kept by who drives them; -1 while they do not run."""

    async def run(self, ctx: Any, accesses: Sequence[Access]) -> None:
        """Carry out ``accesses``.

        Raises
        ------
        EngineError
            If the port does not answer, or never shows what is waited for.
        """
        for access in accesses:
            while self.clock >= 0 and self.clock < access.start:
                await ctx.tick()
            for _ in range(MOST_POLLS):
                value, response = await self._access(ctx, access)
                if not access.mask or response or value & access.mask == access.until:
                    break
            else:
                raise EngineError("amaranth: a register does not show what is waited for")
            self.answers.append(Answer(value, response, self.clock))

    async def _access(self, ctx: Any, access: Access) -> tuple[int, int]:
        ports = self.ports
        if access.write is not None:
            ctx.set(ports.s_axil_awaddr, access.address)
            ctx.set(ports.s_axil_wdata, access.write)
            ctx.set(ports.s_axil_wstrb, access.strobes)
            waiting = {
                "awvalid": (ports.s_axil_awvalid, 1),
                "wvalid": (ports.s_axil_wvalid, 2),
            }
            requests = Cat(ports.s_axil_awready, ports.s_axil_wready)
            answer_ready, answer = ports.s_axil_bready, (ports.s_axil_bvalid, ports.s_axil_bresp, ports.s_axil_bresp)
        else:
            ctx.set(ports.s_axil_araddr, access.address)
            waiting = {"arvalid": (ports.s_axil_arvalid, 1)}
            requests = ports.s_axil_arready
            answer_ready, answer = ports.s_axil_rready, (ports.s_axil_rvalid, ports.s_axil_rresp, ports.s_axil_rdata)
        offered: set[str] = set()
        for _ in range(SILENCE_CLOCKS):
            for name, (signal, _bit) in waiting.items():
                if name not in offered and not self._rests():
                    offered.add(name)
                    ctx.set(signal, 1)
            ready = not self._rests()
            ctx.set(answer_ready, ready)
            asked = not waiting
            _, _, taken, valid, response, value = await ctx.tick().sample(requests, *answer)
            for name, (signal, bit) in list(waiting.items()):
                if name in offered and taken & bit:
                    del waiting[name]
                    ctx.set(signal, 0)
            if valid and not asked:
                raise EngineError("amaranth: the register port answered what it was not asked")
            if valid and ready:
                ctx.set(answer_ready, 0)
                return (0 if access.write is not None else value), response
        raise EngineError(f"amaranth: the register port did not answer for {SILENCE_CLOCKS} clocks")

    def _rests(self) -> bool:
        return bool(self.stall) and self.random.random() < self.stall
