"""The pinned integers come out of a Python whose libm is wrong, too.

A library that puts every transcendental function off by 900 units in the last place is preloaded into a Python of its
own. (No real libm is off by more than a few; 1000 is what the contract's tables allow for.) Controls show that it is
active, in Python's math and in numpy, and that steps computed with doubles do change.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PINS = TESTS / "data" / "digests.json"

CONTROL = """
import json, math
import numpy as np

x = float("0.7")  # not folded when compiled
many, single = np.full(16, x), np.full(16, x, np.float32)
frequencies = [x ** (i / 7) for i in range(1, 7)]
print(json.dumps({
    "math": [math.sin(x), math.cos(x), math.exp(x), math.log(x), math.pow(x, 3.3), x**3.3],
    "numpy": [float(f(many)[0]) for f in (np.sin, np.cos, np.exp, np.log)] + [float(np.power(many, 3.3)[0])],
    "float32": [float(f(single)[0]) for f in (np.sin, np.cos, np.exp, np.log)],
    "steps": [round(f / (2 * math.pi) * 2.0**48) for f in frequencies],
    "kept": [math.sqrt(x), math.ldexp(x, 5), math.floor(x * 10)],
}))
"""

VECTOR_UNITS = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V3 AVX2 FMA3"
"""What numpy has functions of its own for, in older and newer releases' words: without them it calls libm."""


@pytest.fixture(scope="module")
def perturbed(tmp_path_factory):
    """The environment of a Python with the wrong libm."""
    folder = tmp_path_factory.mktemp("libm")
    library = folder / "perturbed.so"
    source = TESTS / "data" / "perturbed_libm.c"
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-fno-builtin", "-Wall", "-Werror", "-o", library, source, "-ldl"],
        check=True,
    )
    # Byte code of its own: constants such as 2.0**-24 are folded with libm's pow, and must neither come from others nor
    # go to them.
    return {"LD_PRELOAD": str(library), "NPY_DISABLE_CPU_FEATURES": VECTOR_UNITS, "PYTHONPYCACHEPREFIX": str(folder)}


def python(*arguments, **environment):
    """What a Python of its own prints."""
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": paths} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


def test_the_control_sees_the_wrong_libm(perturbed):
    right, wrong = json.loads(python("-c", CONTROL)), json.loads(python("-c", CONTROL, **perturbed))
    for kind, relative in (("math", 1e-12), ("numpy", 1e-12), ("float32", 1e-3)):
        assert all(a != b for a, b in zip(right[kind], wrong[kind], strict=True)), kind
        assert wrong[kind] == pytest.approx(right[kind], rel=relative)
    assert right["steps"] != wrong["steps"]
    assert right["kept"] == wrong["kept"]


def test_all_pinned_integers_are_the_same_with_a_wrong_libm(perturbed):
    said = python("-m", "ropewalk_cli.fingerprint", "--check", str(PINS), **perturbed)
    assert said.endswith("presets, 3 sine, 15 tables: 0 differ\n"), said
