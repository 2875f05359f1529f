"""A rotary model: its engine, made or given, and put in the place of its own rotation."""

from collections.abc import Iterator
from contextlib import contextmanager

from ropewalk.geometry.rotary import RotaryGeometry

from .design import design_of, folder_of, given_design
from .extra import torch_module
from .hooks import check_model, replaced_rotation
from .rotation import Rotation
from .session import Engine, Session
from .source import Source


class RotarySession(Session[RotaryGeometry, Rotation]):
    """A rotary model that was loaded, and whose angles were found to be those of ``geometry``."""

    def __init__(self, source: Source, geometry: RotaryGeometry) -> None:
        super().__init__(source, geometry)
        check_model(self.loaded.model, geometry, torch_module())

    def engine(self, engine: Engine) -> Rotation | None:
        """See the base."""
        if engine.name == "float":
            return None
        if engine.folder is not None:
            design = given_design(engine.folder, self.geometry)
        else:
            design = design_of(self.geometry, engine.widths)
        if engine.name == "model":
            return Rotation(design, per=engine.per)
        from .hardware import Verilog

        folder = engine.folder if engine.folder is not None else folder_of(design)
        return Rotation(design, hardware=Verilog(folder), per=engine.per)

    @contextmanager
    def replaced(self, engine: Rotation) -> Iterator[None]:
        """See the base."""
        with replaced_rotation(self.loaded.model, self.geometry, engine, torch_module()):
            yield
