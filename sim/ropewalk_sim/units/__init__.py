"""Benches for any emitted top, beat for beat in octets, and what the units beside the rotary engine have in common.

The rotary engine's own engines and each unit's package turn their arrays into a :class:`~.streams.UnitInput`, and a
:class:`~.streams.UnitOutput` back.
"""
