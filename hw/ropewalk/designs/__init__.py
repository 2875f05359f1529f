"""The frozen descriptions of units other than the rotary engine, each with its formats and its JSON."""
