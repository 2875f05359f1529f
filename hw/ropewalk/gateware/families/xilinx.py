"""Xilinx 7 series: everything is inferred, by Vivado and by Yosys.

The portable form is what their tools pack: operands, two product registers and no reset fill a DSP48E1 (AREG, BREG,
MREG, PREG). Vivado moves the output register of a memory into its block RAM; Yosys leaves it in logic.
"""

from .form import Form


class Xilinx(Form):
    """See the module."""

    multiplier_attributes = {"use_dsp": "yes"}
