"""The general AXI4-Lite port: every access answered as its register's description says, after so many clocks."""

import pytest
from amaranth.hdl import Signal
from amaranth.sim import Simulator
from ropewalk.gateware.register_map import Field, Register
from ropewalk.gateware.register_port import RegisterPort, within

OKAY, SLVERR = 0, 2


def register(address: int, *, readable: bool, writable: bool) -> Register:
    return Register(
        address=address, fields={"all": Field(0, 32, 0)}, readable=readable, writable=writable, write_one_clears=False
    )


REGISTERS = {
    "shown": register(0x00, readable=True, writable=False),
    "set": register(0x04, readable=True, writable=True),
    "load": register(0x08, readable=False, writable=True),
    "far": register(0x144, readable=True, writable=True),
    **{f"held[{place}]": register(0x100 + 4 * place, readable=True, writable=False) for place in range(3)},
}
HELD = [f"held[{place}]" for place in range(3)]


async def read(dut, ctx, address):
    """The answer, and how many clocks after the address it is on offer."""
    ctx.set(dut.araddr, address)
    ctx.set(dut.arvalid, 1)
    assert ctx.get(dut.arready)
    await ctx.tick()
    ctx.set(dut.arvalid, 0)
    ctx.set(dut.araddr, 0)
    ctx.set(dut.rready, 1)
    clocks = 1
    while not ctx.get(dut.rvalid):
        assert not ctx.get(dut.arready)
        await ctx.tick()
        clocks += 1
    answer = ctx.get(dut.rresp), ctx.get(dut.rdata), clocks
    await ctx.tick()
    ctx.set(dut.rready, 0)
    return answer


async def write(dut, ctx, address, word, *, strobes=15, waiting=0):
    """The answer, what was written how many clocks after the write was taken, and when the answer was on offer."""
    ctx.set(dut.awaddr, address)
    ctx.set(dut.wdata, word)
    ctx.set(dut.wstrb, strobes)
    ctx.set(dut.awvalid, 1)
    await ctx.tick()
    assert not ctx.get(dut.awready)
    ctx.set(dut.wvalid, 1)
    assert ctx.get(dut.awready) and ctx.get(dut.wready)
    await ctx.tick()
    ctx.set(dut.awvalid, 0)
    ctx.set(dut.wvalid, 0)
    # What is no longer offered is noise.
    ctx.set(dut.awaddr, 0x04)
    ctx.set(dut.wdata, ~word & 0xFFFFFFFF)
    ctx.set(dut.wstrb, ~strobes & 15)
    clocks, written = 1, []
    while not ctx.get(dut.bvalid):
        assert not ctx.get(dut.awready)
        written += [(name, clocks) for name in ("set", "load", "far") if ctx.get(dut.written[name])]
        if 1 <= clocks <= 5:
            assert ctx.get(dut.word) == word and ctx.get(dut.strobes) == strobes
        ctx.set(dut.waiting, 4 <= clocks < 4 + waiting)
        await ctx.tick()
        clocks += 1
    response = ctx.get(dut.bresp)
    ctx.set(dut.bready, 1)
    await ctx.tick()
    ctx.set(dut.bready, 0)
    assert not ctx.get(dut.bvalid)
    return response, written, clocks


def run(dut, testbench):
    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def test_accesses():
    dut = RegisterPort(REGISTERS, full_words=("load",), banks={"held": HELD})

    async def testbench(ctx):
        ctx.set(dut.values["shown"], 0x89ABCDEF)
        ctx.set(dut.values["set"], 7)
        ctx.set(dut.values["far"], 9)
        ctx.set(dut.banks["held"], 0x0F)
        for address, value in ((0x00, 0x89ABCDEF), (0x04, 7), (0x144, 9), (0x100, 15), (0x104, 15), (0x108, 15)):
            assert await read(dut, ctx, address) == (OKAY, value, 5), hex(address)
        for address in (0x08, 0x0C, 0x01, 0x05, 0x44, 0x101, 0x10C, 0x120, 0x200, 0x900, 0xFFC):
            assert await read(dut, ctx, address) == (SLVERR, 0, 5), hex(address)
        assert await write(dut, ctx, 0x04, 5) == (OKAY, [("set", 3)], 5)
        assert await write(dut, ctx, 0x04, 5, strobes=1) == (OKAY, [("set", 3)], 5)
        assert await write(dut, ctx, 0x08, 6) == (OKAY, [("load", 3)], 5)
        assert await write(dut, ctx, 0x144, 6) == (OKAY, [("far", 3)], 5)
        assert await write(dut, ctx, 0x08, 6, strobes=7) == (SLVERR, [], 5)
        for address in (0x00, 0x0C, 0x06, 0x44, 0x48, 0x100, 0x104, 0x148, 0x804):
            assert await write(dut, ctx, address, 6) == (SLVERR, [], 5), hex(address)
        assert await write(dut, ctx, 0x08, 6, waiting=9) == (OKAY, [("load", 3)], 14)
        assert await write(dut, ctx, 0x00, 6, waiting=2) == (SLVERR, [], 7)
        ctx.set(dut.refusal, 1)
        assert await write(dut, ctx, 0x08, 6) == (SLVERR, [("load", 3)], 5)

    run(dut, testbench)


def test_a_bank_has_two_clocks_for_its_word():
    dut = RegisterPort(REGISTERS, banks={"held": HELD})
    words = [0x11111111, 0x22222222, 0x44444444]

    async def bank(ctx):
        first = second = 0
        while True:
            ctx.set(dut.banks["held"], second)
            _, _, index = await ctx.tick().sample(dut.index)
            first, second = (words[index & 3] if index & 3 < 3 else 0), first

    async def testbench(ctx):
        for place in (2, 0, 1, 0, 2):
            assert await read(dut, ctx, 0x100 + 4 * place) == (OKAY, words[place], 5)

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bank, background=True)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("addresses", [(0x104, 0x108), (0x100, 0x108), (0x100, 0x104, 0x108, 0x110)])
def test_a_bank_whose_place_is_no_part_of_the_address_is_refused(addresses):
    bank = [register(address, readable=True, writable=False) for address in addresses]
    with pytest.raises(ValueError, match="must follow each other"):
        within(Signal(12), bank)
