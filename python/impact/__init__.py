"""Measures the energy and carbon emissions of experiments.

The tracker is a separate process, the program `impact` of this package. Python only starts it, marks phases and reads
results; importing this package starts nothing.

    import impact

    with impact.track("runs/a", zone="US-CA") as run:
        with run.phase("train"):
            train()
    print(run.energy, run.co2)
"""

from __future__ import annotations

# Not from `typing`, which takes longer to import than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from impact.attribution import Attribution, attribute
    from impact.decorator import tracked
    from impact.figures import Figures
    from impact.notebook import load_ipython_extension, unload_ipython_extension
    from impact.phases import Phase, mark, phase
    from impact.places import Estimate, Place, estimate, region
    from impact.program import ImpactError, ImpactWarning
    from impact.quantity import Quantity
    from impact.records import PhaseRecord, RunRecord, Runs, read
    from impact.requirements import RequirementError, require
    from impact.run import Run, TrackerDiedError, latest, start, track
    from impact.statements import Comparison, Statement, compare, statement

# Names and the modules that have them. Each module is imported when it is needed.
_NAMES = {
    "Attribution": "attribution",
    "Comparison": "statements",
    "Estimate": "places",
    "Figures": "figures",
    "ImpactError": "program",
    "ImpactWarning": "program",
    "Phase": "phases",
    "PhaseRecord": "records",
    "Place": "places",
    "Quantity": "quantity",
    "RequirementError": "requirements",
    "Run": "run",
    "RunRecord": "records",
    "Runs": "records",
    "Statement": "statements",
    "TrackerDiedError": "run",
    "attribute": "attribution",
    "compare": "statements",
    "estimate": "places",
    "latest": "run",
    "load_ipython_extension": "notebook",
    "mark": "phases",
    "phase": "phases",
    "read": "records",
    "region": "places",
    "require": "requirements",
    "start": "run",
    "statement": "statements",
    "track": "run",
    "tracked": "decorator",
    "unload_ipython_extension": "notebook",
}
_SUBMODULES = {"compat", "huggingface", "keras", "lightning", "sklearn", "torch"}

__all__ = [
    "Attribution",
    "Comparison",
    "Estimate",
    "Figures",
    "ImpactError",
    "ImpactWarning",
    "Phase",
    "PhaseRecord",
    "Place",
    "Quantity",
    "RequirementError",
    "Run",
    "RunRecord",
    "Runs",
    "Statement",
    "TrackerDiedError",
    "attribute",
    "compare",
    "estimate",
    "latest",
    "load_ipython_extension",
    "mark",
    "phase",
    "read",
    "region",
    "require",
    "start",
    "statement",
    "track",
    "tracked",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> Any:
    import importlib
    import sys

    if name in _SUBMODULES:
        return importlib.import_module(f"impact.{name}")
    if name not in _NAMES:
        raise AttributeError(f"module 'impact' has no attribute {name!r}")
    module = importlib.import_module(f"impact.{_NAMES[name]}")
    value = getattr(module, name)
    setattr(sys.modules[__name__], name, value)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
