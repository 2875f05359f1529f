"""What a person runs: the ``ropewalk`` command, the demo and its picture. ``docs/cli.md`` specifies them."""
