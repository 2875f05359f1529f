"""The fuzzer notices what it is there for: each fault that is planted here is counted as a defect."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PLANTED = """
import os, pickle, socket, subprocess, sys, time
from pathlib import Path
from ropewalk.errors import InputError
from fuzz import checks, sandbox, worker
from fuzz.examples import Example

folder = Path(sys.argv[1])
path = folder / "config.json"
path.write_text("{}")
other = folder.parent / "other"
other.write_text("not for you")

class Bomb:
    def __reduce__(self):
        return os.system, ("true",)

def swallowed():
    try:
        other.read_text()
    except Exception:
        return checks.IMPORTED

FAULTS = {
    "traceback": lambda: {}["x"],
    "not sane": lambda: checks.expect(False, "a frequency that is not finite"),
    "two lines": lambda: checks.sentence("config.json: it is\\nwrong"),
    "long": lambda: checks.sentence("config.json is wrong " * 99),
    "repr of an exception": lambda: checks.sentence("config.json is wrong: KeyError 'x'"),
    "file not named": lambda: checks.sentence("something is wrong somewhere", path),
    "other file": lambda: other.read_text(),
    "other file, swallowed": swallowed,
    "writes": lambda: (folder / "new").write_text("x"),
    "runs a program": lambda: subprocess.run(["true"]),
    "runs a shell": lambda: os.system("true"),
    "unpickles": lambda: pickle.loads(DATA),
    "executes": lambda: exec("1"),
    "connects": lambda: socket.create_connection(("127.0.0.1", 9), 0.1),
    "removes": lambda: other.unlink(),
    "memory": lambda: bytearray(3 << 29),
    "hangs": lambda: next(iter(lambda: 0, 1)) or [0 for _ in iter(int, 1)],
}
DATA = pickle.dumps(Bomb())
sandbox.SECONDS = 1
watch = sandbox.Watch(folder)
sandbox.limit_memory()
found = {}
for name, check in {**FAULTS, "sound": lambda: checks.IMPORTED}.items():
    tally = worker.Tally()
    worker.judge(Example("kind", path, b"{}", check), name, watch, tally)
    found[name] = tally.defects[0][0] if tally.defects else ""
import json
print(json.dumps(found))
"""

EXPECTED = {
    "traceback": "KeyError at",
    "not sane": "a frequency that is not finite",
    "two lines": "cannot be printed",
    "long": "a sentence of",
    "repr of an exception": "an exception in it",
    "file not named": "without the file",
    "other file": "Forbidden: open",
    "other file, swallowed": "Forbidden: open",
    "writes": "Forbidden: open",
    "runs a program": "Forbidden: subprocess.Popen",
    "runs a shell": "Forbidden: os.system",
    "unpickles": "Forbidden: pickle.find_class",
    "executes": "Forbidden: exec",
    "connects": "Forbidden: socket.",
    "removes": "Forbidden: os.remove",
    "memory": "more than 1 GB",
    "hangs": "TooSlow: more than 1 s",
}


@pytest.fixture(scope="module")
def environment():
    paths = [str(ROOT / part) for part in ("tests", "hw", "sim", "scripts")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def found(tmp_path_factory, environment):
    """What became of each planted fault, in a process of its own: an audit hook cannot be removed."""
    folder = tmp_path_factory.mktemp("planted") / "worker"
    folder.mkdir()
    command = [sys.executable, "-c", PLANTED, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("fault", EXPECTED)
def test_a_planted_fault_is_a_defect(found, fault):
    assert EXPECTED[fault] in found[fault]


def test_what_is_sound_is_none(found):
    assert found["sound"] == ""
    assert set(found) == {*EXPECTED, "sound"}


def test_the_command_judges_numbered_examples(tmp_path, environment):
    """The same numbers give the same examples, which are read without a defect."""
    command = [sys.executable, "-m", "fuzz", "generated", "--examples", "60", "--others", "20", "--seed", "4"]
    runs = [
        subprocess.run(
            [*command, "--keep", str(tmp_path)], capture_output=True, text=True, env=environment, check=False
        )
        for _ in range(2)
    ]
    for done in runs:
        assert done.returncode == 0, done.stdout + done.stderr
        assert "80 examples" in done.stdout
        assert "defects: 0" in done.stdout
    tables = [done.stdout.split("80 examples")[0] for done in runs]
    assert tables[0] == tables[1]
    assert list(tmp_path.iterdir()) == []
