"""The demo: Gemma 3 270M's rotary engine, generated, fed with the real model's queries and keys, and measured.

``data/gemma3_270m_prompt.npz`` holds q and k of all 18 layers just before RoPE, captured while the model answered
"What is the capital of France?" (16 tokens), and what the software made of layers 0 and 5.
"""

import argparse
import sys
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray
from ropewalk.design import Design
from ropewalk.emit.folder import write_design_folder
from ropewalk.errors import InputError
from ropewalk.geometry import only_rotary
from ropewalk.lanes import default_lanes
from ropewalk.models import read_model
from ropewalk_sim.compare import compare
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.errors import EngineError
from ropewalk_sim.stream import PackedRun, StreamInput, StreamOutput, pack_run, unpack_run

from . import picture
from .console import complain, one_line, progress
from .evidence import beats_of, errors_lsb, exact_pairs, rotary_pairs, some_beats, some_tokens
from .sample import random_stream, stream_of
from .schemes.rotary import summary
from .software import float32_angles, float32_rotation

MODEL = "gemma-3-270m"
LAYERS_KNOWN = (0, 5)
"""Layers of which the capture holds the software's own result: one local, one global."""

BASES = {"sliding_attention": 10_000.0, "full_attention": 1_000_000.0}
"""The model's two bases, for the float32 software beside the engine."""

SLOW_TOKENS = slice(8 * 18, 9 * 18)
"""Tokens for the simulators of some hundred beats per second: the first decoded one, in all 18 layers."""
RANDOM_TOKENS = 2_048
CURVE_POSITIONS = 480
CURVE_WIDTH = 8
"""Neighbouring positions that make one point of a curve."""

SEED = 270


@dataclass(frozen=True, kw_only=True)
class Capture:
    """The real model's arrays as ``run`` takes them, position by position through all layers.

    ``layer`` is each token's layer; ``software`` what the software made of :data:`LAYERS_KNOWN`, queries before keys:
    ``[layers, positions, heads, head_dim]``.
    """

    arrays: dict[str, NDArray]
    layer: NDArray[np.int64]
    software: NDArray[np.float32]


def in_pairs(heads: NDArray) -> NDArray:
    """Heads ``[..., head_dim]`` in the model's order as pairs ``[..., pairs, 2]``: elements i and i + head_dim / 2."""
    half = heads.shape[-1] // 2
    return np.stack([heads[..., :half], heads[..., half:]], axis=-1)


def load_capture() -> Capture:
    """The captured queries and keys, position by position through all layers."""
    with resources.files("ropewalk_cli").joinpath("data/gemma3_270m_prompt.npz").open("rb") as file:
        stored = dict(np.load(file, allow_pickle=False))
    q, k = stored["q"].astype(np.float64), stored["k"].astype(np.float64)
    # Of two layers the capture has the float32 words themselves, from which the software's result was made.
    q[list(LAYERS_KNOWN)], k[list(LAYERS_KNOWN)] = stored["q_layers_0_5"], stored["k_layers_0_5"]
    layers, tokens = q.shape[:2]
    names = np.where(stored["layer_is_global"], "full_attention", "sliding_attention")

    def in_order(array: NDArray) -> NDArray:
        return array.swapaxes(0, 1).reshape(-1, *array.shape[2:])

    return Capture(
        arrays={
            "q": in_order(q),
            "k": in_order(k),
            "position": np.repeat(stored["position"], layers),
            "variant": np.tile(names, tokens),
        },
        layer=np.tile(np.arange(layers), tokens),
        software=np.concatenate([stored["q_rot_hf_layers_0_5"], stored["k_rot_hf_layers_0_5"]], axis=2),
    )


def say(text: str = "") -> None:
    """Print a line of the demo's story."""
    print(text, flush=True)


def heading(text: str) -> None:
    """Print the heading of a part of the story."""
    click.secho(f"\n{text}", bold=True)


def shown(path: Path) -> str:
    """``path`` as short as it can be typed from here."""
    here, whole = Path.cwd(), path.resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) and here.parent != here else path)


def run_engine(name: str, folder: Path, stream: StreamInput) -> tuple[StreamOutput, float]:
    """The output of an engine, and the seconds it took."""
    engine = ENGINES[name](folder)
    with progress(f"{name:<9}") as tell:
        started = time.perf_counter()
        output = engine.run(stream, progress=tell)
    return output, time.perf_counter() - started


def compare_engines(design: Design, folder: Path, packed: PackedRun, everything: bool) -> StreamOutput:
    """Run the captured tokens through every engine, print how they agree, and give the Verilog's result."""
    reference, _ = run_engine("model", folder, packed.stream)
    result = reference
    unlike = 0
    for name, what in (
        ("verilator", "the Verilog, compiled by Verilator"),
        ("icarus", "the Verilog in Icarus, under cocotb"),
        ("amaranth", "the gateware in Amaranth's simulator"),
    ):
        tokens = slice(0, packed.stream.tokens) if everything or name == "verilator" else SLOW_TOKENS
        stream = some_tokens(design, packed.stream, tokens)
        output, seconds = run_engine(name, folder, stream)
        bits = compare(design, some_beats(reference, beats_of(design, tokens)), output).differing_bits
        unlike += bits
        say(
            f"  {what:<38}{stream.tokens:>4} tokens, {output.data.size:>7,} elements: {bits} bits differ  "
            f"({seconds:.1f} s)"
        )
        result = output if name == "verilator" else result
    if unlike:
        raise EngineError(f"{unlike} bits differ between the engines and the model")
    return result


def report_errors(design: Design, capture: Capture, packed: PackedRun, output: StreamOutput) -> NDArray:
    """Print the error of the real queries and keys, and give it in LSB."""
    error = errors_lsb(design, packed.stream, output)
    say(f"  one LSB is {packed.scale:g}; the largest input is {np.abs(packed.stream.data).max():,} LSB")
    say(
        f"  against the exact rotation of the same words:  worst {np.abs(error).max():.3f} LSB, "
        f"mean {error.mean():+.4f}, rms {np.sqrt(np.mean(error**2)):.3f}"
    )
    result = unpack_run(packed, output)
    floats = np.concatenate([capture.arrays["q"], capture.arrays["k"]], axis=1)
    engine = np.concatenate([result["q"], result["k"]], axis=1)
    for layer, software in zip(LAYERS_KNOWN, capture.software, strict=True):
        chosen = capture.layer == layer
        slot = int(packed.stream.descriptors[chosen][0, 0] & 0xFF)
        pairs = exact_pairs(design, packed.stream.descriptors[chosen], in_pairs(floats[chosen]), slot)
        exact = pairs.swapaxes(-1, -2).reshape(software.shape)
        apart = float(np.abs(engine[chosen] - software).max())
        say(
            f"  layer {layer} ({capture.arrays['variant'][chosen][0]}), values up to {np.abs(software).max():.3g}: "
            f"against the software's own result at most {apart:.2g} = {apart / packed.scale:.2f} LSB apart"
        )
        say(
            f"    against the exact rotation of the floats, input rounding included: engine at most "
            f"{np.abs(engine[chosen] - exact).max():.2g} off, software {np.abs(software - exact).max():.2g}"
        )
    return error


def random_errors(design: Design, folder: Path) -> NDArray:
    """Print accuracy and speed on random words at random positions, and give the error in LSB."""
    stream = random_stream(design, RANDOM_TOKENS, SEED)
    output, seconds = run_engine("verilator", folder, stream)
    model, _ = run_engine("model", folder, stream)
    bits = compare(design, model, output).differing_bits
    error = errors_lsb(design, stream, output)
    say(f"  {error.size // 2:,} pairs, the variant changing on every token: {bits} bits differ from the model")
    say(f"  worst {np.abs(error).max():.3f} LSB, mean {error.mean():+.5f}, rms {np.sqrt(np.mean(error**2)):.3f}")
    say(
        f"  {output.beats_per_clock:.2f} beats per clock ({2 * design.lanes} elements each), "
        f"{stream.beats / seconds:,.0f} simulated beats per second"
    )
    if bits:
        raise EngineError(f"{bits} bits differ between the Verilog and the model")
    return error


def curves(design: Design, folder: Path) -> tuple[picture.Curve, ...]:
    """The worst error of engine and float32 software against position, variant by variant."""
    random = np.random.default_rng(SEED)
    found = []
    for slot, variant in enumerate(design.variants):
        starts = np.unique(np.geomspace(1, design.limits[slot] - CURVE_WIDTH, CURVE_POSITIONS // CURVE_WIDTH).round())
        position = (starts[:, None] + np.arange(CURVE_WIDTH)).astype(np.int64).ravel()
        position[-1] = design.limits[slot] - 1
        stream = stream_of(design, np.full(len(position), slot), position, random)
        output, _ = run_engine("verilator", folder, stream)
        given = rotary_pairs(design, stream.data, slot, design.order(slot).input_pairing)
        exact = exact_pairs(design, stream.descriptors, given, slot)
        base = BASES[variant.name]
        software = float32_rotation(given, float32_angles(base, design.shapes[slot].rotary_dim, position))

        def worst(result: NDArray, exact: NDArray = exact, points: int = len(starts)) -> NDArray[np.float64]:
            return np.abs(result - exact).reshape(points, -1).max(axis=1)

        found.append(
            picture.Curve(
                label=f"{variant.name.replace('_', ' ')} (base {base:,.0f})",
                position=starts,
                engine=worst(rotary_pairs(design, output.data, slot, design.order(slot).output_pairing)),
                software=worst(software),
            )
        )
    return tuple(found)


def show(folder: Path, everything: bool) -> None:
    """Tell the whole story, leaving the engine and the picture in ``folder``."""
    started = time.perf_counter()
    found = only_rotary(read_model(MODEL))
    # The whole range of positions, so that the picture can show all of it; the model itself stops earlier.
    design = Design(geometry=found, lanes=default_lanes(found), positions=1 << 24)
    heading("1. Generated from the model's configuration")
    engine = folder / "engine"
    write_design_folder(design, engine, force=True)
    for line in summary(design):
        say(f"  {line}")
    files = sorted(path.relative_to(engine).as_posix() for path in engine.rglob("*") if path.is_file())
    say(f"  in {shown(engine)}: {', '.join(files)}")

    capture = load_capture()
    packed = pack_run(design, capture.arrays)
    layers = len(set(capture.layer.tolist()))
    heading(
        f'2. "What is the capital of France?": q and k of all {layers} layers x {packed.stream.tokens // layers} '
        "tokens, bit for bit against the fixed-point model"
    )
    output = compare_engines(design, engine, packed, everything)
    heading("3. How good the rotated queries and keys are")
    real = report_errors(design, capture, packed, output)
    heading("4. Random words at random positions up to 16,777,215, through the compiled Verilog")
    random = random_errors(design, engine)
    story = picture.Story(
        model="Gemma 3 270M",
        data_width=design.data_width,
        random_errors=random,
        real_errors=real,
        curves=curves(design, engine),
        limit=found.variants[0].max_position,
    )
    target = folder / "error.png"
    picture.draw(story, target)
    heading("5. The picture")
    say(f"  {shown(target)}: this error as a histogram and against position, beside the float32 software's")
    say(f"\nDone in {time.perf_counter() - started:.0f} s. Next: .venv/bin/ropewalk --help, or scripts/test.")


def main() -> int:
    """Run the demo and give its exit code."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--output", type=Path, default=Path("ropewalk-demo"), metavar="DIR", help="where the results go [%(default)s]"
    )
    parser.add_argument(
        "--everything",
        action="store_true",
        help="all tokens through Icarus and Amaranth's simulator too (some minutes)",
    )
    arguments = parser.parse_args()
    try:
        arguments.output.mkdir(parents=True, exist_ok=True)
        show(arguments.output, arguments.everything)
    except (InputError, EngineError, OSError) as error:
        complain(one_line(error))
        return 1
    except KeyboardInterrupt:
        complain("interrupted.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
