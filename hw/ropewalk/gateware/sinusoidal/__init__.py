"""The sinusoidal adder: a generator of sines and cosines whose rows are added to the elements of a stream."""
