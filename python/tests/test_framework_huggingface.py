"""The callback of Hugging Face's Trainer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from conftest import Machine
from transformers import Trainer, TrainingArguments

import impact
from impact.huggingface import ImpactCallback

pytestmark = pytest.mark.filterwarnings("ignore")


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
        y = self.layer(x)
        return {"loss": (y - labels).pow(2).mean(), "logits": y}


def trainer(callback: ImpactCallback) -> Trainer:
    data = [{"x": torch.randn(4), "labels": torch.zeros(1)} for _ in range(32)]
    arguments = TrainingArguments(
        output_dir="out", num_train_epochs=2, per_device_train_batch_size=8, evaluation_strategy="epoch",
        report_to=[], use_cpu=True, disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    return Trainer(Model(), arguments, train_dataset=data, eval_dataset=data, callbacks=[callback])


def test_epochs_and_evaluations_are_phases_and_steps_are_counted(machine: Machine) -> None:
    callback = ImpactCallback(out="a")
    trainer(callback).train()
    phases = callback.run.phases
    assert phases["epoch"].repetitions == 2
    assert phases["epoch"].counts == {"steps": 8}
    assert phases["evaluate"].repetitions == 2
    assert not callback.run.is_running


def test_each_training_is_a_run(machine: Machine) -> None:
    callback = ImpactCallback()
    trained = trainer(callback)
    trained.train()
    trained.train()
    assert callback.run.phases["epoch"].repetitions == 2
    assert len(impact.read("impact-logs")) == 2


def test_a_run_that_goes_on_gets_the_phases(machine: Machine) -> None:
    with impact.track("a") as run:
        trainer(ImpactCallback(run)).train()
        assert run.is_running
    assert run.phases["epoch"].repetitions == 2
