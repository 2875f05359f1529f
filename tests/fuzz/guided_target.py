"""What Atheris runs: ``python -m fuzz.guided_target json|gguf FOLDER LIBFUZZER-OPTIONS``.

The readers are instrumented, so that libFuzzer sees which branches an input reaches; what is checked is what the
generated mode checks. Half of the mutations are libFuzzer's own, of the bytes; the others are those of
:mod:`fuzz.mutate`, which keep the input whole enough to come past the parser.
"""

import json
import os
import sys
import zlib
from collections import Counter
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["ropewalk.models", "ropewalk.strict_json", "ropewalk.geometry"]):
    import ropewalk.models
    import ropewalk.models.gguf
    import ropewalk.models.weights  # noqa: F401

from . import checks, mutate, seeds
from .mutate_gguf import gguf as new_gguf
from .sandbox import Watch, limit_memory
from .worker import warm_up

TELL_EVERY = 1000


def corpus(target: str, folder: Path) -> None:
    """Write what the fuzzer begins with."""
    folder.mkdir()
    if target == "json":
        files = [json.dumps(config).encode() for config in seeds.configurations()]
    else:
        names = seeds.architectures()
        files = [seeds.gguf_file(name, 0, 0).encode() for name in names]
        files += [
            seeds.gguf_file(name, scaling, 1).encode() for name in ("llama", "gemma3", "phi3") for scaling in (0, 1)
        ]
        files += [seeds.gguf_file("phi3", 2, 2).encode(), seeds.gguf_file("gpt2", 0, 3).encode()]
    for index, data in enumerate(files):
        (folder / f"{index:04}").write_bytes(data)


def mutate_json(data: bytes, most: int, seed: int) -> bytes:
    """Another input, of at most ``most`` bytes."""
    random = Random(seed)
    if random.random() < 0.5:
        return atheris.Mutate(data, most)
    try:
        document = json.loads(data)
        for _ in range(random.randrange(1, 4)):
            document = mutate.changed(random, document)
        made = mutate.json_bytes(random, document)
    except (ValueError, RecursionError):
        made = mutate.damaged(random, data)
    return made if len(made) <= most else atheris.Mutate(data, most)


def mutate_gguf(data: bytes, most: int, seed: int) -> bytes:
    """Another input, of at most ``most`` bytes: changed bytes, or a new file with changed values."""
    random = Random(seed)
    chance = random.random()
    if chance < 0.5:
        return atheris.Mutate(data, most)
    made = mutate.damaged(random, data) if chance < 0.7 else new_gguf(random).encode()
    return made if len(made) <= most else atheris.Mutate(data, most)


def main() -> None:
    """Fuzz one target until the time is over or a defect is found."""
    target, folder, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    work = folder / "work"
    work.mkdir()
    corpus(target, folder / "corpus")
    os.chdir(work)
    warm_up(work)
    path = work / ("config.json" if target == "json" else "model.gguf")
    watch = Watch(work)
    limit_memory()
    outcomes: Counter[bool] = Counter()

    def one(data: bytes) -> None:
        path.write_bytes(data)
        random = Random(zlib.crc32(data))
        with watch.example():
            outcomes[checks.read(path, random) == checks.IMPORTED] += 1
        if outcomes.total() % TELL_EVERY == 0:  # libFuzzer ends the process without asking Python
            print(f"imported: {outcomes[True]} of {outcomes.total()}", file=sys.stderr, flush=True)

    mutator = mutate_json if target == "json" else mutate_gguf
    atheris.Setup([sys.argv[0], *options, str(folder / "corpus")], one, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
