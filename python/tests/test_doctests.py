"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import logs
import pytest

import impact

# They need frameworks; test_torch.py runs those of `impact.torch`.
OTHERS = {"impact.huggingface", "impact.keras", "impact.lightning", "impact.sklearn", "impact.torch"}
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(impact.__path__, "impact.")
    if module.name not in OTHERS and not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str, tmp_path: Path) -> None:
    examples = tmp_path / "examples"
    groups = [logs.write(examples / group, 9.0) for group in ("a", "b")]
    names = {
        "examples": examples,
        "example_groups": groups,
        **{name: getattr(impact, name) for name in ("read", "track", "tracked")},
    }
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs=names)
    assert failed == 0
