"""Example number n of a seed: which kind it is, its file, and what it is read with."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from . import checks, mutate, mutate_arrays, mutate_gguf, seeds

MODELS = (("configuration", 45), ("configuration's bytes", 15), ("GGUF", 28), ("GGUF's bytes", 12))
"""Kinds of configurations and GGUF files, with their share in per cent."""
OTHERS = (("geometry document", 30), ("design.json", 20), ("npz of run", 30), ("table of weights", 20))
"""Kinds of other input."""


@dataclass(frozen=True)
class Example:
    """An input: its kind, the file that holds it, its bytes, and what reads it."""

    kind: str
    path: Path
    data: bytes
    check: Callable[[], str]


def make_example(seed: int, number: int, others: bool, folder: Path) -> Example:
    """Example ``number`` of ``seed``, to be written into ``folder``; the same on every machine."""
    random = Random(f"{seed}/{number}/{'others' if others else 'models'}")
    table = OTHERS if others else MODELS
    kind = random.choices([name for name, _ in table], [share for _, share in table])[0]
    later = Random(random.getrandbits(64))  # for what is done with it, so that this does not depend on its bytes
    path = folder / ("model.gguf" if "GGUF" in kind else "config.json")
    if kind.startswith("configuration"):
        document = mutate.configuration(random) if kind == "configuration" else random.choice(seeds.configurations())
        data = mutate.json_bytes(random, document)
        if kind != "configuration":
            data = mutate.damaged(random, data)
    elif kind.startswith("GGUF"):
        if kind == "GGUF":
            data = mutate_gguf.gguf(random).encode()
        else:
            name = random.choice(seeds.architectures())
            data = mutate.damaged(random, seeds.gguf_file(name, random.randrange(3), random.randrange(4)).encode())
        if random.random() < 0.02:
            data = data[: random.randrange(len(data) + 1)]
    else:
        return _other(kind, random, later, folder)
    return Example(kind, path, data, lambda: checks.read(path, later))


def _other(kind: str, random: Random, later: Random, folder: Path) -> Example:
    match kind:
        case "geometry document":
            document = copy.deepcopy(random.choice(seeds.geometries()))
            for _ in range(random.randrange(1, 4)):
                document = mutate.changed(random, document)
            data = json.dumps(document).encode()
            return Example(kind, folder / "geometry.json", data, lambda: checks.read_document(document))
        case "design.json":
            document = copy.deepcopy(random.choice(seeds.design_documents()))
            for _ in range(random.randrange(0, 3)):
                document = mutate.changed(random, document)
            data = mutate.json_bytes(random, document)
            if random.random() < 0.2:
                data = mutate.damaged(random, data)
            return Example(kind, folder / "design.json", data, lambda: checks.read_design(folder))
        case "npz of run":
            design = random.choice(seeds.designs())
            data = mutate_arrays.npz(random, seeds.arrays(design))
            path = folder / "x.npz"
            scale = later.choice((None, None, None, 0.5, 1e-300, 1e300, -1.0, float("nan")))
            return Example(kind, path, data, lambda: checks.read_arrays(path, design, scale))
    suffix, data = mutate_arrays.weights(random)
    path = folder / f"table{suffix}"
    return Example(kind, path, data, lambda: checks.read_weights(path))
