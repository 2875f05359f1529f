"""Small ALiBi units, emitted once per session."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ropewalk.designs.alibi import AlibiDesign
from ropewalk.emit.alibi import alibi_files
from ropewalk.geometry.alibi import AlibiGeometry, AlibiMode, alibi_slopes
from ropewalk_sim.alibi.engines import Run, open_alibi_engine


def geometry(heads: int = 12, mode: AlibiMode = "relative") -> AlibiGeometry:
    return AlibiGeometry(model_type="test", heads=heads, slopes=alibi_slopes(heads), mode=mode)


DESIGNS = {
    "usual": AlibiDesign(geometry=geometry()),
    "narrow": AlibiDesign(geometry=geometry(5), lanes=2, data_width=8, fraction_bits=3, capacity=8),
    "one-lane": AlibiDesign(
        geometry=geometry(3, "symmetric"), lanes=1, data_width=11, fraction_bits=0, registers=False
    ),
    "wide": AlibiDesign(geometry=geometry(20, "mpt"), lanes=8, data_width=32, fraction_bits=16, capacity=32),
}


@pytest.fixture(scope="session")
def designs() -> dict[str, AlibiDesign]:
    """The units by name."""
    return DESIGNS


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a unit, by its name in ``DESIGNS``."""
    made: dict[str, Path] = {}

    def emitted(name: str) -> Path:
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name)
            for file, text in alibi_files(DESIGNS[name]).items():
                (made[name] / file).write_text(text)
        return made[name]

    return emitted


@pytest.fixture(scope="session")
def unit(folder: Callable[[str], Path]) -> Callable[[str, str], Run]:
    """Gives an engine, by its name, for a unit, by its name in ``DESIGNS``."""
    return lambda engine, name: open_alibi_engine(engine, DESIGNS[name], folder(name))
