"""The ``icarus`` and ``cocotb-verilator`` engines: the emitted Verilog in a simulator, under cocotb.

Much slower than the ``verilator`` engine, and independent of it. Every packet of an input must end with TLAST:
cocotbext-axi's source can send no other.
"""

from functools import cached_property

from ropewalk_sim.engines.octet_engine import OctetEngine
from ropewalk_sim.units.cosim import UnitCocotbVerilator, UnitIcarus


class IcarusEngine(OctetEngine):
    """The emitted Verilog in Icarus Verilog, under cocotb."""

    @cached_property
    def bench(self):  # noqa: D102
        return UnitIcarus(self._folder).run


class CocotbVerilatorEngine(OctetEngine):
    """The emitted Verilog in Verilator, under cocotb."""

    @cached_property
    def bench(self):  # noqa: D102
        return UnitCocotbVerilator(self._folder).run
