"""What the units that add a row to a token's elements have in common (``docs/learned.md``, ``docs/sinusoidal.md``)."""
