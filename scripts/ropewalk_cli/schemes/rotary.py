"""The rotary engine's part of ``generate``, ``run`` and ``verify``."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from ropewalk.design import Design, default_slots
from ropewalk.emit.folder import changed_roms
from ropewalk.family import default_coefficient_width
from ropewalk.lanes import default_lanes
from ropewalk.tables.slot_words import slot_crcs
from ropewalk_sim.engines import ENGINES
from ropewalk_sim.engines.verilator import VerilatorEngine
from ropewalk_sim.engines.waveform import Waveform
from ropewalk_sim.stream import StreamInput, StreamOutput, pack_run, unpack_run

from ..console import progress
from ..evidence import NOTHING_ROTATED, accuracy
from ..geometry import facts
from ..trials import BULK, EngineReport, Trial, built_in, changed_verilog, run_one
from ..variants import heads_note, select_variants
from .scheme import Made, Ran, Request, Verified


class RotaryScheme:
    """See :class:`~.scheme.Scheme`."""

    exact = "the exact rotation of the same words"

    def make(self, request: Request, options: Mapping[str, Any]) -> Made:
        """A rotary engine."""
        found = select_variants(
            request.geometry,
            sequence_length=request.sequence_length,
            follow=request.follow,
            verbose=request.verbose,
            only=options["only"],
            added=options["variant"],
        )
        width, lanes, slots = options["coefficient_width"], options["lanes"], options["slots"]
        orders = options["input_pairing"], options["output_pairing"]
        if width is None:
            width = 16 if options["coefficients"] == "q15" else default_coefficient_width(options["family"])
        same = ("data_width", "rounding", "coefficients", "angle_model", "phase_bits", "source", "positions",
                "clocks_per_pair", "input_pairing", "output_pairing", "family", "lane_multipliers")  # fmt: skip
        design = Design(
            geometry=found,
            lanes=default_lanes(found, *orders) if lanes is None else lanes,
            coefficient_width=width,
            slots=default_slots(found) if slots is None else slots,
            registers=not options["no_registers"],
            position_axes=options["axes"],
            **{name: options[name] for name in same},
        )
        return Made(design=design, summary=summary(design), notes=notes(design))

    def run(
        self,
        design: Design,
        folder: Path,
        arrays: Mapping[str, np.ndarray],
        *,
        engine: str,
        scale: float | None,
        waveform: Waveform | None = None,
    ) -> Ran:
        """Arrays through a rotary engine; ``waveform`` is for the engine ``verilator``."""
        packed = pack_run(design, dict(arrays), scale)
        opened = ENGINES[engine](folder) if waveform is None else VerilatorEngine(folder, waveform=waveform)
        with progress(f"running {engine}") as tell:
            output = opened.run(packed.stream, script=packed.script, progress=tell)
        result = unpack_run(packed, output)
        errors = int(result["error"].sum())
        rate = f", {output.beats_per_clock:.2f} beats per clock" if output.beats_per_clock is not None else ""
        said = []
        if errors:
            said.append(
                f"{errors} of {packed.stream.tokens} tokens came back unrotated (error 1): the position is at or past "
                f"the limit{' on some axis' if design.axes > 1 else ''}, or the slot is empty"
            )
        if packed.saturated:
            said.append(
                f"{packed.saturated} elements did not fit {design.data_width} bits at scale {packed.scale:g} and "
                f"saturated"
            )
        sentence = f"{packed.stream.tokens} tokens through {engine}: {output.beats} beats{rate}"
        return Ran(result=result, sentence=sentence, notes=said)

    def verify(
        self,
        design: Design,
        folder: Path,
        names: list[str],
        arrays: Mapping[str, np.ndarray] | None,
        *,
        simulated: Path | None = None,
    ) -> Verified:
        """A rotary engine's engines, and the accuracy of each variant."""
        changed, changed_text = changed_roms(design, folder), changed_verilog(design, folder)
        if arrays is not None:
            packed = pack_run(design, dict(arrays))
            # With the value heads that the arrays have.
            design = packed.design
            plans = [[Trial(name=BULK, stream=packed.stream, script=packed.script)] for _ in names]
        else:
            plans = built_in(design, names)
        reports: list[EngineReport] = []
        expected: dict[str, StreamOutput] = {}
        bits = [0] * len(design.variants)
        for name, trials in zip(names, plans, strict=True):
            report, outputs, differing = run_one(design, simulated or folder, name, trials, expected)
            reports.append(report)
            expected = expected or outputs
            bits = [sum(pair) for pair in zip(bits, differing, strict=True)]
        stream = next(trial.stream for trial in plans[0] if trial.name == BULK)
        variants = variant_reports(design, stream, expected.get(BULK), bits)
        return Verified(changed_tables=changed, changed_verilog=changed_text, engines=reports, variants=variants)


def variant_reports(
    design: Design, stream: StreamInput, reference: StreamOutput | None, bits: list[int]
) -> list[dict[str, Any]]:
    """The entries of ``variants`` in the JSON document: accuracy and differing bits, in slot order."""
    if reference and reference.beats == stream.beats:
        found = accuracy(design, stream, reference)
    else:
        found = [NOTHING_ROTATED] * len(design.variants)
    return [
        {"name": variant.name, "slot": slot, **asdict(one), "differing_bits": count}
        for slot, (variant, one, count) in enumerate(zip(design.variants, found, bits, strict=True))
    ]


def notes(design: Design) -> list[str]:
    """What the user of ``design`` must know."""
    said = [sentence for sentence in (order_note(design), heads_note(design)) if sentence]
    if design.angle_model != "exact":
        said.append(
            f"the table follows the single-precision angles of {design.angle_model}, whose error grows with the "
            f"position: verify's figures against the exact angle show it."
        )
    loud = [variant.name for variant in design.variants if variant.amplitude > 1]
    if design.coefficients == "q15" and loud:
        said.append(
            f"Q1.15 cannot hold the amplitude of {', '.join(loud)}: cos and sin are clipped at 1, so vectors are not "
            f"only turned but bent; exact coefficients hold it."
        )
    return said


def summary(design: Design) -> list[str]:
    """What ``design`` is, in a few lines for a person."""
    found = design.geometry
    lines = [f"{found.model_type}: rotary engine"]
    lines += [f"  {name:<18}{value}" for name, value in facts(found)]
    described = zip(design.variants, design.limits, slot_crcs(design), strict=True)
    for slot, (variant, limit, crc) in enumerate(described):
        slot_text = f"{variant.name}, amplitude {variant.amplitude:.6g}, positions 0 to {limit - 1:,}"
        if len(set(design.rates)) > 1:
            slot_text += f", {design.rates[slot]:.2f} beats per clock"
        if design.registers:
            slot_text += f", CRC {crc:08x}"
        lines.append(f"  {f'slot {slot}':<18}{slot_text}")
    rows = "made for each token" if design.source == "synth" else "read from a table"
    if design.clocks_per_pair > 1:
        rows += f", a pair in {design.clocks_per_pair} clocks"
    if design.angle_model != "exact":
        rows += f" of {design.angle_model} angles"
    if design.axes > 1:
        lines.append(f"  {'axes':<18}{design.axes} of a position: a descriptor has {1 + design.axes} words")
    rate = ("at least " if len(set(design.rates)) > 1 else "") + f"{design.beats_per_clock:.2f} beats per clock"
    lines += [
        f"  {'source of rows':<18}{design.source}: {rows}",
        f"  {'widths':<18}{design.data_width}-bit data, {design.coefficient_width}-bit coefficients, "
        f"{design.phase_bits}-bit phase",
        f"  {'lanes':<18}{design.lanes}: {design.elements} elements per beat, {design.beats_per_token} per token, "
        f"{rate} where every token has a new position"
        + ("; products in look-up tables" if design.lane_multipliers == "luts" else ""),
        f"  {'element order':<18}{design.input_pairing} in, {design.output_pairing} out",
    ]
    return lines


def order_note(design: Design) -> str | None:
    """What a user must know whose model orders elements otherwise than the engine's streams; else None."""
    for slot, variant in enumerate(design.variants):
        order, own = design.order(slot), design.geometry.of(slot)
        if (order.input_pairing, order.output_pairing) != (own.pairing, own.output_pairing):
            return (
                f"for {variant.name} this engine takes elements in {order.input_pairing} order and gives them in "
                f"{order.output_pairing} order, and the model has them in {own.pairing} and in {own.output_pairing} "
                f"order: whoever drives its streams must bring them into order (run and verify do; the README in the "
                f"folder describes the orders)."
            )
    return None
