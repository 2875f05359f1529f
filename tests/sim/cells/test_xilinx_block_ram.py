"""The block RAMs of Xilinx 7 series against UG473 as docs/cells.md tells it: a list of bytes of 9 bits is the truth."""

import random

import pytest

from .bench import Cell, Job, text

ADDRESS = {18: 14, 36: 16}
MODES = ("WRITE_FIRST", "READ_FIRST", "NO_CHANGE")
STEPS = 250


def cell_of(size):
    data = 16 * size // 18
    inputs = {"CLKARDCLK": 1, "CLKBWRCLK": 1, "ENARDEN": 1, "ENBWREN": 1, "REGCEAREGCE": 1, "REGCEB": 1}
    inputs |= {"RSTRAMARSTRAM": 1, "RSTRAMB": 1, "RSTREGARSTREG": 1, "RSTREGB": 1}
    inputs |= {"ADDRARDADDR": ADDRESS[size], "ADDRBWRADDR": ADDRESS[size], "DIADI": data, "DIBDI": data}
    inputs |= {"DIPADIP": data // 8, "DIPBDIP": data // 8, "WEA": data // 8, "WEBWE": data // 4}
    if size == 36:
        inputs |= {"CASCADEINA": 1, "CASCADEINB": 1, "INJECTDBITERR": 1, "INJECTSBITERR": 1}
    outputs = {"DOADO": data, "DOBDO": data, "DOPADOP": data // 8, "DOPBDOP": data // 8}
    if size == 36:
        outputs |= {"CASCADEOUTA": 1, "CASCADEOUTB": 1, "ECCPARITY": 8, "RDADDRECC": 9, "SBITERR": 1, "DBITERR": 1}
    return Cell("xilinx", f"RAMB{size}E1", inputs, outputs)


def places(width, address):
    """The bytes of a word, and the lowest bit and the mask of it in a byte."""
    count = max(1, width // 9)
    first = (address >> 3) // count * count
    low = (address & 7) // width * width if width < 9 else 0
    return range(first, first + count), low, ((1 << min(width, 9)) - 1) << low


def split(word, count):
    """Data and parity bits of a word of ``count`` bytes of 9 bits."""
    data = sum((word >> 9 * place & 0xFF) << 8 * place for place in range(count))
    return data, sum((word >> 9 * place + 8 & 1) << place for place in range(count))


def joined(data, parity, count):
    return sum(((data >> 8 * place & 0xFF) | (parity >> place & 1) << 8) << 9 * place for place in range(count))


def contents(rng):
    """Random words of the first row of each parameter, and the bytes of 9 bits that they are."""
    data, parity = rng.getrandbits(256), rng.getrandbits(256)
    memory = {place: (data >> 8 * place & 0xFF if place < 32 else 0) for place in range(4096)}
    memory = {place: byte | ((parity >> place & 1) << 8 if place < 256 else 0) for place, byte in memory.items()}
    return memory, {"INIT_00": f"256'h{data:x}", "INITP_00": f"256'h{parity:x}"}


def read(memory, width, address, spoilt=()):
    bytes_, low, mask = places(width, address)
    found = [memory[place] ^ (0x1FF if place in spoilt else 0) for place in bytes_]
    return sum(((byte & mask) >> low) << 9 * number for number, byte in enumerate(found))


def write(memory, width, address, word, enables):
    """The bytes that are written, with what they become."""
    bytes_, low, mask = places(width, address)
    given = enumerate(bytes_)
    return {
        place: memory[place] & ~mask | (word >> 9 * number << low) & mask
        for number, place in given
        if enables >> number & 1
    }


def simple(size, width, mode, registered):
    """Port A reads, port B writes; the words of a few addresses, so that they meet."""
    rng = random.Random(f"{size} {width} {mode}")
    memory, start = contents(rng)
    count, half = max(1, width // 9), size // 9
    rows, expected, latch, held = [], [], 0, 0
    for _ in range(STEPS):
        there, here = (rng.randrange(64) * 8 + rng.randrange(8) for _ in range(2))
        word, enables = rng.getrandbits(max(width, 1)), rng.getrandbits(count)
        row = {"CLKARDCLK": 1, "CLKBWRCLK": 1, "ENARDEN": rng.random() < 0.9, "ENBWREN": rng.random() < 0.8}
        row |= {"REGCEAREGCE": rng.random() < 0.8, "ADDRARDADDR": here, "ADDRBWRADDR": there, "WEBWE": enables}
        data, parity = split(word, count)
        low, high = data & (1 << 8 * half) - 1, data >> 8 * half
        p_low, p_high = parity & (1 << half) - 1, parity >> half
        wide = width == 2 * size
        row |= {"DIADI": low, "DIPADIP": p_low, "DIBDI": high if wide else low, "DIPBDIP": p_high if wide else p_low}
        row = {name: int(value) for name, value in row.items()}
        before = held if registered else latch
        if row["REGCEAREGCE"]:
            held = latch
        written = write(memory, width, there, word, enables) if row["ENBWREN"] else {}
        if row["ENARDEN"]:
            latch = read(memory, width, here, () if mode == "READ_FIRST" else written)
        memory |= written
        rows += [row | {"CLKARDCLK": 0, "CLKBWRCLK": 0}, row]
        expected += [before, held if registered else latch]
    parameters = {"RAM_MODE": text("SDP"), "READ_WIDTH_A": str(width), "WRITE_WIDTH_B": str(width)}
    parameters |= {"WRITE_MODE_A": text(mode), "WRITE_MODE_B": text(mode), "DOA_REG": str(int(registered)), **start}
    return Job(cell_of(size), rows, parameters), expected


def seen_word(row, size, width):
    """What port A of a simple dual port shows; B has the upper half of the widest word."""
    data, half = row["DOADO"], size // 9
    parity = row["DOPADOP"]
    if width == 2 * size:
        data, parity = data | row["DOBDO"] << 8 * half, parity | row["DOPBDOP"] << half
    return joined(data, parity, max(1, width // 9)) & (1 << width) - 1


SIMPLE = [
    (size, width, mode, registered)
    for size in (18, 36)
    for width in (1, 2, 4, 9, 18, 36, 72)[: 6 if size == 18 else 7]
    for mode, registered in (("READ_FIRST", False), ("WRITE_FIRST", True))
]


def test_simple_dual_port(run_jobs):
    made = [simple(*one) for one in SIMPLE]
    for one, (_, expected), rows in zip(SIMPLE, made, run_jobs([job for job, _ in made]), strict=True):
        size, width, *_ = one
        assert [seen_word(row, size, width) for row in rows] == expected, one


def dual(size, width, mode):
    """Both ports read and write; the same byte is not written by both."""
    rng = random.Random(f"dual {size} {width} {mode}")
    memory, start = contents(rng)
    count = max(1, width // 9)
    rows, expected, latches = [], [], [0, 0]
    for _ in range(STEPS):
        address = [rng.randrange(32) * 8 + rng.randrange(8) for _ in range(2)]
        word = [rng.getrandbits(width) for _ in range(2)]
        enable = [int(rng.random() < 0.9) for _ in range(2)]
        enables = [rng.getrandbits(count) * (rng.random() < 0.5) for _ in range(2)]
        reset = [int(rng.random() < 0.1) for _ in range(2)]
        if set(places(width, address[0])[0]) & set(places(width, address[1])[0]):
            enables[rng.randrange(2)] = 0
        written = [write(memory, width, address[p], word[p], enables[p] if enable[p] else 0) for p in range(2)]
        before = tuple(latches)
        for p in range(2):
            if not enable[p]:
                continue
            spoilt = () if mode == "READ_FIRST" else written[1 - p]
            if reset[p]:
                latches[p] = 0
            elif mode == "WRITE_FIRST":
                latches[p] = read(memory | written[p], width, address[p], spoilt)
            elif mode == "READ_FIRST" or not written[p]:
                latches[p] = read(memory, width, address[p], spoilt)
        memory |= written[0] | written[1]
        (low, p_low), (high, p_high) = (split(one, count) for one in word)
        row = {"CLKARDCLK": 1, "CLKBWRCLK": 1, "ENARDEN": enable[0], "ENBWREN": enable[1]}
        row |= {"ADDRARDADDR": address[0], "ADDRBWRADDR": address[1], "WEA": enables[0], "WEBWE": enables[1]}
        row |= {"DIADI": low, "DIPADIP": p_low, "DIBDI": high, "DIPBDIP": p_high}
        row |= {"RSTRAMARSTRAM": reset[0], "RSTRAMB": reset[1]}
        rows += [row | {"CLKARDCLK": 0, "CLKBWRCLK": 0}, row]
        expected += [before, tuple(latches)]
    parameters = {f"{kind}_WIDTH_{side}": str(width) for kind in ("READ", "WRITE") for side in "AB"}
    parameters |= {f"WRITE_MODE_{side}": text(mode) for side in "AB"} | start
    return Job(cell_of(size), rows, parameters), expected


def test_true_dual_port(run_jobs):
    cases = [(size, width, mode) for size in (18, 36) for width in (1, 4, 9, size // 2, size) for mode in MODES]
    made = [dual(*one) for one in cases]
    for one, (_, expected), rows in zip(cases, made, run_jobs([job for job, _ in made]), strict=True):
        _, width, _ = one
        count = max(1, width // 9)
        shown = [
            tuple(joined(row[f"DO{side}DO"], row[f"DOP{side}DOP"], count) & (1 << width) - 1 for side in ("A", "B"))
            for row in rows
        ]
        assert shown == expected, one


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"RAM_EXTENSION_A": text("LOWER")}, "cascades and error correction are not modelled"),
        ({"READ_WIDTH_A": "72"}, "the mode or a width is not one of this cell's"),
        ({"RAM_MODE": text("QDP")}, "the mode or a width is not one of this cell's"),
    ],
)
def test_what_is_not_modelled_is_refused(parameters, said, refusal):
    printed, rows = refusal(Job(cell_of(36), [{}] * 4, parameters))
    assert said in printed
    assert rows == 0
