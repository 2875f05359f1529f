"""Ropewalk: positional encodings for transformers on FPGAs, generated from a model's configuration."""

__version__ = "0.1.0"
