"""The table of ``docs/software.md``: how far each stack's cosines are from ours, by default and followed.

``python -m pytest tests/hw/models/test_software_table.py`` fails with the right table where the page has another.
"""

import json
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
META = json.loads((ROOT / "tests" / "data" / "golden_rope.json").read_text())
POSITION = 4095
HEAD = [
    "| configuration | Hugging Face | vLLM | vLLM, followed | llama.cpp | llama.cpp, followed |",
    "|---|---|---|---|---|---|",
]
KEPT_WRONG = {("deepseek_mscale_only", "llama.cpp")}
"""Where following another stack is meant to differ from the vectors: see the page."""


def cell(difference):
    if difference is None:
        return "-"
    text = f"{difference:.0e}".replace("e-0", "e-")
    return f"**{difference:.2f}**" if difference > 0.01 else text


def difference(golden, geometry, name, stack):
    """The largest difference of a cosine, amplitude included, at the last position up to 4095."""
    theirs = golden.get(f"{stack}/{name}/cos_f32")
    if theirs is None:
        return None
    positions = golden.get(f"{stack}/{name}/positions", np.array(META["positions"])[: len(theirs)])
    row = int(np.flatnonzero(positions <= POSITION)[-1])
    variant = next(variant for variant in geometry.variants if variant.name == geometry.layers[0])
    angle = positions[row] * np.array(variant.inverse_frequency)
    return float(np.max(np.abs(variant.amplitude * np.cos(angle) - theirs[row])))


def rows(read, golden, golden_config):
    for name, configuration in META["configurations"].items():
        if "mrope_section" in configuration:
            continue
        usual = read(golden_config(name))
        found = [difference(golden, usual, name, "hf")]
        for stack in ("vllm", "llama.cpp"):
            found.append(difference(golden, usual, name, stack))
            found.append(difference(golden, read(golden_config(name), follow=stack), name, stack))
        yield name, found


def test_the_table_is_what_the_vectors_say(read, golden, golden_config):
    made = list(HEAD)
    for name, found in rows(read, golden, golden_config):
        made.append(f"| {name} | " + " | ".join(map(cell, found)) + " |")
        hf, vllm, vllm_followed, llama, llama_followed = found
        assert hf < 2e-3
        for followed in (vllm_followed, llama_followed):
            assert followed is None or followed < 2e-3 or (name, "llama.cpp") in KEPT_WRONG
    page = (ROOT / "docs" / "software.md").read_text()
    assert "\n".join(made) in page, "docs/software.md needs this table:\n" + "\n".join(made)
