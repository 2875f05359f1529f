"""Registers at the ports of a netlist."""

import copy

import pytest
from ropewalk.boards.boundary import add_boundary
from ropewalk.boards.families import ECP5, GW1N, ICE40
from ropewalk.boards.synthesis import synthesise


@pytest.fixture(scope="module")
def netlists():
    made = {}

    def netlist(family, files):
        if family.name not in made:
            made[family.name] = synthesise(files, family=family).netlist["modules"]["ropewalk"]
        return copy.deepcopy(made[family.name])

    return netlist


@pytest.mark.parametrize(("family", "cell"), [(ECP5, "TRELLIS_FF"), (ICE40, "SB_DFF"), (GW1N, "DFF")])
def test_a_register_at_every_bit_that_is_used(family, cell, counter, netlists):
    before = netlists(family, counter.files)
    module = copy.deepcopy(before)
    assert add_boundary(module, "clk", family.register, ports=True) == 16 + 16
    added = {name: cell for name, cell in module["cells"].items() if name not in before["cells"]}
    assert {one["type"] for one in added.values()} == {cell}
    register = family.register
    clock = before["ports"]["clk"]["bits"][0]
    assert all(one["connections"][register.clock] == [clock] for one in added.values())
    # Every input feeds one register and nothing else, every output comes from one.
    fed = [one["connections"][register.data][0] for one in added.values()]
    assert set(before["ports"]["step"]["bits"]) <= set(fed)
    driven = [one["connections"][register.output][0] for one in added.values()]
    assert set(module["ports"]["count"]["bits"]) <= set(driven)
    assert not set(module["ports"]["count"]["bits"]) & set(before["ports"]["count"]["bits"])


def test_without_ports_only_the_clock_stays(counter, netlists):
    module = netlists(ICE40, counter.files)
    add_boundary(module, "clk", ICE40.register, ports=False)
    assert list(module["ports"]) == ["clk"]
    inputs = [cell for name, cell in module["cells"].items() if name.startswith("boundary_step")]
    assert [cell["connections"]["D"] for cell in inputs] == [["0"]] * 16


def test_a_clock_from_a_pin_gets_its_buffer(counter, netlists):
    module = netlists(GW1N, counter.files)
    inside = module["ports"]["clk"]["bits"]
    add_boundary(module, "clk", GW1N.register, ports=False)
    buffer = module["cells"]["boundary_clock"]
    assert buffer["type"] == "IBUF"
    assert buffer["connections"] == {"I": module["ports"]["clk"]["bits"], "O": inside}


@pytest.mark.parametrize("name", ["clock", "step", "count"])
def test_what_is_no_clock_is_refused(name, counter, netlists):
    with pytest.raises(ValueError, match=f"no clock {name}"):
        add_boundary(netlists(ECP5, counter.files), name, ECP5.register, ports=True)
