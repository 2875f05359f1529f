"""The shell scripts: what they say of themselves, and what `scripts/setup` tells somebody without rights."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"

# What setup calls before it needs anything that could be missing.
TOOLS = ["bash", "cat", "cut", "dirname", "env", "flock", "grep", "id", "rm", "sha256sum", "tail", "tee"]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)


@pytest.mark.parametrize("name", ["setup", "test", "demo"])
def test_help(name):
    done = run("bash", SCRIPTS / name, "--help", cwd="/")
    assert done.returncode == 0
    assert f"scripts/{name}" in done.stdout


@pytest.mark.parametrize("script", ["scripts/setup", "scripts/test", "scripts/demo", ".ci/run"])
def test_scripts_can_be_called(script):
    assert os.access(ROOT / script, os.X_OK)
    assert run("bash", "-n", ROOT / script).returncode == 0


def test_an_unknown_option_is_refused():
    done = run("bash", SCRIPTS / "setup", "--fast")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--fast" in done.stderr


@pytest.fixture
def bare(tmp_path):
    """A copy of the project in a path with a space, and a PATH that has Python and little else; nobody is root."""
    project, tools = tmp_path / "my project", tmp_path / "bin"
    (project / "scripts").mkdir(parents=True)
    tools.mkdir()
    shutil.copy(SCRIPTS / "setup", project / "scripts" / "setup")
    shutil.copy(ROOT / "pyproject.toml", project)
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    # A Python that is new enough and has the modules asked for.
    (tools / "python3").write_text("#!/bin/sh\necho 3.11\n")
    (tools / "id").unlink()
    (tools / "id").write_text("#!/bin/sh\necho 1000\n")
    (tools / "apt-get").write_text('#!/bin/sh\ntouch "$0.was-called"\n')
    for name in ("python3", "id", "apt-get"):
        (tools / name).chmod(0o755)
    return project, tools


def test_a_user_without_rights_is_told_what_to_ask_for(bare):
    project, tools = bare
    done = run(tools / "bash", project / "scripts" / "setup", env={"PATH": str(tools)}, cwd="/")
    assert done.returncode == 1
    assert "sudo apt-get install g++ make perl\n" in done.stderr
    assert "administrator" in done.stderr
    for name in ("g++", "make", "perl"):
        assert f"missing: {name}: " in done.stderr
    assert not (tools / "apt-get.was-called").exists()
    assert not (project / ".venv").exists()


def test_root_has_it_installed_and_lists_are_fetched_where_they_are_missing(bare):
    project, tools = bare
    (tools / "id").write_text("#!/bin/sh\necho 0\n")
    # As on a fresh machine: no package can be found before the first update.
    (tools / "apt-get").write_text(f"""#!{tools}/bash
echo "$@" >>"{tools}/calls"
case "$1" in
    update) : >"{tools}/updated" ;;
    *)
        [ -e "{tools}/updated" ] || {{ echo "E: Unable to locate package"; exit 100; }}
        for package in "${{@:2}}"; do
            case "$package" in
                iverilog) names="iverilog vvp" ;;
                g++ | make | perl) names="$package" ;;
                *) names="" ;;
            esac
            for name in $names; do
                echo "#!{tools}/bash" >"{tools}/$name"
                chmod +x "{tools}/$name"
            done
        done
        ;;
esac
""")
    (tools / "chmod").symlink_to(shutil.which("chmod") or "")
    done = run(tools / "bash", project / "scripts" / "setup", env={"PATH": str(tools)})
    calls = [call.split()[0] for call in (tools / "calls").read_text().splitlines()]
    assert calls == ["install", "update", "install", "install"]
    assert "installing with apt: g++ make perl" in done.stdout
    assert "installing with apt: iverilog" in done.stdout
    assert "making the Python environment" in done.stdout
    assert "missing" not in done.stderr
    # The Python of this test makes no environment, and that is said.
    assert done.returncode != 0


def test_no_python_is_said(bare):
    project, tools = bare
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    done = run(tools / "bash", project / "scripts" / "setup", env={"PATH": str(tools)})
    assert done.returncode == 1
    assert "Python 3.11 or newer" in done.stderr


def test_apt_is_not_called_when_forbidden(bare):
    project, tools = bare
    (tools / "id").write_text("#!/bin/sh\necho 0\n")
    done = run(tools / "bash", project / "scripts" / "setup", "--no-apt", env={"PATH": str(tools)})
    assert done.returncode == 1
    assert "sudo apt-get install g++ make perl" in done.stderr
    assert not (tools / "apt-get.was-called").exists()


def test_the_llm_extra_is_asked_for_once(bare):
    project, tools = bare
    for name in ("g++", "make", "perl", "iverilog", "vvp"):
        (tools / name).write_text("#!/bin/sh\nexit 0\n")
        (tools / name).chmod(0o755)
    venv = project / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(tools / "python3")
    parts = (project / "pyproject.toml", project / "scripts" / "setup")
    content = b"".join(part.read_bytes() for part in parts) + f"{project} 3.11\n".encode()
    wanted = hashlib.sha256(content).hexdigest() + "\n"

    def setup(*options):
        done = run(tools / "bash", project / "scripts" / "setup", "--no-apt", *options, env={"PATH": str(tools)})
        return "up to date" in done.stdout

    (venv / "setup.stamp").write_text(wanted)
    assert setup()
    (venv / "setup-llm.stamp").write_text(wanted)
    assert setup()
    assert setup("--llm")
    # Installed for another state of the project: it is renewed, although nobody asks for it again.
    (venv / "setup-llm.stamp").write_text("other\n")
    assert not setup()
    (venv / "setup.stamp").write_text(wanted)
    (venv / "setup-llm.stamp").unlink(missing_ok=True)
    assert not setup("--llm")
