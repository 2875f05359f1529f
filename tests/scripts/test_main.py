"""What the command does with everything that goes wrong, and how it introduces itself."""

import subprocess
import sys

import pytest
from ropewalk_cli import generate, main
from ropewalk_sim.errors import EngineError

COMMANDS = ("models", "geometry", "generate", "run", "verify", "digest", "compare")


def test_version_is_that_of_the_package(ropewalk):
    assert ropewalk("--version") == (0, "ropewalk 0.1.0\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(ropewalk, command):
    code, out, err = ropewalk(command, "--help")
    assert (code, err) == (0, "")
    assert f"  ropewalk {command} " in out.split("Example")[1]


def test_no_arguments_ask_for_help(ropewalk):
    """The help, in its lines, on stdout; a wrong option without a command is still refused."""
    assert ropewalk() == ropewalk("--help")
    code, out, err = ropewalk()
    assert (code, err) == (0, "")
    assert out.startswith("Usage: ropewalk ") and out.count("\n") > 20
    assert ropewalk("--frobnicate").code == 2


def test_the_module_is_a_program():
    done = subprocess.run([sys.executable, "-m", "ropewalk_cli.main", "geometry", "nowhere.json"], capture_output=True)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ropewalk: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("frobnicate",),
        ("geometry",),
        ("geometry", "x", "y"),
        ("geometry", "x", "--pairing", "both"),
        ("geometry", "x", "--sequence-length", "0"),
        ("geometry", "x", "--follow", "me"),
        ("generate", "x"),
        ("generate", "x", "-o", "y", "--lanes", "four"),
        ("generate", "x", "-o", "y", "--source", "rom"),
        ("run", "x"),
        ("run", "x", "--input", "a", "--output", "b", "--engine", "cocotb-verilator"),
        ("run", "x", "--input", "a", "--output", "b", "--scale", "big"),
        ("verify",),
    ],
)
def test_wrong_usage_is_refused(refused, arguments):
    assert "--help' explains the command" in refused(*arguments)


def test_a_family_that_is_none_is_refused(refused, config, tmp_path):
    said = refused("generate", config(), "-o", tmp_path / "out", "--family", "virtex")
    assert "'--family'" in said and all(name in said for name in ("generic", "ecp5", "ice40", "gowin", "xilinx"))
    assert not (tmp_path / "out").exists()


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


def test_a_failed_run_is_code_1(ropewalk, monkeypatch, config, tmp_path):
    monkeypatch.setattr(generate, "write_design_folder", failing(EngineError("it broke\nbadly.")))
    result = ropewalk("generate", config(), "-o", tmp_path / "out")
    assert result == (1, "", "ropewalk: it broke badly.\n")


def test_a_fault_of_our_own_is_code_1_and_asks_for_a_report(ropewalk, monkeypatch, config, tmp_path):
    monkeypatch.setattr(generate, "write_design_folder", failing(ZeroDivisionError("by zero")))
    result = ropewalk("generate", config(), "-o", tmp_path / "out")
    assert result.code == 1
    assert result.err.count("\n") == 1
    assert "fault in Ropewalk itself (ZeroDivisionError: by zero); please report it" in result.err
    monkeypatch.setenv("ROPEWALK_DEBUG", "1")
    assert "Traceback" in ropewalk("generate", config(), "-o", tmp_path / "out").err


def test_ctrl_c_is_a_sentence(ropewalk, monkeypatch, config, tmp_path):
    monkeypatch.setattr(generate, "write_design_folder", failing(KeyboardInterrupt()))
    assert ropewalk("generate", config(), "-o", tmp_path / "out").code == 130


def test_no_memory_is_a_sentence(ropewalk, monkeypatch, config, tmp_path):
    monkeypatch.setattr(generate, "write_design_folder", failing(MemoryError()))
    assert ropewalk("generate", config(), "-o", tmp_path / "out") == (
        1,
        "",
        "ropewalk: there is not enough memory for this.\n",
    )


def test_a_reader_that_goes_away_is_no_fault():
    done = subprocess.run(
        f"'{sys.executable}' -m ropewalk_cli.main geometry gemma-3-270m --json | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


def test_exit_codes_are_the_documented_ones():
    assert (main.DONE, main.FAILED, main.BAD_INPUT, main.INTERRUPTED) == (0, 1, 2, 130)
