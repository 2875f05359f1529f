"""The designs of the units beside the rotary engine, each the one frozen description of its unit."""
