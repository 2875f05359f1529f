"""What becomes of the emitted Verilog on a part: synthesis, and later place and route."""
