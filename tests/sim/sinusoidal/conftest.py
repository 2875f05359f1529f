"""Folders of emitted Verilog for the sinusoidal adder's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ropewalk.designs.sinusoidal import SinusoidalDesign
from ropewalk.emit.sinusoidal import sinusoidal_files


@pytest.fixture(scope="session")
def emitted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[SinusoidalDesign], Path]:
    """The folder with a design's files, made once."""
    made: dict[SinusoidalDesign, Path] = {}

    def folder(design: SinusoidalDesign) -> Path:
        if design not in made:
            made[design] = tmp_path_factory.mktemp("sinusoidal")
            for name, text in sinusoidal_files(design).items():
                (made[design] / name).write_text(text)
        return made[design]

    return folder
