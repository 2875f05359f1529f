"""The names of parts, and how each is told to its placer."""

import pytest
from ropewalk.boards.parts import part_of
from ropewalk.errors import InputError


@pytest.mark.parametrize("size", [12, 25, 45, 85])
@pytest.mark.parametrize("speed", [6, 7, 8])
def test_every_size_and_speed_of_ecp5(size, speed):
    part = part_of(f"LFE5U-{size}F-{speed}")
    assert part.name == f"LFE5U-{size}F-{speed}"
    assert part.placer_options == (f"--{size}k", "--speed", str(speed), "--package", "CABGA381")


@pytest.mark.parametrize(
    ("name", "package"),
    [("LFE5U-25F-6BG256C", "CABGA256"), ("lfe5u-85f-8bg756i", "CABGA756"), ("LFE5U-12F-7-TG144", "TQFP144")],
)
def test_a_package_may_follow(name, package):
    assert part_of(name).placer_options[-1] == package


def test_the_other_parts():
    assert part_of("iCE40UP5K-SG48").family.name == "ice40"
    assert part_of("GW1NR-LV9QN88PC6/I5").placer_options[-1] == "family=GW1N-9C"
    assert part_of("GW2A-LV18PG256C8/I7").placer_options[-1] == "family=GW2A-18C"
    for name in ("xc7a35t", "xc7a100t", "xc7a35ticsg324-1L"):
        assert part_of(name).placer is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LFE5U-85F", "there is no part LFE5U-85F; these can be built for: LFE5U-12F-6"),
        ("LFE5U-85F-9", "there is no part LFE5U-85F-9"),
        ("LFE5U-85F-6BG256", "LFE5U-85F has no package BG256; its packages are BG381, BG554, BG756, MG285"),
        ("xc7k325t", "XC7A35T and XC7A100T"),
        ("", "there is no part"),
    ],
)
def test_a_part_that_there_is_not_is_refused(name, said):
    with pytest.raises(InputError, match=said):
        part_of(name)
