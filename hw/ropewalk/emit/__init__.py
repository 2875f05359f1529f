"""Turns a design into files: Verilog, ROM contents, the description itself and a page about them."""
