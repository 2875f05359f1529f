"""The golden vectors of the software stacks, through the emitted Verilog (docs/testing.md, "Golden vectors")."""
