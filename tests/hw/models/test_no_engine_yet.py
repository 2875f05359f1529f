"""Models that import and that no engine of this version can be made for: one sentence, and nothing left behind."""

import pytest
from ropewalk.design import Design
from ropewalk.design_checks import check_engine
from ropewalk.emit.folder import write_design_folder
from ropewalk.errors import InputError
from ropewalk.lanes import default_lanes

GEMMA_4 = {"model_type": "gemma4_text", "num_hidden_layers": 6, "num_global_key_value_heads": 2}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (GEMMA_4, r"\(full_attention: 512 elements, sliding_attention: 256 elements\).* --only NAME"),
    ],
)
def test_what_has_no_engine_yet_is_refused(read, tmp_path, config, message):
    found = read(config)
    design = Design(geometry=found, lanes=default_lanes(found))
    with pytest.raises(InputError, match=message):
        write_design_folder(design, tmp_path / "design")
    assert not (tmp_path / "design").exists()


def test_one_variant_of_two_sizes_has_an_engine(read):
    for name, head_dim in (("sliding_attention", 256), ("full_attention", 512)):
        design = Design(geometry=read(GEMMA_4).only(name), lanes=4)
        check_engine(design)
        assert design.beats_per_head == head_dim // 8
