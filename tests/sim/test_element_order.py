"""Element orders by hand, and rotated arrays against the model code that everybody runs."""

from itertools import product

import numpy as np
import pytest
from ropewalk.design import Design
from ropewalk.geometry.rotary import RotaryGeometry, Variant
from ropewalk_sim.beats import PASS, descriptor_words, whole_tokens
from ropewalk_sim.element_order import beats_let_out, inverse_order, layout_order, moved
from ropewalk_sim.stream import StreamInput, pack_run, unpack_run
from ropewalk_sim.stream_model import run_model


def make_design(pairing="half", given=None, *, head_dim=16, rotary_dim=8, rotary_start=4, lanes=2, **options):
    frequencies = tuple(1e4 ** (-2 * pair / rotary_dim) for pair in range(rotary_dim // 2))
    geometry = RotaryGeometry(
        model_type="test", head_dim=head_dim, rotary_dim=rotary_dim, rotary_start=rotary_start, query_heads=2,
        key_heads=1, pairing=pairing, output_pairing=given or pairing, layers=None,
        variants=(Variant(name="one", inverse_frequency=frequencies, amplitude=1.0, max_position=1 << 20),),
    )  # fmt: skip
    return Design(geometry=geometry, lanes=lanes, **options)


@pytest.mark.parametrize(
    ("layout", "start", "lanes", "expected"),
    [
        # Pair i is (2i, 2i + 1) of the slice in pair order; the slice has four pairs.
        ("interleaved", 2, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
        ("half", 2, 1, [0, 1, 2, 4, 6, 8, 3, 5, 7, 9, 10, 11]),
        ("half", 4, 2, [0, 1, 2, 3, 4, 6, 8, 10, 5, 7, 9, 11]),
        ("paired", 4, 2, [0, 1, 2, 3, 4, 6, 5, 7, 8, 10, 9, 11]),
        # The slice starts in mid-beat: elements 0, 1 and 10, 11 share the beat behind the pairs.
        ("paired", 2, 2, [2, 4, 3, 5, 6, 8, 7, 9, 0, 1, 10, 11]),
        ("paired", 0, 1, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ],
)
def test_orders_by_hand(layout, start, lanes, expected) -> None:
    order = layout_order(layout, head_dim=12, rotary_start=start, rotary_dim=8, lanes=lanes)
    assert order.tolist() == expected
    assert order[inverse_order(order)].tolist() == list(range(12))


def test_heads_move_between_orders() -> None:
    design = make_design(rotary_start=0, rotary_dim=8, head_dim=8)
    head = np.array([10, 11, 12, 13, 20, 21, 22, 23])
    assert moved(head, design, 0, "half", "interleaved").tolist() == [10, 20, 11, 21, 12, 22, 13, 23]
    assert moved(head, design, 0, "half", "paired").tolist() == [10, 11, 20, 21, 12, 13, 22, 23]
    assert moved(head, design, 0, "half", "half").tolist() == head.tolist()


def rotate_half(x: np.ndarray) -> np.ndarray:
    """As in Hugging Face's models of half pairing."""
    half = x.shape[-1] // 2
    return np.concatenate((-x[..., half:], x[..., :half]), axis=-1)


def rotate_every_two(x: np.ndarray) -> np.ndarray:
    """As in GPT-J's."""
    return np.stack((-x[..., 1::2], x[..., ::2]), axis=-1).reshape(x.shape)


def software(design: Design, x: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Heads ``[tokens, heads, head_dim]`` as the models' own code rotates them, in float64."""
    geometry = design.geometry
    angles = np.outer(position, geometry.variants[0].inverse_frequency)[:, None]
    inside = slice(geometry.rotary_start, geometry.rotary_start + geometry.rotary_dim)
    y = x.copy()
    rotary = x[..., inside]
    if (geometry.pairing, geometry.output_pairing) == ("interleaved", "interleaved"):
        twice = np.repeat(angles, 2, axis=-1)
        y[..., inside] = rotary * np.cos(twice) + rotate_every_two(rotary) * np.sin(twice)
        return y
    if geometry.pairing == "interleaved":
        # DeepSeek-V3: view(.., d / 2, 2).transpose, then as half.
        rotary = rotary.reshape(*rotary.shape[:-1], -1, 2).swapaxes(-1, -2).reshape(rotary.shape)
    twice = np.concatenate((angles, angles), axis=-1)
    y[..., inside] = rotary * np.cos(twice) + rotate_half(rotary) * np.sin(twice)
    return y


@pytest.mark.parametrize("own", [("half", "half"), ("interleaved", "interleaved"), ("interleaved", "half")])
@pytest.mark.parametrize(
    "streams", [None, *product(("half", "interleaved", "paired", "both"), ("half", "interleaved", "paired", "both"))]
)
@pytest.mark.parametrize(("rotary_dim", "rotary_start"), [(16, 0), (8, 0), (8, 8), (8, 4), (4, 2)])
def test_arrays_are_in_the_models_order_whatever_the_streams_have(own, streams, rotary_dim, rotary_start) -> None:
    chosen = dict(zip(("input_pairing", "output_pairing"), streams, strict=True)) if streams else {}
    design = make_design(*own, rotary_dim=rotary_dim, rotary_start=rotary_start, value_heads=1, **chosen)
    rng = np.random.default_rng(3)
    position = np.array([0, 1, 77, 40_000, 1 << 20])
    arrays = {name: rng.integers(-20_000, 20_000, (5, heads, 16)) for name, heads in zip("qkv", (2, 1, 1), strict=True)}
    packed = pack_run(design, {**arrays, "position": position})
    result = unpack_run(packed, run_model(design, packed.stream))
    assert result["error"].tolist() == [0, 0, 0, 0, 1]
    for name in "qk":
        expected = software(design, arrays[name].astype(float), position)
        assert np.abs(result[name][:4] - expected[:4]).max() <= 0.75
    # Not rotated, but in the order of the output.
    still = software(design, arrays["q"].astype(float), 0 * position)
    assert np.array_equal(result["q"][4], still[4])
    assert np.array_equal(result["v"], arrays["v"])


HEAD = list(range(1, 17))
"""Chunks of two: (1, 2), (3, 4), ... (15, 16)."""


def passed(design: Design, beats: int) -> list[int]:
    """The first query head of a token to pass of which only ``beats`` beats come."""
    whole = whole_tokens(design, descriptor_words(0, np.array([5]), flags=PASS), np.array([[HEAD] * sum(design.heads)]))
    last = np.zeros(beats, bool)
    last[-1] = True
    stream = StreamInput(descriptors=whole.descriptors, data=whole.data[:beats], tid=whole.tid[:beats], last=last)
    output = run_model(design, stream)
    assert output.user.tolist() == [0] * (beats - 1) + [1]
    assert output.last.tolist() == last.tolist()
    return output.data.reshape(-1).tolist()


def test_a_short_head_that_goes_out_in_the_order_it_came_in() -> None:
    assert passed(make_design(rotary_dim=16, rotary_start=0), 3) == HEAD[:12]
    assert passed(make_design("interleaved"), 2) == HEAD[:8]


def test_a_short_head_that_changes_order_has_zeros_for_what_never_came() -> None:
    to_half = make_design("interleaved", "half", rotary_dim=16, rotary_start=0)
    assert passed(to_half, 3) == [1, 3, 5, 7, 9, 11, 0, 0, 2, 4, 6, 8]
    from_half = make_design("interleaved", "interleaved", rotary_dim=16, rotary_start=0, input_pairing="half")
    assert passed(from_half, 3) == [1, 9, 2, 10, 3, 11, 4, 12, 5, 0, 6, 0]


def test_a_pair_whose_partner_never_came_is_not_rotated() -> None:
    design = make_design(rotary_dim=16, rotary_start=0)
    stream = StreamInput(
        descriptors=descriptor_words(0, np.array([1])),
        data=np.array(HEAD[:12]).reshape(3, 4),
        tid=np.zeros(3, np.uint8),
        last=np.array([False, False, True]),
    )
    data = run_model(design, stream).data.reshape(-1)
    # Elements 8 to 11 came, so pairs 0 to 3 are whole; pairs 4 to 7 are not.
    expected = software(design, np.array([[HEAD]], float), np.array([1]))[0, 0]
    assert np.abs(data[:4] - expected[:4]).max() < 0.6
    assert np.abs(data[8:12] - expected[8:12]).max() < 0.6
    assert data[4:8].tolist() == HEAD[4:8]


def test_what_is_held_back_when_a_head_stops_half_way() -> None:
    """Whole heads of four beats: pair beat p waits for beat 2 + p // 2, output beat 0 for pair beats 0 and 1."""
    half = make_design(rotary_dim=16, rotary_start=0)
    assert [beats_let_out(half, 0, came) for came in range(5)] == [0, 0, 0, 1, 4]
    to_half = make_design("interleaved", "half", rotary_dim=16, rotary_start=0)
    assert [beats_let_out(to_half, 0, came) for came in range(5)] == [0, 0, 1, 1, 4]
    from_half = make_design(rotary_dim=16, rotary_start=0, output_pairing="interleaved")
    assert [beats_let_out(from_half, 0, came) for came in range(5)] == [0, 0, 0, 2, 4]
    assert [beats_let_out(make_design("interleaved"), 0, came) for came in range(5)] == [0, 1, 2, 3, 4]
