"""The register port's user under cocotb, and what the benches share: faults, and pauses at random."""

import random
from collections.abc import Iterator
from typing import Any

from cocotb.triggers import RisingEdge, SimTimeoutError, with_timeout
from cocotbext.axi import AxiLiteMaster


class Fault(Exception):
    """The engine hung or broke the protocol."""


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
