"""A callback for Keras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from impact.callbacks import TrainingPhases

if TYPE_CHECKING:
    from impact.run import Run


class ImpactCallback(keras.callbacks.Callback):
    """Measures `fit`, with a phase for each epoch and each evaluation.

    `run` is a run that goes on; without one, each `fit` is a run of its own, with the options of `impact.track`.
    Energy and emissions so far are in the logs of each epoch if `logs` is set.
    """

    def __init__(self, run: Run | None = None, logs: bool = False, **options: Any) -> None:
        super().__init__()
        self._phases = TrainingPhases(run, **options)
        self._has_logs = logs

    @property
    def run(self) -> Run:
        """The run that is measured."""
        return self._phases.run

    def on_train_begin(self, logs: Any = None) -> None:
        """Starts the run."""
        self._phases.start()

    def on_train_end(self, logs: Any = None) -> None:
        """Ends the run."""
        self._phases.stop()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begins the phase `epoch`."""
        self._phases.begin("epoch")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Ends the phase, and adds `energy_kwh` and `co2_kg` to the logs."""
        steps = (self.params or {}).get("steps")
        self._phases.end("epoch", **({"batches": steps} if steps else {}))
        record = self.run.record if self._has_logs and logs is not None else None
        if record is not None:
            figures = {"energy_kwh": record.energy, "co2_kg": record.co2}
            logs.update({name: float(value) for name, value in figures.items() if value is not None})

    def on_test_begin(self, logs: Any = None) -> None:
        """Begins the phase `evaluate`."""
        self._phases.begin("evaluate")

    def on_test_end(self, logs: Any = None) -> None:
        """Ends the phase."""
        self._phases.end("evaluate")
