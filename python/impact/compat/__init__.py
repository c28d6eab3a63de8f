"""Modules with the interfaces of other tools, measured by `impact`.

Import them by name, as `from impact.compat.codecarbon import EmissionsTracker`. Scripts that shall stay as they are run
with `python -m impact.compat script.py`: there `codecarbon`, `experiment_impact_tracker`, `perun`, `measurement` and
`profiler` are these modules.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from impact.quantity import Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

TOOLS = ("codecarbon", "experiment_impact_tracker", "measurement", "perun", "profiler")
"""The names that can stand for modules of this package."""


class Number(Quantity):
    """A quantity that is printed as a float, as the other tools do. Sums are exact."""

    __slots__ = ()

    def __str__(self) -> str:
        return float.__repr__(self)

    def __repr__(self) -> str:
        return float.__repr__(self)

    def __format__(self, spec: str) -> str:
        return float.__format__(self, spec)


def number(quantity: Quantity | None) -> Number | None:
    """The quantity as these tools give it."""
    return None if quantity is None else Number(quantity.exact, quantity.unit)


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.split(".", maxsplit=1)[0] not in TOOLS:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(f"impact.compat.{spec.name}")

    def exec_module(self, module: ModuleType) -> None:
        pass


def install() -> None:
    """Lets the names of these tools stand for the modules of this package, in this process."""
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
