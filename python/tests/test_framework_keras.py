"""The callback of Keras."""

from __future__ import annotations

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np
import pytest
from conftest import Machine, Simulator

import impact
from impact.keras import ImpactCallback

pytestmark = pytest.mark.filterwarnings("ignore")


def fit(callback: ImpactCallback) -> keras.callbacks.History:
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2)])
    model.compile(loss="mse", optimizer="sgd")
    x, y = np.ones((32, 4)), np.zeros((32, 2))
    return model.fit(x, y, epochs=3, batch_size=8, validation_data=(x, y), verbose=0, callbacks=[callback])


def test_epochs_and_evaluations_are_phases(simulator: Simulator) -> None:
    callback = ImpactCallback(out="a", zone="FR", logs=True)
    history = fit(callback)
    phases = callback.run.phases
    assert phases["epoch"].repetitions == 3
    assert phases["epoch"].counts == {"batches": 12}
    assert phases["evaluate"].repetitions == 3
    energies = history.history["energy_kwh"]
    assert energies == sorted(energies)
    assert energies[-1] > 0
    assert len(history.history["co2_kg"]) == 3


def test_each_fit_is_a_run(machine: Machine) -> None:
    callback = ImpactCallback()
    paths = []
    for _ in range(2):
        fit(callback)
        assert callback.run.phases["epoch"].repetitions == 3
        paths.append(callback.run.path)
    assert len(set(paths)) == 2
    assert len(impact.read("impact-logs")) == 2


def test_a_run_that_goes_on_gets_the_phases(machine: Machine) -> None:
    with impact.track("a") as run:
        fit(ImpactCallback(run))
        assert run.is_running
    assert run.phases["epoch"].repetitions == 3
