"""The emitted sequencer in Icarus and in Verilator, alone and in front of the emitted engine.

The engines' benches drive a module ``ropewalk`` with 64-bit descriptors. Here that module is a small top around the
sequencer, which takes a command as two such beats.
"""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from ropewalk.emit.folder import load_rotary
from ropewalk.emit.verilog import emit_sequencer
from ropewalk_sim.beats import Script, Stalls, StreamInput, descriptor_words, whole_tokens
from ropewalk_sim.engines import open_engine
from ropewalk_sim.sequencer import Command, command_words, sequence
from ropewalk_sim.stream_model import run_model

REGISTER_INPUTS = ("awvalid", "wvalid", "arvalid", "bready", "rready", "awaddr[11:0]", "araddr[11:0]", "awprot[2:0]",
                   "arprot[2:0]", "wdata[31:0]", "wstrb[3:0]")  # fmt: skip
REGISTER_OUTPUTS = ("awready", "wready", "arready", "bvalid", "rvalid", "bresp[1:0]", "rresp[1:0]", "rdata[31:0]")


def ports(direction: str, names: tuple[str, ...]) -> str:
    declared = ""
    for name in names:
        plain, _, bits = name.partition("[")
        declared += f"    {direction} {'[' + bits if bits else ''} s_axil_{plain},\n"
    return declared


# {beat}: bits of a beat.
HEAD = """
module ropewalk(
{register_ports}
    input aclk, input aresetn,
    input [{beat}-1:0] s_axis_tdata, input [7:0] s_axis_tid, input s_axis_tlast, input s_axis_tvalid,
    output s_axis_tready,
    output [{beat}-1:0] m_axis_tdata, output [7:0] m_axis_tid, output [2:0] m_axis_tuser, output m_axis_tlast,
    output m_axis_tvalid, input m_axis_tready,
    input [63:0] s_axis_token_tdata, input s_axis_token_tvalid, output s_axis_token_tready
);
    // Two beats are a command, the lower half first.
    reg half = 0;
    reg [63:0] low;
    wire command_ready;
    assign s_axis_token_tready = aresetn && (!half || command_ready);
    always @(posedge aclk) begin
        if (!aresetn) half <= 0;
        else if (s_axis_token_tvalid && s_axis_token_tready) half <= !half;
        if (!half) low <= s_axis_token_tdata;
    end
    wire [{token}-1:0] token;
    wire token_valid, token_ready;
    ropewalk_sequencer sequencer(
        .aclk(aclk), .aresetn(aresetn), .s_axis_command_tdata({{s_axis_token_tdata, low}}),
        .s_axis_command_tvalid(s_axis_token_tvalid && half), .s_axis_command_tready(command_ready),
        .m_axis_token_tdata(token), .m_axis_token_tvalid(token_valid), .m_axis_token_tready(token_ready));
"""

ENGINE = """
    ropewalk_engine engine(
{register_connections}
        .aclk(aclk), .aresetn(aresetn),
        .s_axis_tdata(s_axis_tdata), .s_axis_tid(s_axis_tid), .s_axis_tlast(s_axis_tlast),
        .s_axis_tvalid(s_axis_tvalid), .s_axis_tready(s_axis_tready),
        .m_axis_tdata(m_axis_tdata), .m_axis_tid(m_axis_tid), .m_axis_tuser(m_axis_tuser), .m_axis_tlast(m_axis_tlast),
        .m_axis_tvalid(m_axis_tvalid), .m_axis_tready(m_axis_tready),
        .s_axis_token_tdata(token), .s_axis_token_tvalid(token_valid), .s_axis_token_tready(token_ready));
endmodule
"""

# The descriptors are the output; the data that go in only say how many there are.
ALONE = """
    assign {register_zeros} = 0;
    assign s_axis_tready = aresetn;
    assign m_axis_tdata = token;
    assign m_axis_tid = 0;
    assign m_axis_tuser = 0;
    assign m_axis_tlast = 1;
    assign m_axis_tvalid = token_valid;
    assign token_ready = m_axis_tready;
endmodule
"""


@pytest.fixture
def top(design_folder, tmp_path):
    """A folder whose ``ropewalk`` is the sequencer, alone or before the engine of ``name``."""

    def make(name: str, *, alone: bool = False, axes: int = 1) -> Path:
        folder = Path(shutil.copytree(design_folder(name), tmp_path / "top"))
        design = load_rotary(folder)
        plain = [port.partition("[")[0] for port in (*REGISTER_INPUTS, *REGISTER_OUTPUTS)]
        values = {
            "beat": design.elements * design.container_bits,
            "token": 32 * (1 + axes),
            "register_ports": ports("input", REGISTER_INPUTS) + ports("output", REGISTER_OUTPUTS),
            "register_connections": "\n".join(f"        .s_axil_{port}(s_axil_{port})," for port in plain),
            "register_zeros": "{" + ", ".join(f"s_axil_{port.partition('[')[0]}" for port in REGISTER_OUTPUTS) + "}",
        }
        # The engine keeps its files; only its own module gives its name away.
        engine = (folder / "ropewalk.v").read_text().replace("module ropewalk(", "module ropewalk_engine(")
        sequencer = (folder / "sequencer.v").read_text() if axes == 1 else emit_sequencer(axes)
        parts = [(HEAD + (ALONE if alone else ENGINE)).format(**values), sequencer, "" if alone else engine]
        (folder / "ropewalk.v").write_text("\n".join(parts))
        return folder

    return make


def halves(commands: list[Command]) -> np.ndarray:
    """The commands as pairs of 64-bit beats."""
    return command_words(commands).reshape(-1, 2)


def random_commands(seed: str, number: int) -> list[Command]:
    generator = random.Random(seed)
    end = 2**32 - 1
    return [
        Command(
            slot=generator.randrange(256), flags=generator.randrange(256), tag=generator.randrange(256),
            start=generator.choice([None, None, None, 0, generator.getrandbits(32), end - generator.randrange(5)]),
            count=generator.choice([0, 0, 1, 1, 2, 3, 7, 20]),
            decode=generator.random() < 0.4,
            same_tag=generator.random() < 0.3,
        )
        for _ in range(number)
    ]  # fmt: skip


# A beat of the two designs is as wide as a descriptor with 1 and with 3 positions.
@pytest.mark.parametrize(("name", "number"), [("icarus", 300), ("verilator", 20_000)])
@pytest.mark.parametrize(("on", "axes"), [("table", 1), ("four-lanes", 3)])
def test_random_commands_give_what_the_model_gives(name, number, on, axes, top) -> None:
    engine = open_engine(name, top(on, alone=True, axes=axes))
    commands = random_commands(f"{name} {axes}", number)
    expected, _ = sequence(commands, axes=axes)
    count = len(expected)
    stream = StreamInput(
        descriptors=halves(commands),
        data=np.zeros((count, engine.design.elements), np.int64),
        tid=np.zeros(count, np.uint8),
        last=np.ones(count, bool),
    )
    # A run under cocotb takes seconds.
    shares = [(0.3, 0.7)] if name == "icarus" else [(0.0, 0.0), (0.4, 0.0), (0.0, 0.5), (0.3, 0.7)]
    for seed, (idle, stall) in enumerate(shares):
        output = engine.run(stream, stalls=Stalls(seed=seed, token=idle, output=stall))
        found = np.ascontiguousarray(output.data.astype("<u2")).view("<u4")
        assert np.array_equal(found, expected)
        assert output.token_waits > number / 4
        assert output.output_waits > number / 2 or not stall


@pytest.mark.parametrize("clocks", [1, 2, 3, 5, 8, 40])
def test_a_reset_ends_a_command_and_sets_the_counter_to_0(clocks, top) -> None:
    """In mid-prefill: no valid in reset, and nothing of the command before is left."""
    engine = open_engine("verilator", top("table", alone=True))

    def stream(commands: list[Command], beats: int) -> StreamInput:
        data = np.zeros((beats, engine.design.elements), np.int64)
        ends = np.ones(beats, bool)
        return StreamInput(descriptors=halves(commands), data=data, tid=np.zeros(beats, np.uint8), last=ends)

    script = Script(interrupted=stream([Command(start=77, count=5000)], 5000), interrupted_clocks=clocks)
    commands = [Command(decode=True, tag=3), Command(count=2)]
    output = engine.run(stream(commands, 3), stalls=Stalls(output=0.5), script=script)
    found = np.ascontiguousarray(output.data.astype("<u2")).view("<u4")
    assert found.tolist() == [[3 << 16, 0], [0, 1], [1 << 16, 2]]
    assert output.before is not None and (output.before.beats > 0 or clocks < 8)


COMMANDS = [
    Command(start=3, count=11, tag=250),  # a prefill, then decode behind it
    *(Command(decode=True, tag=5 + place) for place in range(6)),
    Command(slot=1, count=4, tag=90, same_tag=True),  # the other variant, at the positions that follow
    Command(flags=1, start=0, count=0),
    Command(flags=2, count=3, tag=1),  # pass, from 0 on
    Command(slot=77, decode=True, tag=200),  # no such slot
    Command(slot=1, start=2**24 - 2, count=4, tag=30),  # over the limit of 2**24
    Command(start=2**32 - 3, count=6, tag=60),  # to the end of the counter, and no wrap to position 0
    Command(decode=True, tag=66),
    Command(flags=4, slot=1, start=0, decode=True, tag=67),
]


@pytest.mark.parametrize(("name", "on"), [("icarus", "four-lanes"), ("verilator", "one-lane")])
def test_in_front_of_the_engine_it_gives_what_explicit_descriptors_give(name, on, top, design_folder) -> None:
    design = load_rotary(design_folder(on))
    descriptors, counter = sequence(COMMANDS)
    assert counter == 1
    assert len(descriptors) == 11 + 6 + 4 + 3 + 1 + 4 + 6 + 1 + 1
    shape = (len(descriptors), sum(design.heads), design.geometry.head_dim)
    words = np.random.default_rng(3).integers(design.data.minimum, design.data.maximum + 1, shape)
    explicit = whole_tokens(design, descriptors, words)
    engine = open_engine(name, top(on))
    expected = run_model(design, explicit)
    beats = design.beats_per_token
    error = expected.error.reshape(-1, beats)[:, 0]
    assert np.flatnonzero(error).tolist() == [24, 27, 28, *range(29, 36)]
    if name == "verilator":
        plain = open_engine(name, design_folder(on)).run(explicit)
        assert np.array_equal(plain.data, expected.data)
    stream = StreamInput(descriptors=halves(COMMANDS), data=explicit.data, tid=explicit.tid, last=explicit.last)
    patterns = [Stalls(token=0.5, data=0.2, output=0.5), Stalls(), Stalls(token=0.9), Stalls(output=0.8)]
    for stalls in patterns[:1] if name == "icarus" else patterns:
        output = engine.run(stream, stalls=stalls)
        for part in ("data", "tid", "last", "user"):
            assert np.array_equal(getattr(output, part), getattr(expected, part)), part


def test_decode_equals_prefill_through_the_engine(top) -> None:
    engine = open_engine("verilator", top("one-lane"))
    design = engine.design
    tokens, prompt = 200, 120
    shape = (tokens, sum(design.heads), design.geometry.head_dim)
    words = np.random.default_rng(2).integers(-20_000, 20_001, shape)
    packet = whole_tokens(design, descriptor_words(0, np.arange(tokens), tag=np.arange(tokens) & 255), words)
    once = [Command(slot=1, start=1000, count=tokens)]
    stepwise = [Command(slot=1, start=1000, count=prompt)]
    stepwise += [Command(slot=1, decode=True, tag=i & 255) for i in range(prompt, tokens)]
    outputs = [
        engine.run(
            StreamInput(descriptors=halves(commands), data=packet.data, tid=packet.tid, last=packet.last),
            stalls=Stalls(seed=seed, token=0.3, output=0.3),
        )
        for seed, commands in enumerate((once, stepwise))
    ]
    assert np.array_equal(outputs[0].data, outputs[1].data)
    assert not outputs[0].error.any()
    assert (outputs[0].data != packet.data).mean() > 0.9
