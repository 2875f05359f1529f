"""Amaranth components, sized by a :class:`~ropewalk.design.Design`.

Data flows: descriptor -> planner -> row source -> row memory -> rotator; the framer feeds the data.
The arithmetic is specified in ``docs/number-contract.md``, the streams in ``docs/ports.md``.
"""
