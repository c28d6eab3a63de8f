"""Time and energy of the layers of a PyTorch model."""

from __future__ import annotations

import csv
import inspect
import json
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from impact import program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from impact.run import Run

# 50 MB.
_MOST_SPANS = 200_000


@dataclass
class Span:
    """One pass through a layer, in nanoseconds of the monotonic clock."""

    __slots__ = ("direction", "end", "kind", "layer", "mode", "start", "thread")

    layer: str
    kind: str
    mode: str
    direction: str
    start: int
    end: int
    thread: int


@dataclass
class LayerTime:
    """All passes through a layer of one kind."""

    layer: str
    kind: str
    mode: str
    """`train` or `inference`."""
    direction: str
    """`forward` or `backward`."""
    calls: int = 0
    seconds: float = 0.0


@dataclass
class _Backward:
    """The backward pass of a call that has not ended."""

    span: Span
    is_known: bool = field(default=False)


class Layers:
    """Times the leaf modules of a model while its `with` block lasts.

    At the end, `layers.trace.json` (trace events, one a span) and `layers.csv` (one line a layer, mode and direction)
    are in the folder of the run. Hooks only look at the clock: they change neither the model nor its results. On a GPU
    each span waits for the device, because its work goes on after the call.
    """

    def __init__(self, model: torch.nn.Module, run: Run | None = None, most_spans: int = _MOST_SPANS) -> None:
        self.model = model
        self.run = run
        self.spans: list[Span] = []
        self.dropped = 0
        """Spans beyond the most that are kept; `table` counts them too."""
        self._most = most_spans
        self._totals: dict[tuple[str, str, str], LayerTime] = {}
        self._handles: list[Any] = []
        self._open = threading.local()
        self._lock = threading.Lock()
        self._epoch = time.time_ns() - time.monotonic_ns()

    def __enter__(self) -> Layers:
        for name, module in self.model.named_modules():
            if next(module.children(), None) is None:
                self._handles.append(module.register_forward_pre_hook(self._before))
                self._handles.append(module.register_forward_hook(self._after(name or type(module).__name__)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        path = None if self.run is None else self.run.path
        if path is not None:
            try:
                self.write(path)
            except OSError as failure:
                program.tell(f"the times of layers cannot be written: {failure}")

    def table(self) -> list[LayerTime]:
        """Calls and seconds by layer, mode and direction, in order of first use."""
        return list(self._totals.values())

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes both files."""
        folder = Path(folder)
        events = [
            {
                "name": span.layer,
                "cat": f"{span.mode},{span.direction}",
                "ph": "X",
                "ts": (span.start + self._epoch) / 1000,
                "dur": (span.end - span.start) / 1000,
                "pid": os.getpid(),
                "tid": span.thread,
                "args": {"kind": span.kind, "mode": span.mode, "direction": span.direction},
            }
            for span in self.spans
        ]
        with open(folder / "layers.trace.json", "w", encoding="utf-8") as file:
            trace = {"traceEvents": events, "displayTimeUnit": "ms", "baseTimeNanoseconds": 0}
            json.dump({**trace, "otherData": {"dropped_spans": self.dropped}}, file)
        with open(folder / "layers.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["layer", "kind", "mode", "direction", "calls", "seconds"])
            for row in self.table():
                writer.writerow([row.layer, row.kind, row.mode, row.direction, row.calls, repr(row.seconds)])

    def _before(self, module: torch.nn.Module, inputs: Any) -> None:
        starts = self._open.__dict__.setdefault("starts", [])
        starts.append((module, _now(module)))

    def _after(self, name: str) -> Any:
        def after(module: torch.nn.Module, inputs: Any, output: Any) -> None:
            end = _now(module)
            starts = self._open.__dict__.get("starts", [])
            # A module that raised has left its start behind.
            while starts:
                started, start = starts.pop()
                if started is module:
                    break
            else:
                return
            mode = "train" if module.training and torch.is_grad_enabled() else "inference"
            kind = type(module).__name__
            self._add(Span(name, kind, mode, "forward", start, end, threading.get_native_id()))
            if torch.is_grad_enabled():
                self._watch_backward(module, name, kind, mode, output)

        return after

    def _watch_backward(self, module: torch.nn.Module, name: str, kind: str, mode: str, output: Any) -> None:
        """The backward pass begins when the gradient of the output is there, and ends when its last node has run."""
        span = Span(name, kind, mode, "backward", 0, 0, 0)
        state = _Backward(span)
        watched = [tensor for tensor in _tensors(output) if tensor.requires_grad and tensor.grad_fn is not None]

        def begins(_gradient: Any) -> None:
            if not span.start:
                span.start = _now(module)

        def ends(*_gradients: Any) -> None:
            now = _now(module)
            if not span.start:
                return
            with self._lock:
                previous, span.end = span.end or span.start, now
                span.thread = threading.get_native_id()
                self._extend(state, now - previous)

        for tensor in watched:
            tensor.register_hook(begins)
            tensor.grad_fn.register_hook(ends)

    def _add(self, span: Span) -> None:
        with self._lock:
            row = self._row(span)
            row.calls += 1
            row.seconds += (span.end - span.start) / 1e9
            self._keep(span)

    def _extend(self, state: _Backward, nanoseconds: int) -> None:
        row = self._row(state.span)
        if not state.is_known:
            state.is_known = True
            row.calls += 1
            self._keep(state.span)
        row.seconds += nanoseconds / 1e9

    def _row(self, span: Span) -> LayerTime:
        key = (span.layer, span.mode, span.direction)
        return self._totals.setdefault(key, LayerTime(span.layer, span.kind, span.mode, span.direction))

    def _keep(self, span: Span) -> None:
        if len(self.spans) < self._most:
            self.spans.append(span)
        else:
            self.dropped += 1


def layers(model: torch.nn.Module, run: Run | None = None) -> Layers:
    """Times the leaf modules of a model, for a `with` statement.

    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    >>> with layers(model) as timed:
    ...     model(torch.ones(2, 4)).sum().backward()
    >>> [(row.kind, row.direction, row.calls) for row in timed.table()]
    [('Linear', 'forward', 1), ('ReLU', 'forward', 1), ('ReLU', 'backward', 1), ('Linear', 'backward', 1)]
    """
    return Layers(model, run)


@dataclass(frozen=True)
class Operator:
    """Leaf modules of one kind and configuration."""

    operator: str
    configuration: tuple[tuple[str, Any], ...]
    count: int


def operators(model: torch.nn.Module) -> list[Operator]:
    """The leaf modules of a model with their configuration, and how many of each there are.

    >>> import torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4), torch.nn.ReLU())
    >>> [(operator.operator, operator.count) for operator in operators(model)]
    [('Linear', 2), ('ReLU', 1)]
    """
    found: Counter[tuple[str, tuple[tuple[str, Any], ...]]] = Counter()
    for module in model.modules():
        if next(module.children(), None) is None:
            found[type(module).__name__, tuple(_configuration(module))] += 1
    return [Operator(name, configuration, count) for (name, configuration), count in found.items()]


def _configuration(module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """The arguments of the constructor that the module has kept."""
    for name in inspect.signature(type(module).__init__).parameters:
        if name in ("self", "device", "dtype") or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if isinstance(value, torch.Tensor) or value is None:
            # A bias, for example: whether there is one is the configuration.
            yield name, value is not None
        elif isinstance(value, (bool, int, float, str)):
            yield name, value
        elif isinstance(value, (tuple, list)) and all(isinstance(part, (int, float, str)) for part in value):
            yield name, tuple(value)


def _tensors(output: Any) -> Iterator[torch.Tensor]:
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, dict):
        for part in output.values():
            yield from _tensors(part)
    elif isinstance(output, (tuple, list)):
        for part in output:
            yield from _tensors(part)


def _now(module: torch.nn.Module) -> int:
    parameter = next(module.parameters(recurse=False), None)
    if torch.cuda.is_available() and (parameter is None or parameter.is_cuda):
        torch.cuda.synchronize()
    return time.monotonic_ns()
