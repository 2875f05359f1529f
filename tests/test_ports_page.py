"""``docs/ports-tests.md``: every sentence of ``docs/ports.md`` has tests, and every test that is named there exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PORTS, LIST = ROOT / "docs" / "ports.md", ROOT / "docs" / "ports-tests.md"
POINTER = "says where to read on"
OTHER_UNITS = ("ALiBi", "Learned table")
"""Chapters of ports.md, by their beginning, that are not about the rotary engine and are not listed."""

FIXED_CONTRACT_SENTENCES = 45


def sentences(text: str) -> list[str]:
    """Every sentence and table row of a page, as one line each, in order."""
    found: list[str] = []
    block: list[str] = []
    rows = 0
    listed = True

    def end() -> None:
        if block and listed:
            found.extend(re.split(r"(?<=\.)\s+(?=[A-Z`*\[])", " ".join(" ".join(block).split())))
        block.clear()

    for line in text.splitlines():
        item = re.match(r"(- |[1-9]\. )", line)
        if line.startswith("#") or not line.strip():
            end()
            rows = 0
            if line.startswith("## "):
                listed = not line[3:].startswith(OTHER_UNITS)
        elif line.startswith("|"):
            end()
            rows += 1
            if rows > 2 and listed:
                found.append(" / ".join(cell.strip() for cell in line.strip("|").split("|")))
        elif item:
            end()
            block.append(line[item.end() :])
        else:
            block.append(line)
    end()
    return found


def entries(text: str) -> dict[str, list[tuple[str, list[str]]]]:
    """Chapter (ports.md, PORTS.md) of the list: sentences, each with the tests that it names."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    chapter: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("## "):
            chapter = found.setdefault(line[3:], [])
        elif line.startswith("- "):
            chapter.append((line[2:], []))
        elif line.startswith("  - "):
            chapter[-1][1].append(line[4:].strip("`"))
    return found


def existing_tests() -> set[tuple[str, str]]:
    """Path and name of every test function, also of those in classes."""
    found = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add((path.relative_to(ROOT).as_posix(), node.name))
    return found


def missing(listed: dict[str, list[tuple[str, list[str]]]], tests: set[tuple[str, str]]) -> list[str]:
    """What is wrong with the list itself."""
    wrong = []
    for sentence, named in (entry for chapter in listed.values() for entry in chapter):
        if named == [POINTER]:
            if "](" not in sentence and "docs/" not in sentence:
                wrong.append(f"points nowhere: {sentence}")
            continue
        if not named:
            wrong.append(f"no test: {sentence}")
        for test in named:
            path, _, name = test.partition("::")
            if sum(found.endswith("/" + path) and name == other for found, other in tests) != 1:
                wrong.append(f"no such test, or more than one: {test}")
    return wrong


def test_every_test_in_the_list_exists_and_every_sentence_has_one():
    assert missing(entries(LIST.read_text(encoding="utf-8")), existing_tests()) == []


def test_every_sentence_of_the_page_is_in_the_list_word_for_word():
    """Else: write each ``unlisted`` sentence into docs/ports-tests.md with its tests, and drop those ``stale``."""
    listed = [sentence for sentence, _ in entries(LIST.read_text(encoding="utf-8"))["ports.md"]]
    said = sentences(PORTS.read_text(encoding="utf-8"))
    assert len(said) > 100
    unlisted = [f"- {sentence}" for sentence in said if sentence not in listed]
    stale = [f"- {sentence}" for sentence in listed if sentence not in said]
    assert (unlisted, stale) == ([], [])
    assert len(listed) == len(said)


def test_the_fixed_contract_is_listed_as_a_whole():
    assert len(entries(LIST.read_text(encoding="utf-8"))["PORTS.md"]) == FIXED_CONTRACT_SENTENCES


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("## ports.md\n- One.\n  - `a/test_x.py::test_y`\n", []),
        ("## ports.md\n- One.\n  - `test_x.py::test_y`\n", []),
        ("## ports.md\n- One.\n", ["no test: One."]),
        ("## ports.md\n- One.\n  - `a/test_x.py::test_z`\n", ["no such test, or more than one: a/test_x.py::test_z"]),
        ("## ports.md\n- One.\n  - `x.py::test_y`\n", ["no such test, or more than one: x.py::test_y"]),
        ("## ports.md\n- One.\n  - says where to read on\n", ["points nowhere: One."]),
    ],
)
def test_the_check_sees_what_is_missing(text, wrong):
    assert missing(entries(text), {("tests/a/test_x.py", "test_y")}) == wrong


def test_sentences_by_hand():
    page = (
        "# A\n\nOne `x`. Two\nends here. `y` is e.g. three.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "- Four\n  more.\n1. Five\n\n## ALiBi\n\nSix."
    )
    assert sentences(page) == ["One `x`.", "Two ends here.", "`y` is e.g. three.", "1 / 2", "Four more.", "Five"]
