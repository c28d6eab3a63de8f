"""Runs the program: `python -m impact track -- ./job.sh`."""

from __future__ import annotations

import os
import subprocess
import sys

from impact import program


def main() -> None:
    """Becomes the program."""
    try:
        path = program.path()
    except program.ImpactError as error:
        sys.exit(f"error: {error}")
    words = [path, *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(words))
    os.execv(path, words)  # noqa: S606


if __name__ == "__main__":
    main()
