"""The sequencer's model, against positions that are written out."""

import numpy as np
import pytest
from ropewalk_sim.sequencer import Command, command_words, sequence


def positions(*commands: Command, **options) -> list[int]:
    return sequence(commands, **options)[0][:, 1].tolist()


def test_decode_goes_on_where_prefill_ended() -> None:
    assert positions(Command(start=0, count=4), Command(decode=True), Command(decode=True)) == [0, 1, 2, 3, 4, 5]


def test_a_prefill_in_pieces_is_a_prefill_in_one() -> None:
    assert (
        positions(Command(start=5, count=2), Command(count=3))
        == positions(Command(start=5, count=5))
        == [*range(5, 10)]
    )


def test_a_count_of_0_makes_nothing_and_can_set_the_counter() -> None:
    assert positions(Command(count=0), Command(start=70, count=0), Command(count=0), Command(decode=True)) == [70]


def test_decode_looks_at_no_count_and_can_set_the_counter() -> None:
    assert positions(Command(start=9, count=77, decode=True), Command(decode=True)) == [9, 10]


def test_the_counter_stays_at_its_end() -> None:
    descriptors, counter = sequence([Command(start=2**32 - 2, count=4), Command(decode=True)])
    assert descriptors[:, 1].tolist() == [2**32 - 2] + [2**32 - 1] * 4
    assert counter == 2**32
    assert positions(Command(decode=True), counter=counter) == [2**32 - 1]


def test_the_fields_stand_in_their_places() -> None:
    command = Command(slot=0x12, flags=0x34, tag=0xFE, start=0x89ABCDEF, count=3, same_tag=False)
    assert command_words([command]).tolist() == [[0x01FE3412, 0x89ABCDEF, 3, 0]]
    descriptors, _ = sequence([command], axes=3)
    assert descriptors.tolist() == [
        [0x00FE3412, *3 * [0x89ABCDEF]],
        [0x00FF3412, *3 * [0x89ABCDF0]],
        [0x00003412, *3 * [0x89ABCDF1]],
    ]
    assert command_words([Command(tag=7, decode=True, same_tag=True)]).tolist() == [[0x06070000, 0, 0, 0]]
    assert sequence([Command(tag=7, count=3, same_tag=True)])[0][:, 0].tolist() == [7 << 16] * 3


def test_nothing_makes_nothing() -> None:
    assert command_words([]).shape == (0, 4)
    descriptors, counter = sequence([], counter=5)
    assert (descriptors.shape, descriptors.dtype, counter) == ((0, 2), np.uint32, 5)


@pytest.mark.parametrize("values", [{"slot": 256}, {"tag": -1}, {"start": 2**32}, {"count": -1}, {"flags": 300}])
def test_what_does_not_fit_its_field_is_refused(values) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(values))} must be from 0 to"):
        Command(**values)


def test_more_than_memory_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 16777216 descriptors"):
        sequence([Command(count=2**32 - 1)])
