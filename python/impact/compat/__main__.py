"""Runs a script in which the names of other tools stand for modules of this package."""

from __future__ import annotations

import os
import runpy
import sys

from impact.compat import install


def main() -> None:
    """`python -m impact.compat SCRIPT [ARGUMENTS]`."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m impact.compat SCRIPT [ARGUMENTS]")
    install()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    # Spawned workers get the path, and import the script again.
    sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "names"))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
