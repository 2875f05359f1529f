"""docs/gguf.md names every architecture, with its pairing."""

import re
from pathlib import Path

from ropewalk.models.gguf import KNOWN
from ropewalk.models.gguf_architectures import ARCHITECTURES, REFUSED

PAGE = (Path(__file__).parents[4] / "docs" / "gguf.md").read_text()


def names_after(start):
    row = next(line for line in PAGE.splitlines() if line.startswith(start))
    return set(re.split(r", ", row.split("|")[2].strip()))


def test_pairings():
    for start, pairing in (("| interleaved (llama.cpp", "interleaved"), ("| half (NEOX", "half")):
        wanted = {name for name, row in ARCHITECTURES.items() if row.scheme == "rope" and row.pairing == pairing}
        assert names_after(start) == wanted


def test_every_window_and_scheme_is_named():
    for name, row in ARCHITECTURES.items():
        if row.window or row.scheme != "rope" or row.latent or row.axes:
            assert len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", PAGE)) >= (2 if row.scheme == "rope" else 1)


def test_every_key_and_refusal_is_named():
    for key in KNOWN:
        assert key.removeprefix("rope.scaling.") in PAGE, key
    own_rules = [name for name, reason in REFUSED.items() if "of its own" in reason]
    assert own_rules
    assert all(name in PAGE for name in own_rules)
