"""The ``verilator`` engine: the emitted Verilog, compiled into a shared library that takes and returns arrays."""

from functools import cached_property

from ropewalk_sim.engines.octet_engine import OctetEngine
from ropewalk_sim.units.verilator import UnitVerilator


class VerilatorEngine(OctetEngine):
    """The Verilog of ``folder``, compiled. See :class:`ropewalk_sim.engines.Engine`.

    The first run of a design compiles it, which takes some seconds; later ones, in other processes too, find it in
    the cache.
    """

    @cached_property
    def bench(self):  # noqa: D102
        return UnitVerilator(self._folder).run
