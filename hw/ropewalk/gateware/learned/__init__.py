"""The learned-table adder: a token's elements plus the row of its position (``docs/learned.md``)."""
