"""Cross-validation of scikit-learn."""

from __future__ import annotations

import pytest
from conftest import Machine
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import impact
from impact.sklearn import cross_validate

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_cross_validation_is_a_phase_with_its_workers(machine: Machine) -> None:
    x, y = make_classification(200, random_state=0)
    scores, run = cross_validate(LogisticRegression(), x, y, cv=3, n_jobs=2)
    assert len(scores["test_score"]) == 3
    assert "cross_validate LogisticRegression" in run.phases
    with impact.track("a") as outer:
        _, same = cross_validate(LogisticRegression(), x, y, cv=3, run=outer)
    assert same is outer
    assert "cross_validate LogisticRegression" in outer.phases
