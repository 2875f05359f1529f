"""Running a tool: what it prints is heard as it comes, and one that hangs is given up."""

import time

import pytest
from ropewalk.boards import tools
from ropewalk.boards.tools import Tool
from ropewalk.errors import BuildError


def tool(program: str) -> Tool:
    return Tool("a tool", "pytest", "pytest", f"import sys, time; {program}")


def test_lines_are_heard_while_the_tool_runs(tmp_path):
    heard = []
    program = "print('one', flush=True); print('two', file=sys.stderr, flush=True); time.sleep(1); sys.exit(3)"
    code, log = tools.run(
        tool(program), [], tmp_path, timeout=60, heard=lambda line: heard.append((line, time.monotonic()))
    )
    ended = time.monotonic()
    assert (code, log) == (3, "one\ntwo\n")
    assert [line for line, _ in heard] == ["one\n", "two\n"]
    assert all(ended - at > 0.9 for _, at in heard)


@pytest.mark.parametrize("said", ["", "print('begun', flush=True); "], ids=["silent", "after a line"])
def test_a_tool_that_hangs_is_given_up(said, tmp_path):
    started = time.monotonic()
    with pytest.raises(BuildError, match=r"^a tool was not done after 0\.5 s$"):
        tools.run(tool(f"{said}time.sleep(600)"), [], tmp_path, timeout=0.5)
    assert time.monotonic() - started < 60


def test_who_listens_may_end_it(tmp_path):
    """As where a build is interrupted: the tool does not go on behind it."""

    def ends(line: str) -> None:
        raise KeyboardInterrupt

    program = "open('lives', 'w').close(); print('begun', flush=True); time.sleep(2); open('went_on', 'w').close()"
    with pytest.raises(KeyboardInterrupt):
        tools.run(tool(program), [], tmp_path, timeout=60, heard=ends)
    assert (tmp_path / "lives").exists()
    time.sleep(3)
    assert not (tmp_path / "went_on").exists()
