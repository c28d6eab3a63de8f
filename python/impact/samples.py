"""Samples of a run, as they lie in its log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TAIL = 1 << 20


def data_file(run: str | os.PathLike[str]) -> Path:
    """The file with the samples of a run."""
    return Path(run) / "impacttracker" / "data.json"


def last_sample(run: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The last whole sample of a run, also while it goes on; None if there is none."""
    try:
        with open(data_file(run), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            lines = file.read(_TAIL).split(b"\n")[:-1]
    except OSError:
        return None
    return next((sample for line in reversed(lines) if (sample := _sample(line)) is not None), None)


def samples(run: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    """All samples of a run, oldest first. `docs/log-format.md` says what they hold."""
    with open(data_file(run), "rb") as file:
        for line in file:
            sample = _sample(line) if line.endswith(b"\n") else None
            if sample is not None:
                yield sample


def _sample(line: bytes) -> dict[str, Any] | None:
    try:
        sample = json.loads(line)
    except ValueError:
        return None
    return sample if isinstance(sample, dict) and "timestamp" in sample else None
