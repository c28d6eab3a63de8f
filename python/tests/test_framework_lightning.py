"""The callback of PyTorch Lightning."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import pytest
import torch
from conftest import Machine, await_no_tracker

_dataclass = dataclasses.dataclass


def _hashable(cls: Any = None, **options: Any) -> Any:
    return _dataclass(cls, unsafe_hash=cls is not None and cls.__name__ == "TensorProperties", **options)


# Debian's torch 1.13 is older than its Python 3.11, which asks that defaults of data classes can be hashed.
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(dataclasses, "dataclass", _hashable)
    import torch.distributed.fsdp
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pytorch_lightning as lightning

import impact
from impact.lightning import ImpactCallback

pytestmark = pytest.mark.filterwarnings("ignore")


class Model(lightning.LightningModule):
    def __init__(self, fails: bool = False) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.fails = fails

    def training_step(self, batch: Any, index: int) -> Any:
        if self.fails:
            raise RuntimeError("of the model")
        return self.layer(batch[0]).pow(2).mean()

    def validation_step(self, batch: Any, index: int) -> None:
        self.layer(batch[0])

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def batches() -> Any:
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(32, 4)), batch_size=8)


def fit(model: Model, callback: ImpactCallback) -> Any:
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", callbacks=[callback], logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit(model, batches(), batches())
    return trainer


def test_epochs_and_validations_are_phases(machine: Machine) -> None:
    callback = ImpactCallback(out="a", zone="FR")
    fit(Model(), callback)
    phases = callback.run.phases
    assert phases["epoch"].repetitions == 3
    assert phases["epoch"].counts == {"batches": 12}
    assert phases["validate"].repetitions == 3
    assert not callback.run.is_running


def test_each_stage_is_a_run(machine: Machine) -> None:
    callback, model = ImpactCallback(), Model()
    fit(model, callback).validate(model, batches(), verbose=False)
    assert set(callback.run.phases) == {"validate"}
    assert len(impact.read("impact-logs")) == 2


def test_a_run_that_goes_on_gets_the_phases(machine: Machine) -> None:
    with impact.track("a") as run:
        fit(Model(), ImpactCallback(run))
        assert run.is_running
    assert run.phases["epoch"].repetitions == 3


def test_an_exception_comes_through(machine: Machine) -> None:
    with pytest.raises(RuntimeError, match="of the model"):
        fit(Model(fails=True), ImpactCallback(out="failed"))
    await_no_tracker("--out=failed")
