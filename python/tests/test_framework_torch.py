"""PyTorch: layers and operators, on a CPU."""

from __future__ import annotations

import csv
import doctest
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from conftest import Machine, Simulator

import impact
import impact.torch

pytestmark = pytest.mark.filterwarnings("default")


class Block(torch.nn.Module):
    """A residual block with an operation in place, as in common networks."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(8, 8, 3, padding=1)
        self.normalisation = torch.nn.BatchNorm2d(8)
        self.activation = torch.nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        return self.activation(self.normalisation(self.convolution(x)) + x)


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    stem = torch.nn.Conv2d(3, 8, 3, padding=1)
    end = [torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(8, 10)]
    return torch.nn.Sequential(stem, Block(), Block(), *end)


def train(model: torch.nn.Module, steps: int) -> list[float]:
    torch.manual_seed(1)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(8, 3, 16, 16), torch.arange(8)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    return losses


def test_the_block_of_the_documentation(machine: Machine) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/python.md").read_text()
    (block,) = re.findall(r"^```python\n(# needs torch\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(block, {"impact": impact})


def rows(timed: impact.torch.Layers) -> dict[tuple[str, str, str], int]:
    return {(row.layer, row.mode, row.direction): row.calls for row in timed.table()}


def test_the_examples() -> None:
    failed, _ = doctest.testmod(impact.torch)
    assert failed == 0


def test_every_layer_is_timed_forward_and_backward_and_the_result_is_the_same(machine: Machine) -> None:
    expected = train(network(), 3)
    model = network()
    with impact.track("a") as run, impact.torch.layers(model, run) as timed:
        assert train(model, 3) == expected
        model.eval()
        with torch.no_grad():
            model(torch.randn(1, 3, 16, 16))
    leaves = [name for name, module in model.named_modules() if not list(module.children())]
    calls = rows(timed)
    for leaf in leaves:
        assert calls[leaf, "train", "forward"] == 3, leaf
        assert calls[leaf, "train", "backward"] == 3, leaf
        assert calls[leaf, "inference", "forward"] == 1, leaf
        assert (leaf, "inference", "backward") not in calls
    assert run.path is not None
    check_files(run.path, len(timed.spans))
    found = impact.attribute(run.path)
    assert {part.name for part in found} == {row.layer for row in timed.table()}
    assert all(not module._forward_hooks and not module._forward_pre_hooks for module in model.modules())


def check_files(run: Path, spans: int) -> None:
    trace = json.loads((run / "layers.trace.json").read_text())["traceEvents"]
    assert len(trace) == spans
    now = time.time() * 1e6
    for event in trace:
        assert event["ph"] == "X"
        assert event["dur"] >= 0
        assert now - 60e6 < event["ts"] < now
    with open(run / "layers.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert float(table[0]["seconds"]) > 0
    assert {row["direction"] for row in table} == {"forward", "backward"}


def test_spans_beyond_the_most_are_counted_and_told(machine: Machine) -> None:
    model = torch.nn.Linear(2, 2)
    with impact.track("a") as run, impact.torch.Layers(model, run, most_spans=2) as timed:
        for _ in range(5):
            model(torch.ones(1, 2))
    assert (len(timed.spans), timed.dropped) == (2, 3)
    assert rows(timed) == {("Linear", "train", "forward"): 5}
    assert run.path is not None
    assert json.loads((run.path / "layers.trace.json").read_text())["otherData"] == {"dropped_spans": 3}


def test_a_folder_that_is_gone_is_a_warning(machine: Machine) -> None:
    run = impact.start("a")
    timed = impact.torch.layers(torch.nn.Linear(2, 2), run).__enter__()
    assert run.path is not None
    run.path.rename("elsewhere")
    with pytest.warns(impact.ImpactWarning, match="cannot be written"):
        timed.__exit__(None, None, None)
    run.stop()


def test_the_time_of_a_layer_is_its_own(machine: Machine) -> None:
    class Slow(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            time.sleep(0.05)
            return x * 2

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), Slow(), torch.nn.Linear(4, 4))
    with impact.torch.layers(model) as timed:
        for _ in range(4):
            model(torch.ones(1, 4))
    seconds = {row.layer: row.seconds for row in timed.table()}
    assert 0.2 <= seconds["1"] < 0.3
    assert seconds["0"] < 0.1


def test_a_layer_that_raises_does_not_confuse_the_others(machine: Machine) -> None:
    class Broken(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            raise RuntimeError("broken")

    good = torch.nn.Linear(2, 2)
    model = torch.nn.ModuleList([good, Broken()])
    with impact.torch.layers(model) as timed:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="broken"):
                model[1](torch.ones(1, 2))
            good(torch.ones(1, 2))
    assert rows(timed) == {("0", "train", "forward"): 2}


def test_operators_have_their_configuration_and_count() -> None:
    found = {(o.operator, o.configuration): o.count for o in impact.torch.operators(network())}
    convolutions = {
        dict(configuration)["in_channels"]: n for (name, configuration), n in found.items() if name == "Conv2d"
    }
    assert convolutions == {3: 1, 8: 2}
    linear = next(dict(configuration) for (name, configuration) in found if name == "Linear")
    assert linear == {"in_features": 8, "out_features": 10, "bias": True}


def test_workers_of_a_data_loader_are_part_of_the_run(machine: Machine) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(64))
    with impact.track("a") as run:
        for _ in range(2):
            loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2)
            with run.phase("epoch", count={"samples": 64}):
                assert sum(len(batch[0]) for batch in loader) == 64
    assert run.phases["epoch"].counts == {"samples": 128}


def test_layers_of_the_power_cap_study(simulator: Simulator, tmp_path: Path) -> None:
    from impact.compat.measurement import LayerwiseMeasurementTool

    tool = LayerwiseMeasurementTool("layers.csv", 0)
    model = tool.start(network())
    train(model, 20)
    tool.stop()
    with open("layers.csv", newline="") as file:
        lines = list(csv.reader(file))
    assert [line[0] for line in lines][:3] == ["Conv2d", "Conv2d", "BatchNorm2d"]
    assert all(float(line[1]) > 0 for line in lines)
    assert tool.run is not None
    assert tool.run.energy is not None
    # Joules of a pass, 20 passes each: not more than the whole run.
    assert sum(float(line[1]) * 20 for line in lines) < float(tool.run.energy.to("J"))
