"""The Verilog of a design on a board, for ``ropewalk build``: with the signature that the model gives its self-test."""

from collections.abc import Callable, Sequence
from pathlib import Path

from ropewalk.board_top.files import board_files
from ropewalk.boards.build import check_primitives
from ropewalk.boards.registry import Board
from ropewalk.boards.unit import Unit
from ropewalk.design import Design
from ropewalk.design_checks import CLOCKS_PER_PAIR
from ropewalk.emit.folder import load_design
from ropewalk.errors import InputError
from ropewalk_sim.board.signature import expected_signature


def board_unit(folder: Path, board: Board, *, baud: int, told: Callable[[str], None]) -> Unit:
    """The top of ``board`` around the engine of the design in ``folder``, made anew from its description.

    ``told`` is told each step.

    Raises
    ------
    InputError
        If the design is no rotary engine or is made of another family's primitives, or the board's clock does not give
        the rate.
    """
    design = load_design(folder)
    if not isinstance(design, Design):
        raise InputError(
            f"{folder} holds a unit for {design.geometry.model_type}, and the tops of boards are made for rotary "
            f"engines: build it with --part {board.part} --out-of-context"
        )
    check_primitives(design.family, board.device)
    told("signature of the self-test")
    expected = expected_signature(design)
    told("Verilog of the board")
    return Unit(files=board_files(design, board, expected=expected, baud=baud), clock="clk", family=design.family)


def smaller(folder: Path, larger: Sequence[str]) -> str:
    """What to do about a design in ``folder`` that its part has no room for; the boards ``larger`` have."""
    design = load_design(folder)
    options = []
    if isinstance(design, Design):
        if design.lanes > 1:
            options.append("--lanes 1")
        if design.source == "synth" and design.clocks_per_pair < CLOCKS_PER_PAIR[-1]:
            options.append(f"--clocks-per-pair {CLOCKS_PER_PAIR[-1]}")
        if design.registers:
            options.append("--no-registers")
        if design.slots > len(design.variants):
            options.append(f"--slots {len(design.variants)}")
    said = []
    if larger:
        said.append(f"these boards have room: {', '.join(larger)}")
    if options:
        said.append(f"generate it smaller: {', '.join(options)}")
    return "; or ".join(said) or "generate a smaller one"
