"""Runs one Yosys script and ends: a process of its own, because a crash in native code takes the interpreter along."""

import sys


def main(script: str) -> None:
    """Run the commands of the file ``script``, relative to the working directory."""
    from pyosys import libyosys  # pyright: ignore[reportAttributeAccessIssue]  (native, without types)

    libyosys.run_pass(f"script {script}", libyosys.Design())


if __name__ == "__main__":
    main(sys.argv[1])
