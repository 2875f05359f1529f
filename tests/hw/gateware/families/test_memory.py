"""Block ROM and block RAM in every family: words, initial words and clocks against a list of Python integers."""

import random
import re

import pytest
from amaranth.hdl import Module
from ropewalk.boards.synthesis import synthesise
from ropewalk.gateware.contents import RomContents
from ropewalk.gateware.families.ecp5 import initial_values
from ropewalk.gateware.primitives import BlockRam, BlockRom

from .bench import FAMILIES, Bench, outputs

ECP5_SHAPES = [
    *((width, 512) for width in (1, 17, 18, 19, 35, 36, 37, 70)),
    *((width, 576) for width in (9, 18, 50)),
    *((width, 1500) for width in (8, 9, 20)),
    *((width, 4096) for width in (3, 4, 5)),
    *((width, 8000) for width in (1, 2, 3)),
    (2, 16384),
    (40, 300),
    # Two rows of blocks, the second one short.
    (50, 2304),
    (36, 4100),
]  # fmt: skip
"""Width and depth: every width of a block, one bit less and one more, depths that are a block's and others."""

SHAPES = [(family, width, depth) for family in FAMILIES for width, depth in ((38, 64), (50, 576))]
SHAPES += [("ecp5", *shape) for shape in ECP5_SHAPES]


def random_words(width: int, count: int, seed: int) -> list[int]:
    source = random.Random(seed)
    return [source.getrandbits(width) for _ in range(count)]


class Rom(Bench):
    """A block ROM behind an address."""

    def __init__(self, contents: RomContents):
        self.rom = BlockRom(contents, name="words")
        super().__init__(len(self.rom.address), contents.width)

    def elaborate(self, platform):
        m = Module()
        m.submodules.rom = self.rom
        m.d.comb += [self.rom.address.eq(self.row), self.out.eq(self.rom.data)]
        return m


class Ram(Bench):
    """A block RAM behind an address to read, one to write, a word and a write enable, the first lowest."""

    def __init__(self, width: int, depth: int, words: list[int]):
        self.ram = BlockRam(width=width, depth=depth, name="words", words=words)
        super().__init__(2 * len(self.ram.address) + width + 1, width)

    def elaborate(self, platform):
        m = Module()
        m.submodules.ram = ram = self.ram
        bits, width = len(ram.address), len(ram.data)
        m.d.comb += [
            ram.address.eq(self.row),
            ram.write_address.eq(self.row >> bits),
            ram.write_data.eq(self.row >> 2 * bits),
            ram.write_enable.eq(self.row >> 2 * bits + width),
            self.out.eq(ram.data),
        ]
        return m


@pytest.mark.parametrize(("family", "width", "depth"), SHAPES)
def test_a_rom_holds_its_words(family, width, depth, tmp_path):
    words = random_words(width, depth - depth // 7, 11)
    contents = RomContents(width, depth, words)
    held = words + [0] * (depth - len(words))
    addresses = [*range(depth), 0]
    seen = outputs(Rom(contents), addresses, family=family, folder=tmp_path, roms={"words": contents})
    # Address n is in after edge n, the word after the next one: the second of two registers.
    found = [int(bits[::-1], 2) for bits in seen[BlockRom.latency - 1 :]]
    assert found == [held[address] for address in addresses[: len(found)]]
    assert (family == "ecp5") != (tmp_path / "words.hex").exists()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("width", "depth"), [(8, 17), (8, 128), (5, 100), (2, 33)])
def test_a_small_ram_without_words_gives_what_was_written_last(family, width, depth, tmp_path):
    source = random.Random(14)
    held: dict[int, int] = {}
    bits = (depth - 1).bit_length()
    rows, wanted = [], []
    for number in range(2000):
        address = source.choice([0, *held])
        place = number if number < depth else source.randrange(depth)
        word = source.getrandbits(width)
        enable = address != place and (number < depth or source.random() < 0.5)
        rows.append(address | place << bits | word << 2 * bits | enable << 2 * bits + width)
        wanted.append(held.get(address))
        if enable:
            held[place] = word
    seen = outputs(Ram(width, depth, []), rows, family=family, folder=tmp_path, roms={})
    pairs = list(zip(seen[BlockRam.latency - 1 :], wanted, strict=False))
    assert sum(want is not None for _, want in pairs) > 1900
    assert all(int(bits[::-1], 2) == want for bits, want in pairs if want is not None)


@pytest.mark.parametrize(("family", "width", "depth"), SHAPES)
def test_a_ram_gives_what_was_written_last(family, width, depth, tmp_path):
    source = random.Random(12)
    words = random_words(width, depth // 3, 13)
    contents = RomContents(width, depth, words, "ram")
    held = words + [0] * (depth - len(words))
    bits = (depth - 1).bit_length()
    rows, wanted = [], []
    for _ in range(3000):
        # Few places, so that they are written and read many times; never both in one clock.
        low = source.choice((0, depth // 2, depth - 16))
        address, place = low + source.randrange(16), low + source.randrange(16)
        enable = address != place and source.random() < 0.5
        word = source.getrandbits(width)
        rows.append(address | place << bits | word << 2 * bits | enable << 2 * bits + width)
        wanted.append(held[address])
        if enable:
            held[place] = word
    seen = outputs(Ram(width, depth, words), rows, family=family, folder=tmp_path, roms={"words": contents})
    found = [int(bits[::-1], 2) for bits in seen[BlockRam.latency - 1 :]]
    assert found == wanted[: len(found)]


@pytest.mark.parametrize(("width", "depth", "blocks"), [(50, 576, 3), (70, 512, 2), (65, 64, 2), (9, 2048, 1)])
def test_an_ecp5_memory_is_blocks_with_output_registers(width, depth, blocks, tmp_path):
    words = random_words(width, depth, 14)
    outputs(
        Ram(width, depth, words),
        [0],
        family="ecp5",
        folder=tmp_path,
        roms={"words": RomContents(width, depth, words, "ram")},
    )
    verilog = (tmp_path / "ropewalk.v").read_text()
    assert len(re.findall(r"^  DP16KD #\(", verilog, re.MULTILINE)) == blocks
    assert verilog.count('.REGMODE_A("OUTREG")') == verilog.count('.REGMODE_B("OUTREG")') == blocks
    assert "always" not in verilog


@pytest.mark.parametrize(
    ("width", "depth", "blocks"),
    # The steps of 8 slots of 256 pairs and of the spare one: 50 bits take 13 blocks of 4,096 words of 4 bits, or 6 of
    # 2,048 words of 9 and 2 of 512 words of 36. Of 128 pairs: 6, where two rows would take 5.
    [(50, 2304, 6 + 2), (50, 1152, 6), (36, 4100, 9 + 1), (50, 4096, 13), (9, 2100, 3)],
)
def test_a_few_words_too_many_for_wide_words_have_blocks_of_their_own(width, depth, blocks, tmp_path):
    contents = RomContents(width, depth, [], "ram")
    outputs(Ram(width, depth, []), [0], family="ecp5", folder=tmp_path, roms={"words": contents})
    verilog = (tmp_path / "ropewalk.v").read_text()
    assert len(re.findall(r"^  DP16KD #\(", verilog, re.MULTILINE)) == blocks


@pytest.mark.parametrize(("width", "depth"), [(36, 512), (18, 1024), (9, 2048), (4, 4096), (2, 8192), (1, 16384)])
def test_initial_values_are_those_that_yosys_gives_an_inferred_ram(width, depth):
    words = random_words(width, depth, 15)
    text = "".join(f"{word:x}\n" for word in words)
    verilog = f"""
module ropewalk(
  input clk, write, input [{(depth - 1).bit_length() - 1}:0] place, address, input [{width - 1}:0] word,
  output reg [{width - 1}:0] data
);
  (* ram_style = "block", no_rw_check *) reg [{width - 1}:0] words [0:{depth - 1}];
  initial $readmemh("words.hex", words);
  always @(posedge clk) data <= words[address];
  always @(posedge clk) if (write) words[place] <= word;
endmodule
"""
    synthesis = synthesise({"ropewalk.v": verilog, "words.hex": text})
    (block,) = [cell for cell in synthesis.netlist["modules"]["ropewalk"]["cells"].values() if cell["type"] == "DP16KD"]
    assert int(block["parameters"]["DATA_WIDTH_B"], 2) == width
    ours = initial_values(words, width)
    assert [int(block["parameters"][f"INITVAL_{row:02X}"], 2) for row in range(64)] == ours
