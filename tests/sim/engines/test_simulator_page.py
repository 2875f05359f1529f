"""``docs/simulator.md``: its example prints what it says, and leaves what it speaks of."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "simulator.md"


def test_the_example(tmp_path):
    example, printed = re.search(
        r"```python\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    ).groups()
    program = f"import sys; sys.path[:0] = {sys.path!r}\n{example}"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["engine", "engine.vcd"]
    times = [int(line[1:]) for line in (tmp_path / "engine.vcd").read_text().splitlines() if line.startswith("#")]
    assert (times[0], times[-1]) == (0, 1995)
