"""Recipes in ``design.json``: they come back as they were, and nothing else is taken for one."""

import json
from pathlib import Path

import numpy as np
import pytest
from ropewalk.errors import InputError
from ropewalk.geometry.recipe import Recipe, recipe_from_json, recipe_to_json
from ropewalk.geometry.software import check_software, hf_frequencies, llamacpp_parameters

RECIPES = [
    Recipe(kind="default", base=10000.0, width=8),
    Recipe(kind="default", base=10000.0, width=7),
    Recipe(kind="linear", base=10000.0, width=8, factor=4.0, divisors=(1.0, 2.0, 3.0, 4.0)),
    Recipe(kind="dynamic", base=1e6, width=8, factor=2.0, original=4096, length=8192),
    Recipe(kind="llama3", base=5e5, width=8, factor=8.0, original=8192, low_freq_factor=1.0, high_freq_factor=4.0),
    Recipe(kind="yarn", base=1e6, width=8, factor=4.0, original=4096, beta_fast=32.0, beta_slow=1.0, truncate=False),
    Recipe(kind="longrope", base=10000.0, width=8, divisors=(1.0, 1.5, 2.0, 60.25)),
    Recipe(kind="proportional", base=1e6, width=8, rotated=1),
]
YARN = recipe_to_json(RECIPES[5])
MEASURED = json.loads((Path(__file__).parents[2] / "data" / "software_frequencies.json").read_text())


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.kind)
def test_round_trip(recipe):
    values = json.loads(json.dumps(recipe_to_json(recipe)))
    assert recipe_from_json(values, "file", "recipe.", 4) == recipe


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (3, "file: recipe must be an object, not 3"),
        ({}, "recipe.kind"),
        (YARN | {"kind": "ntk"}, "recipe.kind must be default, linear"),
        (YARN | {"base": "10000"}, "recipe.base"),
        (YARN | {"base": 1.0}, "must be above 1"),
        (YARN | {"width": 10}, "recipe.width must be that of 4 pairs"),
        (YARN | {"width": 7}, "width even"),
        (YARN | {"factor": 0.0}, "recipe.factor"),
        (YARN | {"original": 0}, "recipe.original"),
        (YARN | {"beta_fast": None}, "recipe.beta_fast is missing"),
        (YARN | {"truncate": 1}, "recipe.truncate"),
        (YARN | {"rotated": 2}, "'rotated' is not a key of a recipe of the type yarn"),
        (YARN | {"divisors": [1, 2, 3]}, "recipe.divisors must be a list of 4 numbers"),
        (YARN | {"divisors": [1, 2, 3, 0]}, "recipe.divisors[3]"),
        ({"kind": "longrope", "base": 1e4, "width": 8, "factor": 1.0}, "recipe.divisors is missing"),
        ({"kind": "dynamic", "base": 1e4, "width": 2, "factor": 2.0}, "recipe.width"),
    ],
)
def test_what_is_no_recipe(values, sentence):
    with pytest.raises(InputError) as caught:
        recipe_from_json(values, "file", "recipe.", 4)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_software_does_not_have():
    with pytest.raises(InputError, match="llama.cpp has no dynamic NTK scaling"):
        llamacpp_parameters(RECIPES[3], 1.0)
    with pytest.raises(InputError, match="an even number of elements, not 7"):
        llamacpp_parameters(RECIPES[1], 1.0)
    with pytest.raises(InputError, match=r"divisors beside the rope type linear are llama.cpp's"):
        hf_frequencies(RECIPES[2])
    with pytest.raises(InputError, match="variant 'x' from is not known"):
        check_software(None, "hf_f32", "x", 1.0, 4)
    with pytest.raises(InputError, match="makes 4 pairs, not 5"):
        check_software(RECIPES[0], "hf_f32", "x", 1.0, 5)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "dynamic", "original": 1, "length": 1 << 40, "factor": 2.0**20, "width": 3, "base": 1e30},
        {"kind": "llama3", "original": 8192, "low_freq_factor": 2.0, "high_freq_factor": 2.0},
        {"kind": "yarn", "original": 4096, "beta_fast": 1e-45, "beta_slow": 5e-324},
        {"kind": "yarn", "original": 1, "beta_fast": 1e9, "beta_slow": 1e9, "base": 1.0000000001},
    ],
)
@pytest.mark.parametrize("software", ["hf_f32", "llamacpp_f32"])
def test_extreme_recipes_give_numbers_or_a_sentence(changes, software):
    recipe = Recipe(**({"base": 10000.0, "width": 8} | changes))
    try:
        check_software(recipe, software, "x", 1.0, recipe.pairs)
    except InputError as error:
        assert "\n" not in str(error)


def test_frequencies_that_torch_computed_bit_for_bit():
    kinds = set()
    for case in MEASURED:
        expected = np.array(case["inverse_frequency"], np.float32)
        recipe = recipe_from_json(case["recipe"], "file", "recipe.", len(expected))
        kinds.add(recipe.kind)
        assert np.array_equal(np.array(hf_frequencies(recipe), np.float32), expected)
    assert kinds == {"linear", "llama3", "yarn", "longrope"}
