"""What four software stacks rotated, in six emitted engines whose slots are loaded over AXI4-Lite.

``scripts/golden`` prints the same as a table. ``tests/golden`` has what both do.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ropewalk.tables.slot_words import slot_load_words
from ropewalk_sim.exact import exact_axes

TESTS = Path(__file__).parents[2]
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(TESTS))
    from golden.cases import LIMIT, Case, all_cases, case_of, cases_of
    from golden.engine import FULL_SCALE, MADE_FOR, Found, engines, pair_places, quantised, run_cases
    from golden.judge import STILL, angle_error, judge
    from golden.vectors import CONFIGURATIONS, RAW, arrays, result_of

CASES = [(case.name, case.stack) for case in all_cases()]
MEASURED = {"hf": 0.0762, "vllm": 0.0762, "llama.cpp": 0.182}
"""Radians by which unscaled float32 angles were seen to be off at position 1,048,575, the worst of six bases."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Found]:
    """Every case, by configuration and stack, after it went through the engine of its head size."""
    made = {}
    for head_dim, engine in engines(MADE_FOR, tmp_path_factory.mktemp("golden")):
        for one in run_cases(cases_of(head_dim), engine):
            made[one.case.name, one.case.stack] = one
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stack"), CASES)
def test_bit_for_bit_within_the_bound_of_exact_and_within_the_softwares_own_error(name, stack, found) -> None:
    one = found[name, stack]
    assert one.differing_bits == 0
    assert one.wrong_crcs == 0
    for verdict in judge(one):
        assert verdict.worst_lsb <= (0.75 if verdict.amplitude <= 1 else 0.90), verdict
        assert verdict.share <= 1, verdict
        assert verdict.good


def test_every_configuration_is_there_and_eight_engines_are_enough() -> None:
    assert {name for name, _ in CASES} == {*CONFIGURATIONS, *RAW}
    recorded = {tuple(key.split("/")[:2]) for key in arrays() if key.endswith("/q_rot_f32")}
    assert {(stack, name) for name, stack in CASES} == recorded
    assert {case.vectors.shape[1] for case in all_cases()} == set(MADE_FOR)
    assert len(MADE_FOR) <= 8
    reached = Counter(int(case.position.max()) for case in all_cases() if case.stack == "hf")
    assert max(reached) == LIMIT - 1 == 1_048_575
    assert reached[LIMIT - 1] == len(CONFIGURATIONS) - 3  # GPT-J was recorded to 131,071, two have axes


@pytest.mark.parametrize("name", [name for name in CONFIGURATIONS if "attention_scaling" in CONFIGURATIONS[name]])
def test_the_exact_frequencies_are_those_of_the_software_in_float64(name) -> None:
    for load in case_of(name, "hf").loads:
        ours = np.array([float(frequency) for frequency in load.frequencies])
        assert load.amplitude == pytest.approx(CONFIGURATIONS[name]["attention_scaling"], rel=1e-15)
        if load.software is not None:
            key = next(key for key, array in arrays().items() if array is load.software)
            assert ours == pytest.approx(arrays()[key.replace("f32", "ref64")], rel=1e-13, abs=0)


def test_vectors_go_to_full_scale_and_not_past_it() -> None:
    for case in all_cases():
        words, scale = quantised(case)
        pairs = words[:, np.stack(pair_places(case.design, coming=True))]
        longest = np.maximum(np.hypot(pairs[:, 0], pairs[:, 1]).max(axis=1), np.abs(words).max(axis=1))
        assert (longest <= FULL_SCALE).all()
        assert (longest > FULL_SCALE / 2 - 1).all()  # half the scale would not do
        assert (np.log2(scale) % 1 == 0).all()
        assert (np.abs(words * scale - case.vectors) <= scale / 2).all()


def test_a_slot_has_the_same_words_from_an_engine_of_one_order_and_of_both() -> None:
    layouts = Counter()
    for case in all_cases():
        for load in case.loads:
            both = replace(load.design, input_pairing="both", output_pairing="both")
            words = slot_load_words(load.design, load.variant)
            assert words == slot_load_words(both, load.variant)
            layouts[words[1]] += 1
            shape = load.design.geometry
            assert words[1] == (shape.pairing == "half") + 2 * (shape.output_pairing == "half")
    assert set(layouts) == {0, 2, 3}  # interleaved, DeepSeek's, half


def test_the_allowed_error_of_the_software_is_of_the_size_that_was_seen() -> None:
    for case in all_cases():
        worst = max(angle_error(case, load).max() for load in case.loads)
        assert worst <= 2.5 * MEASURED[case.stack], case.name


def test_llama_cpp_leaves_two_pairs_of_qwen3_vl_as_they_are() -> None:
    case = case_of("qwen3_vl_8b_imrope", "llama.cpp")
    result = result_of(case.name, case.stack)
    untouched = (np.abs(result - case.vectors[:1]) < 1e-6).all(axis=(0, 1))
    assert np.flatnonzero(untouched).tolist() == [*STILL, *(pair + 64 for pair in STILL)]


def worst_lsb(one: Found, **changes) -> float:
    """The distance from the exact rotation of a case that is not quite what which went through the engine."""
    loads = tuple(replace(load, **{key: of(load) for key, of in changes.items()}) for load in one.case.loads)
    case: Case = replace(one.case, loads=loads)
    return max(verdict.worst_lsb for verdict in judge(replace(one, case=case)))


@pytest.mark.slow
def test_mistakes_are_seen(found) -> None:
    llama = found["llama31_8b", "hf"]
    assert worst_lsb(llama) < 0.75
    # a float32 angle, as the software has it; an amplitude that is a tenth of a thousandth off
    assert worst_lsb(llama, frequencies=lambda load: load.software.astype(float).tolist()) > 300
    assert worst_lsb(llama, amplitude=lambda load: load.amplitude * 1.0001) > 1.5
    # the lists of longrope, and the lengths of dynamic NTK, the wrong way round
    for name in ("phi35_mini_longrope", "internlm2_dynamic2"):
        other = iter([load.frequencies for load in found[name, "hf"].case.loads][::-1])
        assert worst_lsb(found[name, "hf"], frequencies=lambda _, other=other: next(other)) > 1000
    # the axes of the other model
    sections = json.loads((TESTS / "data" / "golden_rope.json").read_text())["configurations"]
    for name, interleaved in (("qwen2_vl_7b_mrope", False), ("qwen3_vl_8b_imrope", True)):
        axis = exact_axes(sections[name]["mrope_section"], interleaved=not interleaved)
        assert worst_lsb(found[name, "hf"], axis=lambda _, axis=axis: axis) > 1000
    # YaRN's range of whole pairs, for the one of gpt-oss
    fractional, whole = found["gpt_oss_20b", "hf"], found["gpt_oss_20b_truncate_true", "hf"]
    assert worst_lsb(fractional, frequencies=lambda _: whole.case.loads[0].frequencies) > 1000
    # one bit of one element
    data = llama.data.copy()
    data[4, 1, 7] ^= 1
    assert not all(verdict.good for verdict in judge(replace(llama, data=data)))
