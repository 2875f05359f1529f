"""What becomes of the emitted Verilog on a part: synthesis, place and route, bitstreams, and a report of it."""
