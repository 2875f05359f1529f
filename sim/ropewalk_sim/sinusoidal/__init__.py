"""The sinusoidal adder outside the hardware: its fixed-point model, the exact rows, and its engines."""
