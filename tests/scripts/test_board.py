"""``ropewalk board`` where there is no board; with one it is tested in tests/sim/board."""

import os
import tty
from pathlib import Path

import pytest
from ropewalk_cli.main import BAD_INPUT, call


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = call(["board", *arguments])
    return code, capsys.readouterr().err


def test_no_such_port(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, error = said(capsys, "--port", str(tmp_path / "none"))
    assert code == BAD_INPUT
    assert "cannot be used" in error
    assert "list_ports" in error


def test_a_silent_port_ends_in_a_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    master, slave = os.openpty()
    try:
        tty.setraw(slave)
        code, error = said(capsys, "--port", os.ttyname(slave), "--baud", "1000000")
    finally:
        os.close(master)
        os.close(slave)
    assert code == 1
    assert "does not answer" in error


def test_arrays_need_a_design(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, error = said(capsys, "--port", "x", "--input", str(tmp_path / "x.npz"), "--output", str(tmp_path / "y.npz"))
    assert code == BAD_INPUT
    assert "need --design" in error


def test_a_folder_without_a_design(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, error = said(capsys, "--port", "x", "--design", str(tmp_path))
    assert code == BAD_INPUT
    assert str(tmp_path) in error
