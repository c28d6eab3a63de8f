"""The energy of functions, layers and kernels of a run, by a profile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from impact import card, program
from impact.quantity import Quantity


@dataclass(frozen=True)
class Part:
    """What the spans of one name had on one device."""

    name: str
    device: str
    calls: int | None
    """None if the profile does not say."""
    seconds: float | None
    """Time in which it was innermost."""
    energy: Quantity | None
    """Energy while it was innermost; None if the energy of the device is not known."""
    energy_with_calls: Quantity | None
    """Energy with all that it called."""
    share: float | None
    """The part of the run's energy that `energy` is."""


class Attribution:
    """The energy of a run, divided among the spans of a profile; largest first."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The answer as `impact attribute --format json` gives it."""
        self.quality: str = data["label"]
        """`interpolated` between the samples of the log, or `estimated`."""
        self.energy = self._joules(data["energy_j"])
        """All energy of the run, without PUE."""
        self.uncovered = self._joules(data["uncovered_j"])
        """What no span covers."""
        self.coverage: float | None = None if data["coverage"] is None else float(data["coverage"])
        """The part of the energy that spans cover."""
        self.parts = [self._part(part) for part in data["names"]]

    def _joules(self, joules: Any) -> Quantity | None:
        return None if joules is None else Quantity(joules, "J", quality=self.quality)

    def _part(self, part: dict[str, Any]) -> Part:
        seconds, share = part["own_s"], part["share"]
        return Part(
            name=part["name"],
            device=part["device"],
            calls=part["calls"],
            seconds=None if seconds is None else float(seconds),
            energy=self._joules(part["own_j"]),
            energy_with_calls=self._joules(part["with_calls_j"]),
            share=None if share is None else float(share),
        )

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        lines = [f"{part.name}: {part.energy or 'unknown'}" for part in self.parts]
        return "\n".join([*lines, f"(not covered): {self.uncovered or 'unknown'}"])

    def __repr__(self) -> str:
        return f"<{len(self)} names, {self.energy or 'energy unknown'}>"

    def _repr_html_(self) -> str:
        return card.of_text("impact attribute", str(self))


def attribute(
    run: str | os.PathLike[str], profile: str | os.PathLike[str] | None = None, **options: Any
) -> Attribution:
    """Says which functions, layers or kernels of a run used how much energy.

    `profile` is a file of a profiler: a trace of PyTorch or JAX, a dump of cProfile, stacks of py-spy and others. It
    may be left out if `impact.torch.layers` has written one. Other options are those of `impact attribute`.
    """
    file = os.path.join(run, "layers.trace.json") if profile is None else profile
    words = program.options(profile=os.fspath(file), **options)
    return Attribution(program.parse(program.output(["attribute", "--format=json", *words, "--", run])))
