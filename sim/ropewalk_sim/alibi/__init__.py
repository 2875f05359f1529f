"""The ALiBi unit as a model, its streams, and an exact reference (``docs/alibi.md``)."""
