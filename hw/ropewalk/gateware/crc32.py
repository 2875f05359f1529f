"""CRC-32 (IEEE 802.3) of a stream of few bits a clock."""

from amaranth.hdl import Cat, Value

POLYNOMIAL = 0xEDB88320
"""With the coefficient of the highest power lowest, as the bits come: the lowest bit of a byte first."""

START = 0
"""The CRC-32 of nothing."""


def crc32_after(crc: Value, bits: int) -> Value:
    """The CRC-32 after so many more bits, which have been added (by exclusive or) to the lowest bits of ``crc``.

    ``crc`` is the finished value, which is the complement of what most descriptions keep.
    """
    places = list(crc)
    for _ in range(bits):
        same, *others = places
        places = [one ^ ~same if POLYNOMIAL >> place & 1 else one for place, one in enumerate(others)] + [same]
    return Cat(places)
