"""The general AXI4-Lite port: every access answered as its register's description says, and counters that stop."""

from amaranth.sim import Simulator
from ropewalk.gateware.register_map import Field, Register
from ropewalk.gateware.register_port import Counters, RegisterPort

OKAY, SLVERR = 0, 2


def register(address: int, *, readable: bool, writable: bool) -> Register:
    return Register(
        address=address, fields={"all": Field(0, 32, 0)}, readable=readable, writable=writable, write_one_clears=False
    )


REGISTERS = {
    "shown": register(0x00, readable=True, writable=False),
    "set": register(0x04, readable=True, writable=True),
    "load": register(0x08, readable=False, writable=True),
}


def access(dut, ctx, *, address, word=None, strobes=15):
    async def run():
        if word is None:
            ctx.set(dut.araddr, address)
            ctx.set(dut.arvalid, 1)
            await ctx.tick()
            ctx.set(dut.arvalid, 0)
            ctx.set(dut.rready, 1)
            clocks = 1
            while not ctx.get(dut.rvalid):
                await ctx.tick()
                clocks += 1
            answer = ctx.get(dut.rresp), ctx.get(dut.rdata), clocks
            await ctx.tick()
            ctx.set(dut.rready, 0)
            return answer
        ctx.set(dut.awaddr, address)
        ctx.set(dut.wdata, word)
        ctx.set(dut.wstrb, strobes)
        ctx.set(dut.awvalid, 1)
        await ctx.tick()
        assert not ctx.get(dut.awready) and not ctx.get(dut.bvalid)
        ctx.set(dut.wvalid, 1)
        assert ctx.get(dut.awready) and ctx.get(dut.wready)
        written = tuple(name for name in ("set", "load") if ctx.get(dut.written[name]))
        assert ctx.get(dut.word) == word and ctx.get(dut.strobes) == strobes
        await ctx.tick()
        ctx.set(dut.awvalid, 0)
        ctx.set(dut.wvalid, 0)
        assert ctx.get(dut.bvalid) and not any(ctx.get(dut.written[name]) for name in ("set", "load"))
        response = ctx.get(dut.bresp)
        ctx.set(dut.bready, 1)
        await ctx.tick()
        ctx.set(dut.bready, 0)
        return response, written

    return run()


def test_accesses():
    dut = RegisterPort(REGISTERS, full_words=("load",))

    async def testbench(ctx):
        ctx.set(dut.values["shown"], 0x89ABCDEF)
        ctx.set(dut.values["set"], 7)
        assert await access(dut, ctx, address=0x00) == (OKAY, 0x89ABCDEF, 2)
        assert await access(dut, ctx, address=0x04) == (OKAY, 7, 2)
        for address in (0x08, 0x0C, 0x01, 0x05, 0xFFC):
            assert await access(dut, ctx, address=address) == (SLVERR, 0, 2)
        assert await access(dut, ctx, address=0x04, word=5) == (OKAY, ("set",))
        assert await access(dut, ctx, address=0x04, word=5, strobes=1) == (OKAY, ("set",))
        assert await access(dut, ctx, address=0x08, word=6) == (OKAY, ("load",))
        assert await access(dut, ctx, address=0x08, word=6, strobes=7) == (SLVERR, ())
        for address in (0x00, 0x0C, 0x06):
            assert await access(dut, ctx, address=address, word=6) == (SLVERR, ())
        ctx.set(dut.refusal, 1)
        assert await access(dut, ctx, address=0x08, word=6) == (SLVERR, ("load",))

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def test_counters_stop_and_snapshots_show_one_moment():
    dut = Counters({"one": 1, "many": 32})

    async def testbench(ctx):
        def shown():
            return ctx.get(dut.shown["one"]), ctx.get(dut.shown["many"])

        ctx.set(dut.steps["one"], 1)
        ctx.set(dut.steps["many"], 0x60000000)
        await ctx.tick().repeat(2)
        assert shown() == (0, 0)
        ctx.set(dut.snapshot, 1)
        await ctx.tick()
        ctx.set(dut.snapshot, 0)
        assert shown() == (2, 0xC0000000)
        await ctx.tick().repeat(3)
        assert shown() == (2, 0xC0000000)
        ctx.set(dut.snapshot, 1)
        await ctx.tick()
        assert shown() == (6, 0xFFFFFFFF)
        ctx.set(dut.clear, 1)
        await ctx.tick().repeat(2)
        assert shown() == (0, 0)

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
