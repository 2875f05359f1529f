"""The names on a path: what a placer adds is taken off, and what the design did not name is left out."""

from ropewalk.boards.critical_path import Names, clock_names, critical_path
from ropewalk.boards.families import ECP5


def cell(kind, inputs, outputs):
    return {
        "type": kind,
        "connections": {**inputs, **outputs},
        "port_directions": {**dict.fromkeys(inputs, "input"), **dict.fromkeys(outputs, "output")},
    }


MODULE = {
    "netnames": {
        "ports.engine.framer.active": {"bits": [2]},
        "ports.active": {"bits": [2]},
        "ports.engine.entry$180.level": {"bits": [3, 4]},
        "$abc$77$o1": {"bits": [5]},
        "ports.engine.$33": {"bits": [6]},
        "ports.engine.x_LUT4_Z": {"bits": [7]},
        "product": {"bits": [8]},
    },
    "cells": {
        "$auto$ff.cc:337:slice$1": cell("TRELLIS_FF", {"DI": [7]}, {"Q": [2]}),
        "$auto$ff.cc:337:slice$2": cell("TRELLIS_FF", {"DI": [6]}, {"Q": [4]}),
        "$abc$77$lut": cell("LUT4", {"A": [2]}, {"Z": [6]}),
        "$flatten\\lane_0.\\a_cos.\\tile_0.$mul$x.v:4$7.mul": cell("MULT18X18D", {"A0": [2]}, {"P0": [8]}),
        "ports.rows.words.0.1": cell("DP16KD", {"ADA0": [2]}, {"DOA0": [9]}),
    },
}
"""Two registers, a look-up table before one of them, a multiplier, and one of the blocks of a memory."""


def step(net=None, *, source, sink):
    one = {"from": {"cell": source, "port": "Q"}, "to": {"cell": sink, "port": "D"}}
    return one if net is None else {**one, "net": net}


def test_nets_have_the_name_of_the_component_that_makes_them():
    names = Names(MODULE, ECP5)
    assert names.net("ports.active") == "ports.engine.framer.active"
    assert names.net("$glbnet$ports.active$TRELLIS_IO_IN") == "ports.engine.framer.active"
    assert names.net("ports.engine.entry$180.level[1]") == "ports.engine.entry.level[1]"
    for unnamed in ("$abc$77$o1", "ports.engine.$33", "ports.engine.x_LUT4_Z", "nothing", "nothing[3]"):
        assert names.net(unnamed) == ""


def test_cells_have_the_name_of_what_they_hold():
    names = Names(MODULE, ECP5)
    assert names.cell("ports.rows.words.0.1") == "ports.rows.words (DP16KD)"
    assert names.cell("$auto$ff.cc:337:slice$1") == "ports.engine.framer.active"
    # A look-up table and the register behind it as one cell, as an iCE40 has them.
    assert names.cell("$abc$77$lut_LC") == "ports.engine.entry.level[1]"
    assert names.cell("$flatten\\lane_0.\\a_cos.\\tile_0.$mul$x.v:4$7.mul") == "lane_0.a_cos.tile_0 (MULT18X18D)"
    assert names.cell("$nextpnr_added") == ""


def test_a_path_names_each_thing_once():
    first, table, last = "$auto$ff.cc:337:slice$1", "$abc$77$lut", "$auto$ff.cc:337:slice$2"
    path = [
        step(source=first, sink=first), step("ports.active", source=first, sink=table), step(source=table, sink=table),
        step("ports.engine.$33", source=table, sink=last),
    ]  # fmt: skip
    found = critical_path(path, Names(MODULE, ECP5))
    assert found == ("ports.engine.framer.active", "ports.engine.entry.level[1]")
    assert critical_path([], Names(MODULE, ECP5)) == ()


def test_clocks_of_one_name_are_told_apart():
    assert clock_names(["$glbnet$aclk$TRELLIS_IO_IN"]) == {"$glbnet$aclk$TRELLIS_IO_IN": "aclk"}
    assert clock_names(["clk_IBUF_I_O", "fast"]) == {"clk_IBUF_I_O": "clk", "fast": "fast"}
    assert clock_names(["clk", "clk$7"]) == {"clk": "clk", "clk$7": "clk$7"}
