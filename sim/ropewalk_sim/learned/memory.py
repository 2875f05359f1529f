"""The table outside as bytes of a memory: ``docs/learned.md``, "Table outside"."""

import numpy as np
from ropewalk.designs.learned import LearnedDesign
from ropewalk.tables.learned import Words

from .stream import Memory


def memory_image(design: LearnedDesign, words: Words, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """The octets from ``memory.base`` on, and for each beat of the bus whether it cannot be read (``uint8``).

    What lies between rows is filled with odd octets: nothing may depend on it.
    """
    stride = design.row_stride if memory.stride is None else memory.stride
    rows, dimension = words.shape
    if stride < design.row_stride or stride % design.bus_bytes:
        raise ValueError(f"a stride of {stride} bytes does not hold rows of {design.row_stride}")
    image = np.full((rows, stride), 0x5A, np.uint8)
    octets = words.astype(f"<i{design.table_container_bits // 8}")
    image[:, : dimension * octets.itemsize] = np.ascontiguousarray(octets).view(np.uint8)
    errors = np.zeros((rows, stride // design.bus_bytes), np.uint8)
    errors[:, : design.beats_per_token] = memory.errors(design)
    return image.reshape(-1), errors.reshape(-1)
