"""The demo from end to end, as a person starts it, and its picture."""

import re
import subprocess
import sys

import numpy as np
import pytest
from ropewalk_cli.picture import Curve, Story, draw

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.slow
def test_the_demo_with_every_token_through_every_engine(tmp_path):
    command = [sys.executable, "-m", "ropewalk_cli.demo", "--everything", "--output", tmp_path / "a place"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"(\d+) tokens, +([\d,]+) elements: 0 bits differ", done.stdout) == [
        ("288", "368,640"),
        ("288", "368,640"),
        ("288", "368,640"),
    ]
    assert "1.00 beats per clock" in done.stdout
    worst = float(re.findall(r"worst ([\d.]+) LSB, mean", done.stdout)[1])
    assert 0.5 < worst <= 0.70
    # Input rounding turned, and the result's own rounding: at most 1.5 LSB from the software's floats.
    apart = [float(lsb) for lsb in re.findall(r"= ([\d.]+) LSB apart", done.stdout)]
    assert len(apart) == 2 and max(apart) < 1.5
    assert (tmp_path / "a place" / "engine" / "ropewalk.v").stat().st_size > 10_000
    assert (tmp_path / "a place" / "error.png").read_bytes().startswith(PNG)


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = subprocess.run(
        [sys.executable, "-m", "ropewalk_cli.demo", "--output", tmp_path / "file" / "demo"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("ropewalk: ") and done.stderr.count("\n") == 1


def test_the_picture_is_a_png_of_a_useful_size(tmp_path):
    position = np.array([1.0, 100.0, 2.0**24 - 1])
    curve = Curve(label="one base", position=position, engine=np.full(3, 0.6), software=np.array([0.01, 1.0, 1e4]))
    story = Story(
        model="A model",
        data_width=16,
        random_errors=np.linspace(-0.6, 0.6, 1000),
        real_errors=np.linspace(-0.5, 0.5, 1000),
        curves=(curve,),
        limit=4096,
    )
    draw(story, tmp_path / "picture.png")
    content = (tmp_path / "picture.png").read_bytes()
    assert content.startswith(PNG)
    width, height = (int.from_bytes(content[place : place + 4], "big") for place in (16, 20))
    assert 1200 <= width <= 2400 and 500 <= height <= 1400
