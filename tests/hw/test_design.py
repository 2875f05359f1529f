"""A design's choices: what fits and what is refused, with the sentence that the user reads."""

import json
from dataclasses import replace

import pytest
from ropewalk.design import Design
from ropewalk.design_checks import check_engine
from ropewalk.design_json import design_from_json, design_to_json
from ropewalk.errors import InputError
from ropewalk.formats import Format
from ropewalk.lanes import default_lanes, fitting_lanes
from ropewalk.models import read_model
from ropewalk.sine_format import SineFormat

GEMMA = read_model("gemma-3-270m")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"lanes": 3, "input_pairing": "interleaved", "output_pairing": "interleaved"},
            "3 lanes do not fit head_dim 256: 2 x lanes must divide it; these do: 1, 2, 4, 8, 16, 32, 64, 128",
        ),
        (
            {"lanes": 0},
            "0 lanes do not fit head_dim 256: 2 x lanes must divide it, and for half order lanes must divide "
            "rotary_dim / 2 = 128 and rotary_start = 0 of variant full_attention; these do: 1, 2, 4, 8, 16, 32, 64, "
            "128",
        ),
        ({"input_pairing": "full"}, "input pairing must be half, interleaved, paired or both, not 'full'"),
        ({"output_pairing": "pairs"}, "output pairing must be half, interleaved, paired or both, not 'pairs'"),
        ({"data_width": 33}, "data width must be an integer from 4 to 32, not 33"),
        ({"coefficient_width": 7}, "coefficient width must be an integer from 8 to 24, not 7"),
        ({"phase_bits": 49}, "phase bits must be an integer from 16 to 48, not 49"),
        ({"slots": 1}, "the model has 2 variants, which do not fit 1 slots"),
        ({"positions": 0}, "positions must be an integer from 1 to 16777216, not 0"),
        ({"positions": (1 << 24) + 1}, "positions must be an integer from 1 to 16777216, not 16777217"),
        ({"source": "rom"}, "source must be synth or table, not 'rom'"),
        *(
            ({"clocks_per_pair": clocks}, f"clocks per pair must be 1, 2, 4 or 8, not {clocks}")
            for clocks in (0, 3, 6, 16, -1, True)
        ),
        (
            {"clocks_per_pair": 4, "source": "table", "positions": 64},
            "a table takes no multipliers that 4 clocks per pair could share: use the synth source, or 1 clock per "
            "pair",
        ),
    ],
)
def test_refusals(options, sentence) -> None:
    with pytest.raises(InputError) as error:
        Design(geometry=GEMMA, **{"lanes": 4, **options})
    assert str(error.value) == sentence


@pytest.mark.parametrize("amplitude", [0.0, -1.0, 2.0, 1e300, float("inf"), float("nan")])
def test_an_amplitude_that_no_slot_holds_is_refused(amplitude: float) -> None:
    loud = replace(GEMMA.variants[1], amplitude=amplitude)
    with pytest.raises(
        InputError, match="the amplitude of variant sliding_attention is .*; an engine holds amplitudes"
    ):
        Design(geometry=replace(GEMMA, variants=(GEMMA.variants[0], loud)), lanes=4)
    largest = replace(loud, amplitude=2 - 2.0**-17)
    assert Design(geometry=replace(GEMMA, variants=(largest,)), lanes=4).variants[0].amplitude > 1.99


def test_a_table_that_no_part_could_hold_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"a table of 65536 positions x 128 pairs takes 319 Mbit, more than any block RAM"
    ):
        Design(geometry=GEMMA, lanes=4, source="table")
    assert Design(geometry=GEMMA, lanes=4, source="table", positions=512).row_entry_bits == 38


@pytest.mark.parametrize(
    ("head_dim", "lanes"), [(256, 4), (16, 4), (100, 2), (20, 2), (12, 2), (6, 1), (80, 4), (2, 1)]
)
def test_the_default_lanes(head_dim: int, lanes: int) -> None:
    geometry = replace(GEMMA, head_dim=head_dim, pairing="interleaved", output_pairing="interleaved")
    assert default_lanes(geometry) == lanes
    assert all(head_dim % (2 * fitting) == 0 for fitting in fitting_lanes(geometry))


@pytest.mark.parametrize(
    ("head_dim", "rotary_dim", "rotary_start", "lanes"),
    [(80, 20, 0, 2), (96, 96, 0, 4), (100, 100, 0, 2), (192, 64, 128, 4), (64, 48, 6, 2), (64, 6, 0, 1)],
)
def test_half_order_takes_lanes_that_divide_the_slice(head_dim, rotary_dim, rotary_start, lanes) -> None:
    geometry = replace(GEMMA, head_dim=head_dim, rotary_dim=rotary_dim, rotary_start=rotary_start)
    for orders in (("half", "half"), ("interleaved", "half"), ("half", "interleaved"), ("paired", "interleaved")):
        assert default_lanes(geometry, *orders) == lanes
    for fitting in fitting_lanes(geometry):
        assert rotary_dim // 2 % fitting == 0
        assert rotary_start % fitting == 0


def test_the_models_own_order_is_the_default_said_or_not() -> None:
    said = Design(geometry=GEMMA, lanes=4, input_pairing="half", output_pairing="half")
    assert said == Design(geometry=GEMMA, lanes=4)
    assert (said.input_buffer, said.output_buffer) == (True, True)
    mixed = replace(GEMMA, pairing="interleaved", output_pairing="half")
    design = Design(geometry=mixed, lanes=4)
    order = design.orders[0]
    assert (order.split_in, order.split_out, design.input_buffer, design.output_buffer) == (False, True, False, True)


def test_the_widths_of_the_default_sine() -> None:
    fmt = SineFormat(coefficient_width=18, phase_bits=48)
    assert (fmt.index_bits, fmt.reduced_phase_bits, fmt.cell_bits, fmt.word_bits) == (9, 29, 17, 71)


def test_the_containers() -> None:
    found = {width: Design(geometry=GEMMA, lanes=1, data_width=width).container_bits for width in (4, 8, 9, 16, 17, 32)}
    assert found == {4: 8, 8: 8, 9: 16, 16: 16, 17: 32, 32: 32}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"width": 0, "fraction_bits": 0}, ValueError),
        ({"width": 8, "fraction_bits": 1.5}, TypeError),
        ({"width": 8, "fraction_bits": 0, "rounding": "even"}, ValueError),
        ({"width": 8, "fraction_bits": 0, "overflow": "wrap"}, ValueError),
    ],
)
def test_a_format_must_make_sense(options, error) -> None:
    with pytest.raises(error, match="Format"):
        Format(**options)


def test_a_formats_range_and_rounding() -> None:
    fmt = Format(width=8, fraction_bits=3)
    assert (fmt.minimum, fmt.maximum, fmt.one) == (-128, 127, 8)
    assert fmt.rounding_word(10) == 64
    assert fmt.rounding_word(3) == 0
    assert replace(fmt, rounding="floor").rounding_word(10) == 0
    with pytest.raises(ValueError, match="coarser"):
        fmt.rounding_word(2)


VISION = read_model("qwen2.5-vl-3b")


def test_an_engine_has_the_axes_that_its_variants_need_or_more() -> None:
    assert (Design(geometry=GEMMA, lanes=4).axes, Design(geometry=VISION, lanes=4).axes) == (1, 3)
    assert [Design(geometry=GEMMA, lanes=4, position_axes=axes).axes for axes in (1, 2, 3)] == [1, 2, 3]
    assert Design(geometry=VISION, lanes=4, position_axes=3).axes == 3


@pytest.mark.parametrize(
    ("geometry", "options", "sentence"),
    [
        (
            VISION,
            {"position_axes": 2},
            "the model's positions have 3 axes, which do not fit an engine of 2: give 3 axes",
        ),
        (
            VISION,
            {"position_axes": 1},
            "the model's positions have 3 axes, which do not fit an engine of 1: give 3 axes",
        ),
        (GEMMA, {"position_axes": 0}, "axes must be an integer from 1 to 3, not 0"),
        (GEMMA, {"position_axes": 4}, "axes must be an integer from 1 to 3, not 4"),
        (GEMMA, {"position_axes": True}, "axes must be an integer from 1 to 3, not True"),
        *(
            (
                geometry,
                {"source": "table", "positions": 64, **options},
                f"a table holds one row per position, and here a row follows from positions on {axes} axes: use the "
                "synth source",
            )
            for geometry, options, axes in ((VISION, {}, 3), (GEMMA, {"position_axes": 2}, 2))
        ),
    ],
)
def test_axes_that_do_not_fit_are_refused(geometry, options, sentence) -> None:
    with pytest.raises(InputError) as error:
        Design(geometry=geometry, lanes=4, **options)
    assert str(error.value) == sentence


@pytest.mark.parametrize("axes", [None, 3])
def test_the_axes_come_back_from_design_json(axes) -> None:
    for geometry in (GEMMA, VISION):
        design = Design(geometry=geometry, lanes=4, position_axes=axes)
        written = json.loads(json.dumps(design_to_json(design, {})))
        assert design_from_json(written, "design.json") == design
    written["parameters"]["position_axes"] = 4
    with pytest.raises(InputError, match=r"design.json: parameters.position_axes"):
        design_from_json(written, "design.json")


def mixed(**options) -> Design:
    """Gemma with a third variant, which rotates two pairs in the middle of its heads and has more of them."""
    few = replace(GEMMA.variants[0], name="few", inverse_frequency=(1.0, 0.5), max_position=100)
    shape = replace(GEMMA.of(0), rotary_dim=4, rotary_start=100, query_heads=8, key_heads=2)
    geometry = replace(GEMMA, variants=(*GEMMA.variants, few)).with_shapes((GEMMA.of(0), GEMMA.of(1), shape))
    return Design(
        geometry=geometry, input_pairing="interleaved", output_pairing="interleaved", **{"lanes": 32, **options}
    )


def test_each_slot_has_its_shape_and_rate() -> None:
    design = mixed()
    assert [(shape.pairs, shape.first_pair) for shape in design.shapes] == [(128, 0), (128, 0), (2, 50)]
    # 4 query heads and 1 key head of 4 beats: 20 beats, and 128 or 2 clocks for a row
    assert design.rates == (20 / 128, 20 / 128, 1.0)
    assert design.beats_per_clock == 20 / 128
    assert (design.heads, design.slots_of_other_heads) == ((4, 1, 0), (2,))


def test_there_are_banks_enough_for_the_shortest_tokens() -> None:
    """48 clocks go by until a bank comes round: so many rows of a token's clocks, and one more, to a power of two."""
    fixed = {"registers": False, "geometry": mixed().geometry.only("few")}
    # A head has 4 beats, whatever its pairs: 12 rows and one more.
    assert mixed().row_banks == replace(mixed(), **fixed).row_banks == 16
    # 128 pairs take longer than that, where no slot can be loaded that has fewer.
    assert Design(geometry=GEMMA, lanes=32, registers=False).row_banks == 4
    assert Design(geometry=GEMMA, lanes=32).row_banks == 16
    assert Design(geometry=GEMMA, lanes=4).row_banks == 4


def test_a_table_counts_each_variants_own_pairs() -> None:
    with pytest.raises(InputError, match=r"a table of 48900 positions x 2 to 128 pairs takes 160 Mbit"):
        mixed(source="table", positions=16_300)
    # 2 x 16,250 x 128 entries and 16,250 x 2 more are just below 2^22; with 128 pairs each they would not be.
    assert mixed(source="table", positions=16_250).limits == (16_250,) * 3


def test_other_head_counts_take_registers() -> None:
    check_engine(mixed())
    with pytest.raises(InputError, match=r"few: 8 query and 2 key heads\), and an engine without registers"):
        check_engine(mixed(registers=False))
    check_engine(Design(geometry=GEMMA, lanes=4, registers=False))
    with pytest.raises(InputError, match="query heads must be an integer from 1 to 255, not 256"):
        loud = replace(GEMMA.variants[1], query_heads=256)
        Design(geometry=replace(GEMMA, variants=(GEMMA.variants[0], loud)), lanes=4)
