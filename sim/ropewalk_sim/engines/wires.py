"""Elements to the words on the data ports, and back: PORTS.md, "Data".

An element lies in a container of 8, 16 or 32 bits, element 0 lowest; a beat is its containers in a row. On the way
to a simulator a beat is cut into 32-bit words, the last one padded with zeros.
"""

import numpy as np
from ropewalk.design import Design


def containers(design: Design, data: np.ndarray) -> np.ndarray:
    """Unsigned containers ``[beats, 2 * lanes]`` from elements ``int64 [beats, 2 * lanes]``, each cut to its bits."""
    return np.ascontiguousarray(data).astype(f"<u{design.container_bits // 8}")


def elements(design: Design, octets: np.ndarray) -> np.ndarray:
    """Elements ``int64 [beats, 2 * lanes]`` from ``uint8 [beats, octets]``, the containers read as signed."""
    return np.ascontiguousarray(octets).view(f"<i{design.container_bits // 8}").astype(np.int64)


def pack_words(design: Design, data: np.ndarray) -> np.ndarray:
    """``uint32 [beats, words]`` from elements ``int64 [beats, 2 * lanes]``."""
    octets = containers(design, data).view(np.uint8)
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 4)))).view("<u4")


def unpack_words(design: Design, words: np.ndarray) -> np.ndarray:
    """Elements ``int64 [beats, 2 * lanes]`` from ``uint32 [beats, words]``."""
    octets = np.ascontiguousarray(words, "<u4").view(np.uint8)
    return elements(design, octets[:, : design.elements * design.container_bits // 8])


def data_words(design: Design) -> int:
    """32-bit words of a beat."""
    return -(-design.elements * design.container_bits // 32)
