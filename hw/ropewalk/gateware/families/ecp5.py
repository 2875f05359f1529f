"""Lattice ECP5: MULT18X18D and DP16KD with their own registers in use, which no synthesis tool for it puts there.

MULT18X18D
    Operand, pipeline and output registers are on. Each operand has its own sign, so an unsigned word of 18 bits times
    a signed one takes one block, where Yosys would make a signed operand of 19 bits of the first and split it.

DP16KD
    Port B reads, through the output register; port A writes. Words of 36 bits take both ports' data, as Yosys maps
    them (``PDPW16KD``): the low half of a word is on the A side. The columns of a wider memory stand side by side.
    A memory with a few words more than a power of two has those in blocks of their own where that saves some: words of
    the row are narrower the more of them a block has to hold. Memories that would take more than :data:`MOST_BLOCKS`,
    or are deeper than a block, are left to the synthesis tool.

TRELLIS_DPR16X4
    A RAM that takes little of this distributed RAM, and begins with no words, is made of it: banks of 16 words, each
    read into a register, of which the next clock chooses. Were the choice made before the register, it would not be
    there in time. Those that begin with words are left to the synthesis tool.

CCU2C
    Two bits of a carry chain, each with a look-up table of four inputs before it (:mod:`.ecp5_carry`).
"""

from dataclasses import replace
from typing import Any

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, Shape, Signal, Value
from amaranth.lib.memory import Memory

from ..contents import RomContents
from ..pipeline import delayed
from .ecp5_carry import gated_sum, signed_sum, sum_of
from .form import OPERAND_BITS, Form, WritePort

PRODUCT_BITS = 36

MOST_BLOCKS = 64
"""Blocks of the largest memory that is instantiated."""

DEPTHS = {36: 512, 18: 1024, 9: 2048, 4: 4096, 2: 8192, 1: 16384}
"""Words of a block by their width."""

ADDRESS_BITS, PORT_BITS = 14, 18
"""Address and data of a port."""

INIT_UNITS, UNIT_BITS = 16, 20
"""Units in an ``INITVAL`` parameter, and the bits that one takes there, of which the low 18 count."""

INIT_BITS = INIT_UNITS * UNIT_BITS

SPARED_BLOCKS = 2
"""How many blocks a second row must save: the choice between two rows takes a look-up table for a bit."""

BANK_WORDS, BANK_BITS = 16, 4
"""Words and bits of a TRELLIS_DPR16X4."""

DISTRIBUTED_CELLS = 32
"""A RAM takes blocks where each saves at least so many TRELLIS_DPR16X4: Yosys weighs them alike."""


def block_width(depth: int) -> int | None:
    """The width of the blocks' words in a memory of ``depth`` words; None if a block has no room for so many."""
    return next((width for width, words in DEPTHS.items() if words >= depth), None)


def first_row(bits: int, depth: int) -> int:
    """How many words of a memory of words of ``bits`` bits lie in the first row of blocks: all, or a power of two."""

    def blocks(words: int) -> int:
        width = block_width(words)
        assert width is not None, f"no DP16KD has {words} words"
        return -(-bits // width)

    first = 1 << (depth - 1).bit_length() - 1 if depth > 1 else 1
    if first == depth or blocks(first) + blocks(depth - first) > blocks(depth) - SPARED_BLOCKS:
        return depth
    return first


def initial_values(words: list[int], width: int) -> list[int]:
    """The 64 ``INITVAL`` parameters of a block whose words, of ``width`` bits, begin with ``words``.

    A block holds 2,048 bytes of 9 bits. Words of 9 bits and more take all of them; narrower ones share the low 8 of a
    byte. Two bytes are a unit, 16 units a parameter.
    """
    in_byte = max(1, 8 // width)
    bits = 0
    for number, word in enumerate(words):
        bits |= word << number // in_byte * max(9, width) + number % in_byte * width
    units = [bits >> place & (1 << PORT_BITS) - 1 for place in range(0, 2048 * 9, PORT_BITS)]
    return [
        sum(unit << place * UNIT_BITS for place, unit in enumerate(units[row : row + INIT_UNITS]))
        for row in range(0, len(units), INIT_UNITS)
    ]


class Ecp5(Form):
    """See the module."""

    def multiplier(self, a: Signal, b: Signal, p: Signal) -> Module:
        """One MULT18X18D."""
        m = Module()
        operands = []
        for name, value in (("a", a), ("b", b)):
            wide = Signal(Shape(OPERAND_BITS, value.shape().signed), name=f"{name}_wide")
            m.d.comb += wide.eq(value)
            operands.append(wide)
        product = Signal(PRODUCT_BITS)
        registers = {}
        for register in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT"):
            registers |= {f"p_REG_{register}_{what}": f"{what}0" for what in ("CLK", "CE", "RST")}
        m.submodules.block = Instance(
            "MULT18X18D",
            **registers,
            p_GSR="DISABLED",
            i_CLK0=ClockSignal(),
            i_CE0=Const(1),
            i_RST0=Const(0),
            i_SOURCEA=Const(0),
            i_SOURCEB=Const(0),
            i_SIGNEDA=Const(a.shape().signed),
            i_SIGNEDB=Const(b.shape().signed),
            **_pins("i_A", operands[0]),
            **_pins("i_B", operands[1]),
            **_pins("o_P", product),
        )
        m.d.comb += p.eq(product)
        return m

    def gated_sum(self, m: Module, value: Value, first: Value, second: Value, *, negative: bool, name: str) -> Value:
        """One carry chain, which gates both rows itself."""
        return gated_sum(m, value, first, second, negative=negative, name=name)

    def sum_of(
        self, m: Module, first: Value, second: Value, bits: int, *, complement: Value | None, name: str
    ) -> Value:
        """One carry chain, which complements what it adds itself."""
        return sum_of(m, first, second, bits, complement=complement, name=name)

    def signed_sum(
        self,
        m: Module,
        first: Value,
        second: Value,
        bits: int,
        *,
        complements: tuple[Value, Value],
        carry: Value,
        name: str,
    ) -> Value:
        """One carry chain, which complements either word itself."""
        return signed_sum(m, first, second, bits, complements=complements, carry=carry, name=name)

    def bank_words(self, width: int, depth: int) -> int:
        """The words of a block: of the widths that take the fewest blocks, those of the narrowest."""
        blocks = {words: -(-depth // words) * -(-width // bits) for bits, words in DEPTHS.items()}
        return min(depth, max(words for words, number in blocks.items() if number == min(blocks.values())))

    def takes(self, contents: RomContents) -> bool:
        """Whether one row of at most :data:`MOST_BLOCKS` holds it, or banks do a small RAM without words."""
        width = block_width(contents.depth)
        if contents.kind == "file" or width is None or -(-contents.width // width) > MOST_BLOCKS:
            return False
        return not _is_small(contents) or (contents.depth > BANK_WORDS and not contents.words)

    def memory(
        self, name: str, contents: RomContents, *, address: Signal, data: Signal, write: WritePort | None
    ) -> Module:
        """DP16KDs side by side, each with some bits of every word; or banks of distributed RAM."""
        if write is not None and _is_small(contents):
            return _banks(name, contents, address, data, write)
        m = Module()
        first = first_row(contents.width, contents.depth)
        if first == contents.depth:
            _row(m, name, contents.width, contents.depth, contents.words, address, data, write)
            return m
        # The clocks of a block: its address, its output register.
        bits = first.bit_length() - 1
        behind = delayed(m, address[bits], 2, name=f"{name}_behind")
        parts = []
        for part, low, high in (("low", 0, first), ("high", first, contents.depth)):
            word = Signal(contents.width, name=f"{name}_{part}")
            inside = (high - low - 1).bit_length()
            where = None
            if write is not None:
                here = write.enable & (write.address[bits] == (part == "high"))
                where = WritePort(enable=here, address=write.address[:inside], data=write.data)
            words = list(contents.words[low:high])
            _row(m, f"{name}_{part}", contents.width, high - low, words, address[:inside], word, where)
            parts.append(word)
        m.d.comb += data.eq(Mux(behind, parts[1], parts[0]))
        return m


def _row(
    m: Module, name: str, bits: int, depth: int, words: Any, address: Value, data: Signal, write: WritePort | None
) -> None:
    """DP16KDs side by side, each with some bits of every one of ``depth`` words."""
    width = block_width(depth)
    assert width is not None, f"no DP16KD has {depth} words"
    for number, low in enumerate(range(0, bits, width)):
        high = min(low + width, bits)
        column = [word >> low & (1 << high - low) - 1 for word in words]
        output = Signal(width, name=f"data_{number}")
        part = None if write is None else replace(write, data=write.data[low:high])
        m.submodules[f"{name}_{number}"] = _block(width, column, address, output, part)
        m.d.comb += data[low:high].eq(output)


def _is_small(contents: RomContents) -> bool:
    """Whether a RAM takes so little distributed RAM that it takes no blocks."""
    width = block_width(contents.depth)
    assert width is not None
    cells = -(-contents.depth // BANK_WORDS) * -(-contents.width // BANK_BITS)
    return contents.kind == "ram" and cells < DISTRIBUTED_CELLS * -(-contents.width // width)


def _banks(name: str, contents: RomContents, address: Signal, data: Signal, write: WritePort) -> Module:
    """A RAM in banks of :data:`BANK_WORDS`: the bank is chosen behind the registers that they are read into."""
    m = Module()
    bits = (BANK_WORDS - 1).bit_length()
    word = Signal(contents.width, name=f"{name}_word", reset_less=True)
    chosen: Value = Const(0)
    # No word is read while it is written, so that no logic need say what is read then.
    attributes: dict[str, Any] = {"no_rw_check": 1}
    for number in range(-(-contents.depth // BANK_WORDS)):
        memory = Memory(shape=contents.width, depth=BANK_WORDS, init=[], attrs=attributes)
        m.submodules[f"{name}_{number}"] = memory
        store, read = memory.write_port(), memory.read_port()
        m.d.comb += [
            store.en.eq(write.enable & (write.address[bits:] == number)),
            store.addr.eq(write.address[:bits]),
            store.data.eq(write.data),
            read.addr.eq(address[:bits]),
        ]
        # A bit per bank: fewer levels of logic than with their number.
        here = Signal(name=f"{name}_in_{number}", reset_less=True)
        m.d.sync += here.eq(address[bits:] == number)
        chosen |= read.data & here.replicate(contents.width)
    m.d.sync += word.eq(chosen)
    m.d.comb += data.eq(word)
    return m


def _block(width: int, words: list[int], address: Value, output: Value, write: WritePort | None) -> Instance:
    """One DP16KD with words of ``width`` bits."""
    wide = width == 2 * PORT_BITS
    if write is None:
        write = WritePort(enable=Const(0), address=Const(0, 0), data=Const(0, 0))
    into = Cat(write.data, Const(0, 2 * PORT_BITS - len(write.data)))
    # Words of 36 bits have no write enable of their own: they are written by the clock enable of port A.
    enables = {"i_CEA": write.enable, "i_WEA": Const(1)} if wide else {"i_CEA": Const(1), "i_WEA": write.enable}
    byte_enables = write.enable.replicate(width // 9 if width >= PORT_BITS else 0)
    halves = {"o_DOA": output[:PORT_BITS], "o_DOB": output[PORT_BITS:]} if wide else {"o_DOB": output}
    return Instance(
        "DP16KD",
        p_DATA_WIDTH_A=width,
        p_DATA_WIDTH_B=width,
        p_REGMODE_A="OUTREG",
        p_REGMODE_B="OUTREG",
        p_RESETMODE="SYNC",
        p_ASYNC_RESET_RELEASE="SYNC",
        p_CSDECODE_A="0b000",
        p_CSDECODE_B="0b000",
        p_WRITEMODE_A="NORMAL",
        p_WRITEMODE_B="NORMAL",
        p_GSR="DISABLED",
        **{
            f"p_INITVAL_{row:02X}": Const(value, INIT_BITS)
            for row, value in enumerate(initial_values(words, width))
            if value
        },
        **{f"i_CLK{port}": ClockSignal() for port in "AB"},
        **{f"i_OCE{port}": Const(1) for port in "AB"},
        **{f"i_RST{port}": Const(0) for port in "AB"},
        **enables,
        i_CEB=Const(1),
        i_WEB=Const(0),
        **_pins("i_CSA", Const(0, 3)),
        **_pins("i_CSB", Const(0, 3)),
        **_pins("i_ADA", _address(write.address, width, byte_enables)),
        **_pins("i_ADB", _address(address, width, Const(0, 0))),
        **_pins("i_DIA", into[:PORT_BITS]),
        **_pins("i_DIB", into[PORT_BITS:]),
        **{name: pin for port, bits in halves.items() for name, pin in _pins(port, bits).items()},
    )


def _address(word: Value, width: int, low: Value) -> Value:
    """The pins of an address: a word's number, above those that would tell its bits apart, which are ``low`` or 0."""
    unused = ADDRESS_BITS - (DEPTHS[width] - 1).bit_length()
    pins = Cat(low, Const(0, unused - len(low)), word)
    return Cat(pins, Const(0, ADDRESS_BITS - len(pins)))


def _pins(prefix: str, value: Value) -> dict[str, Value]:
    """A port whose pins are ports of their own."""
    return {f"{prefix}{place}": value[place] for place in range(len(value))}
