"""The memory outside in the ``verilator`` engine: the arrays and the struct that ``read_memory.h`` works on."""

import ctypes

import numpy as np

from .read_memory import ReadMemory

MOST_BURSTS = 1 << 16
"""Reads that are noted; later ones are answered all the same."""


class Reads(ctypes.Structure):
    """The struct Reads."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("image", "unreadable")),
        *((name, ctypes.c_uint64) for name in ("base", "bytes")),
        ("bursts", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("capacity", "count", "latency_low", "latency_high")),
        *((name, ctypes.c_uint64) for name in ("random", "stall")),
    )


class BurstLog:
    """Where the library notes reads."""

    def __init__(self) -> None:
        self.array = np.zeros((0, 3), np.uint64)
        self.kept: tuple[np.ndarray, ...] = ()

    def first(self, count: int) -> tuple[tuple[int, int, int], ...]:
        """The first ``count`` reads: address, beats, and reads under way, this one counted."""
        return tuple((int(one[0]), int(one[1]), int(one[2])) for one in self.array[:count])


def reads_of(memory: ReadMemory | None, log: BurstLog, seed: int) -> Reads:
    """What the library is told of ``memory``; ``log`` must live as long as it is used, and keeps the arrays alive."""
    if memory is None:
        return Reads()
    image = np.ascontiguousarray(memory.image)
    unreadable = np.ascontiguousarray(memory.unreadable).view(np.uint8)
    log.array, log.kept = np.zeros((MOST_BURSTS, 3), np.uint64), (image, unreadable)
    return Reads(
        image=image.ctypes.data,
        unreadable=unreadable.ctypes.data,
        base=memory.base,
        bytes=len(image),
        bursts=log.array.ctypes.data,
        capacity=MOST_BURSTS,
        latency_low=memory.latency[0],
        latency_high=memory.latency[1],
        random=seed,
        stall=int(memory.stall * 2**32),
    )
