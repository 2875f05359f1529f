"""Benches for the units beside the rotary engine: any emitted top with the same five ports, beat for beat in octets.

A unit's own package turns its arrays into a :class:`~.streams.UnitInput` and its :class:`~.streams.UnitOutput` back.
"""
