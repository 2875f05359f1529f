"""The page about geometry names every family whose pairing or axes are not the usual ones, and every rope type."""

import re
from pathlib import Path

import pytest
from ropewalk.models.families import FAMILIES
from ropewalk.models.scaling import ROPE_TYPES

PAGE = (Path(__file__).parents[3] / "docs" / "geometry.md").read_text()


def row(start):
    (found,) = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return set(re.findall(r"[a-z][a-z0-9_]+", found.rsplit("|", 2)[1].split(";")[0]))


@pytest.mark.parametrize(
    ("start", "belongs"),
    [
        ("interleaved (2i, 2i+1)", lambda family: family.pairing == "interleaved" and not family.output_pairing),
        ("interleaved in, half out", lambda family: family.output_pairing == "half"),
        ("contiguous", lambda family: family.axes == "contiguous"),
        ("interleaved | axis 1", lambda family: family.axes == "interleaved"),
        ("height-width", lambda family: family.axes == "height-width"),
    ],
)
def test_the_page_names_the_families(start, belongs):
    assert row(start) == {name for name, family in FAMILIES.items() if belongs(family)}


def test_the_page_explains_every_rope_type():
    for name in ROPE_TYPES:
        assert f"**{name}**" in PAGE or f"`{name}`" in PAGE
