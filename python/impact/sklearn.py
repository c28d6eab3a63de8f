"""Cross-validation of scikit-learn, measured."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import cross_validate as validate

from impact.run import Run, track


def cross_validate(estimator: Any, *args: Any, run: Run | None = None, **kwargs: Any) -> tuple[dict[str, Any], Run]:
    """`sklearn.model_selection.cross_validate` as a phase of a run; gives its scores and the run.

    `run` is a run that goes on; without one, the cross-validation is a run of its own. Worker processes are included.
    """
    name = type(estimator).__name__
    if run is not None:
        with run.phase(f"cross_validate {name}"):
            return validate(estimator, *args, **kwargs), run
    with track(name=name) as own, own.phase(f"cross_validate {name}"):
        scores = validate(estimator, *args, **kwargs)
    return scores, own
