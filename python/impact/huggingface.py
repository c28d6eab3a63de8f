"""A callback for the `Trainer` of Hugging Face's transformers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from impact.callbacks import TrainingPhases

if TYPE_CHECKING:
    from impact.run import Run


class ImpactCallback(TrainerCallback):
    """Measures training, with a phase for each epoch and each evaluation; steps are counted.

    `run` is a run that goes on; without one, each training is a run of its own, with the options of `impact.track`.
    """

    def __init__(self, run: Run | None = None, **options: Any) -> None:
        self._phases = TrainingPhases(run, **options)
        self._steps = 0

    @property
    def run(self) -> Run:
        """The run that is measured."""
        return self._phases.run

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Starts the run."""
        self._phases.start()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the run."""
        self._phases.stop()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begins the phase `epoch`."""
        self._steps = state.global_step
        self._phases.begin("epoch")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the phase."""
        self._phases.end("epoch", steps=state.global_step - self._steps)

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Begins the phase `evaluate` with its first step."""
        if not self._phases.is_open("evaluate"):
            self._phases.begin("evaluate")

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Ends the phase `evaluate`."""
        self._phases.end("evaluate")
