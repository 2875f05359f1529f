"""What the units' engines are compared with: every bit that counts, and no other."""

from dataclasses import dataclass

import numpy as np
import pytest
from ropewalk_sim.units.streams import UnitOutput
from ropewalk_sim.units.unit import compare_octets, first_tokens


def output(beats=3, **changes):
    """Beats of four octets, all 0 and kept."""
    fields = {
        "data": np.zeros((beats, 4), np.uint8),
        "keep": np.ones((beats, 4), bool),
        "tid": np.zeros(beats, np.uint8),
        "user": np.zeros(beats, np.uint8),
        "last": np.zeros(beats, bool),
    }
    return UnitOutput(**(fields | changes))


DATA = np.zeros((3, 4), np.uint8)
DATA[1, 2] = 3
KEEP = np.ones((3, 4), bool)
KEEP[1, 2] = False


@pytest.mark.parametrize(
    ("got", "bits", "first"),
    [
        (output(), 0, None),
        (output(data=DATA), 2, "beat 1, octet 2: data is 3 and should be 0"),
        (output(keep=KEEP), 1, "beat 1, octet 2: keep is 0 and should be 1"),
        (output(last=np.array([False, False, True])), 1, "beat 2: last is 1 and should be 0"),
        (output(tid=np.array([0, 5, 0], np.uint8), data=DATA), 4, "beat 1, octet 2: data is 3 and should be 0"),
        (output(user=np.array([1, 0, 0], np.uint8), data=DATA), 3, "beat 0: user is 1 and should be 0"),
        (output(2), 4 * 8 + 4 + 8 + 1 + 1, "2 beats came out and should be 3"),
        (output(4), 4 * 8 + 4 + 8 + 1 + 1, "4 beats came out and should be 3"),
    ],
)
def test_every_bit_counts(got, bits, first):
    found = compare_octets(output(), got)
    assert (found.differing_bits, found.first) == (bits, first)


def test_octets_that_are_not_kept_do_not_count():
    assert compare_octets(output(keep=KEEP), output(keep=KEEP, data=DATA)).differing_bits == 0


@dataclass(frozen=True)
class Stream:
    """A stream of four tokens, of 1, 2, 3 and 1 beats."""

    descriptors: np.ndarray
    data: np.ndarray
    last: np.ndarray


@pytest.mark.parametrize(
    ("beats", "tokens", "end"), [(0, 1, 1), (1, 1, 1), (2, 2, 3), (3, 2, 3), (4, 3, 6), (99, 4, 7)]
)
def test_the_first_tokens_are_whole(beats, tokens, end):
    last = np.array([1, 0, 1, 0, 0, 1, 1], bool)
    cut = first_tokens(Stream(np.arange(4), np.arange(7), last), beats)
    assert (len(cut.descriptors), cut.data.tolist(), len(cut.last)) == (tokens, list(range(end)), end)
