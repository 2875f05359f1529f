"""The sequencer in Amaranth's simulator, against its model; all streams rest at random."""

import random
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator
from ropewalk.gateware.sequencer import Sequencer
from ropewalk_sim.sequencer import Command, command_words, sequence

END = 2**32 - 1


def packed(words: np.ndarray) -> list[int]:
    """Each row of 32-bit words as one number, the first word lowest."""
    return [sum(int(word) << 32 * place for place, word in enumerate(row)) for row in words]


def run(commands: list[int], axes: int, wanted: int, *, idle: float = 0.0, stall: float = 0.0, seed: int = 1) -> Any:
    """Descriptors and their clocks, and the clocks in which commands were taken; watches valid and payload."""
    dut: Any = Sequencer(axes)
    generator = random.Random(seed)
    given: list[tuple[int, int]] = []
    taken: list[int] = []
    waits = {"command": 0, "descriptor": 0}

    async def testbench(ctx: Any) -> None:
        offered, held, quiet = False, None, 0
        for clock in range(50 * (wanted + len(commands)) + 100):
            offered = offered or (len(taken) < len(commands) and generator.random() >= idle)
            ctx.set(dut.command.valid, offered)
            if offered:
                ctx.set(dut.command.payload.as_value(), commands[len(taken)])
            ready = generator.random() >= stall
            ctx.set(dut.descriptor.ready, ready)
            command_ready = ctx.get(dut.command.ready)
            valid = ctx.get(dut.descriptor.valid)
            now = ctx.get(dut.descriptor.payload.as_value()) if valid else None
            assert held in (None, now), f"the payload changed, or valid fell, in clock {clock}"
            held = now if valid and not ready else None
            waits["descriptor"] += bool(valid and not ready)
            if valid and ready:
                given.append((clock, now))
            if offered and command_ready:
                taken.append(clock)
                offered = False
            elif offered:
                waits["command"] += 1
            await ctx.tick()
            quiet = quiet + 1 if len(given) >= wanted and len(taken) == len(commands) else 0
            if quiet == 20:
                return
        raise AssertionError(f"{len(given)} of {wanted} descriptors, {len(taken)} of {len(commands)} commands")

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    return [payload for _, payload in given], [clock for clock, _ in given], taken, waits


def random_commands(generator: random.Random, number: int) -> list[Command]:
    return [
        Command(
            slot=generator.randrange(256),
            flags=generator.randrange(256),
            tag=generator.randrange(256),
            start=generator.choice([None, None, None, 0, generator.getrandbits(32), END - generator.randrange(5)]),
            count=generator.choice([0, 0, 1, 1, 2, 2, 3, 7, 20, 300 if generator.random() < 0.02 else 4]),
            decode=generator.random() < 0.4,
            same_tag=generator.random() < 0.3,
        )
        for _ in range(number)
    ]


@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize(("idle", "stall"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.3, 0.3), (0.1, 0.8), (0.8, 0.1)])
def test_random_commands_give_what_the_model_gives(axes, idle, stall) -> None:
    commands = random_commands(random.Random(f"{axes} {idle} {stall}"), 200)
    expected, _ = sequence(commands, axes=axes)
    assert (expected[:, 1] == END).sum() > 20  # the counter does stop at its end
    found, _, _, waits = run(packed(command_words(commands)), axes, len(expected), idle=idle, stall=stall)
    assert found == packed(expected)
    assert waits["command"] > 50
    assert waits["descriptor"] > 50 or not stall


@pytest.mark.parametrize("seed", range(4))
def test_prefill_and_then_decode_is_one_long_prefill(seed) -> None:
    tokens, prompt = 40, 23
    commands = [Command(start=100, count=prompt, tag=9)]
    commands += [Command(decode=True, tag=9 + place) for place in range(prompt, tokens)]
    found, *_ = run(packed(command_words(commands)), 1, tokens, idle=0.3, stall=0.3, seed=seed)
    whole, *_ = run(packed(command_words([Command(start=100, count=tokens, tag=9)])), 1, tokens, stall=0.2, seed=seed)
    assert found == whole == [(100 + place) << 32 | (9 + place) << 16 for place in range(tokens)]


def test_one_descriptor_per_clock_across_commands_and_the_stated_latency() -> None:
    commands = [Command(start=7, count=30), *[Command(decode=True)] * 30, Command(count=5), Command(start=0, count=2)]
    _, given, taken, _ = run(packed(command_words(commands)), 1, 67)
    assert given[0] - taken[0] == Sequencer.latency
    assert given == list(range(given[0], given[0] + 67))


def test_a_command_without_a_token_takes_one_clock() -> None:
    commands = [Command(start=place, count=0) for place in range(10)] + [Command(decode=True)]
    found, _, taken, _ = run(packed(command_words(commands)), 1, 1)
    assert taken == list(range(taken[0], taken[0] + 11))
    assert found == [9 << 32]


def test_reserved_bits_change_nothing() -> None:
    commands = random_commands(random.Random(5), 50)
    words = command_words(commands)
    words[:, 0] |= np.uint32(0xF8000000)
    words[:, 3] = END
    expected, _ = sequence(commands)
    found, *_ = run(packed(words), 1, len(expected))
    assert found == packed(expected)


def test_the_longest_count_goes_on() -> None:
    """2**32 - 1 tokens are not awaited; the first 3,000 come without a gap, at positions that count up."""
    dut: Any = Sequencer()
    seen = []

    async def testbench(ctx: Any) -> None:
        ctx.set(dut.descriptor.ready, 1)
        ctx.set(dut.command.payload.as_value(), packed(command_words([Command(start=5, count=END)]))[0])
        ctx.set(dut.command.valid, 1)
        for _ in range(3010):
            if ctx.get(dut.descriptor.valid):
                seen.append(ctx.get(dut.descriptor.payload.position[0]))
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert seen[:3000] == list(range(5, 3005))


def test_no_ready_looks_at_the_other_side_or_at_a_valid() -> None:
    """Within a clock the command's ready and the descriptor's valid stay, whatever stands on the inputs."""
    dut: Any = Sequencer()
    generator = random.Random(11)
    commands = packed(command_words(random_commands(generator, 400)))
    seen = set()

    async def testbench(ctx: Any) -> None:
        for command in commands:
            ctx.set(dut.command.payload.as_value(), command)
            answers = set()
            for valid in (0, 1):
                for ready in (0, 1):
                    ctx.set(dut.command.valid, valid)
                    ctx.set(dut.descriptor.ready, ready)
                    answers.add((ctx.get(dut.command.ready), ctx.get(dut.descriptor.valid)))
            assert len(answers) == 1
            seen.update(answers)
            ctx.set(dut.command.valid, generator.random() < 0.5)
            ctx.set(dut.descriptor.ready, generator.random() < 0.7)
            await ctx.tick()

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()
    assert len(seen) == 4
