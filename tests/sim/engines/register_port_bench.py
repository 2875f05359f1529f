"""Runs inside a simulator, started by ``test_register_port.py``: cocotbext-axi's master at the register port.

``result.json`` gets what was seen for each scenario; a wrong answer or a broken protocol fails the cocotb test, which
then writes no result.
"""

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

HEADS = {0x030: 2, 0x034: 1, 0x038: 0}
OFFSET = 0x040
NO_REGISTERS = (0x014, 0x01C, 0x03C, 0x044, 0x060, 0x0A0, 0x120, 0x200, 0xFFC)
ONLY_READ = {0x000: int.from_bytes(b"ROPE", "little"), 0x100: None, 0x05C: None}
OKAY, SLVERR = 0, 2


def always(pause):
    while True:
        yield pause


def after_the_other(dut, mine, other):
    """Rest until the other channel has been offering for five clocks."""
    seen = 0
    while True:
        seen = seen + 1 if getattr(dut, f"s_axil_{other}").value and not getattr(dut, f"s_axil_{mine}").value else 0
        yield seen < 5


def at_random(name, share):
    generator = random.Random(name)
    while True:
        yield generator.random() < share


@cocotb.test()
async def every_order(dut):
    for name in ("s_axis_tvalid", "s_axis_token_tvalid", "m_axis_tready"):
        getattr(dut, name).value = 0
    dut.aresetn.value = 0
    Clock(dut.aclk, 10, unit="ns").start()
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.aclk, dut.aresetn, reset_active_level=False)
    for _ in range(3):
        await RisingEdge(dut.aclk)
    dut.aresetn.value = 1
    channels = {
        "aw": master.write_if.aw_channel,
        "w": master.write_if.w_channel,
        "b": master.write_if.b_channel,
        "ar": master.read_if.ar_channel,
        "r": master.read_if.r_channel,
    }
    scenarios = {
        "address first": {"w": lambda: after_the_other(dut, "wvalid", "awvalid")},
        "data first": {"aw": lambda: after_the_other(dut, "awvalid", "wvalid")},
        "answers wait": {name: lambda name=name: at_random(name, 0.8) for name in ("b", "r")},
        "back to back": {},
        "at random": {name: lambda name=name: at_random(name, 0.5) for name in channels},
    }
    values = {**HEADS, OFFSET: 0}
    results = {}
    for scenario, pauses in scenarios.items():
        for name, channel in channels.items():
            if name in pauses:
                channel.set_pause_generator(pauses[name]())
            else:
                channel.clear_pause_generator()
                channel.pause = False
        counts = Counter()
        watching = cocotb.start_soon(watch(dut, counts))
        writing = cocotb.start_soon(write(master, values, random.Random(f"{scenario} write"), counts))
        reading = cocotb.start_soon(read(master, random.Random(f"{scenario} read"), counts))
        await writing
        await reading
        await RisingEdge(dut.aclk)
        watching.cancel()
        results[scenario] = dict(counts)
    Path("result.json").write_text(json.dumps(results))


async def write(master, values, generator, counts):
    """Random writes, each answer as the map says; what they left is read back, now and then."""
    for _ in range(120):
        address = generator.choice([*HEADS, OFFSET, OFFSET, *generator.sample(NO_REGISTERS, 2), 0x000, 0x031, 0x042])
        word = generator.choice([generator.getrandbits(32), 0, 1, 0xFFFFFFFF])
        length = generator.choice([4, 4, 4, 1, 2]) if address % 4 == 0 else 4 - address % 4
        answer = await master.write(address, word.to_bytes(4, "little")[:length])
        after = None
        if address in HEADS:
            after = {**values, address: word & 0xFF}
        elif address == OFFSET and length == 4:
            after = {**values, OFFSET: word}
        if after is not None and not any(after[head] for head in HEADS):
            after = None
        assert int(answer.resp) == (SLVERR if after is None else OKAY), (hex(address), hex(word), length, answer)
        counts["writes"] += 1
        counts["refused"] += after is None
        values.update(after or {})
        if generator.random() < 0.3:
            for place, value in values.items():
                found = await master.read(place, 4)
                assert (int(found.resp), int.from_bytes(found.data, "little")) == (OKAY, value), hex(place)


async def read(master, generator, counts):
    """Random reads beside the writes, of what does not change."""
    for _ in range(150):
        address = generator.choice([*ONLY_READ, *NO_REGISTERS[:-1], 0x054, 0x020])
        found = await master.read(address, 4)
        if address not in ONLY_READ:
            assert (int(found.resp), int.from_bytes(found.data, "little")) == (SLVERR, 0), hex(address)
        else:
            assert int(found.resp) == OKAY, hex(address)
            assert ONLY_READ[address] in (None, int.from_bytes(found.data, "little")), hex(address)
        counts["reads"] += 1


async def watch(dut, counts):
    """The protocol, in the middle of each clock; and how often what happened."""
    held = {"b": None, "r": None}
    payloads = {"b": (dut.s_axil_bresp,), "r": (dut.s_axil_rresp, dut.s_axil_rdata)}
    open_writes = open_reads = 0
    for clock in itertools.count():
        await FallingEdge(dut.aclk)
        valid, ready = (
            {name: bool(getattr(dut, f"s_axil_{name}{kind}").value) for name in ("aw", "w", "b", "ar", "r")}
            for kind in ("valid", "ready")
        )
        for name, payload in payloads.items():
            now = tuple(int(signal.value) for signal in payload) if valid[name] else None
            assert held[name] in (None, now), f"{name} changed in clock {clock}"
            held[name] = now if valid[name] and not ready[name] else None
            counts[f"{name} waited"] += held[name] is not None
            counts[f"{name} not ready"] += not ready[name]
        counts["address alone"] += valid["aw"] and not valid["w"]
        counts["data alone"] += valid["w"] and not valid["aw"]
        counts["together"] += valid["aw"] and valid["w"]
        counts["at once"] += bool((valid["aw"] or open_writes) and (valid["ar"] or open_reads))
        assert not valid["b"] or open_writes == 1, "an answer to no write"
        assert not valid["r"] or open_reads == 1, "an answer to no read"
        open_writes += (valid["aw"] and ready["aw"]) - (valid["b"] and ready["b"])
        open_reads += (valid["ar"] and ready["ar"]) - (valid["r"] and ready["r"])
        # Address and data are taken together, or neither.
        assert (valid["aw"] and ready["aw"]) == (valid["w"] and ready["w"])
        counts["clocks"] += 1
