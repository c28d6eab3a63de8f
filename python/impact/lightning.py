"""A callback for PyTorch Lightning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impact.callbacks import TrainingPhases

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

if TYPE_CHECKING:
    from impact.run import Run


class ImpactCallback(Callback):
    """Measures fitting, testing and prediction, with a phase for each epoch of training and validation.

    `run` is a run that goes on; without one, each stage is a run of its own, with the options of `impact.track`.
    Only the process of rank 0 on each machine measures, because a run contains all processes that it starts.
    """

    def __init__(self, run: Run | None = None, **options: Any) -> None:
        super().__init__()
        self._phases = TrainingPhases(run, **options)

    @property
    def run(self) -> Run:
        """The run that is measured."""
        return self._phases.run

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Starts the run."""
        if trainer.local_rank == 0:
            self._phases.start()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Ends the run."""
        self._phases.stop()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Ends the run; the exception goes on."""
        self._phases.stop()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the phase `epoch`."""
        self._phases.begin("epoch")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the phase."""
        self._phases.end("epoch", batches=trainer.num_training_batches)

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the phase `validate`."""
        self._phases.begin("validate")

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the phase."""
        self._phases.end("validate")
