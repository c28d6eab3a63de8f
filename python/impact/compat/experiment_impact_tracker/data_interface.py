"""`DataInterface` of experiment-impact-tracker."""

from __future__ import annotations

from typing import Any

from impact.compat import Number, number
from impact.quantity import Quantity
from impact.records import Paths, read


class DataInterface:
    """The figures of all runs below some folders. Sums are exact: the parts add up to the whole.

    What is not known is None. Options are those of `impact.read`, such as `pue=1.1`.
    """

    def __init__(self, logdirs: Paths, **accounting: Any) -> None:
        runs = read(logdirs, **accounting)
        total = runs.total
        self.kg_carbon: Number | None = number(total.co2)
        """Emissions in kg CO2eq."""
        self.total_power: Number | None = number(total.energy_with_pue)
        """Energy in kWh, PUE included; the name is that tool's."""
        self.exp_len_hours: Number | None = number(total.duration)
        """Wall-clock time in hours."""
        pues = {run.pue for run in runs}
        energy, with_pue = total.energy, total.energy_with_pue
        self.PUE: float | None = pues.pop() if len(pues) == 1 else _mean(with_pue, energy)
        """Power usage effectiveness; where runs differ, the mean weighted by energy."""
        self.data: list[dict[str, Any]] = [
            {key: float(value) if isinstance(value, Quantity) else value for key, value in row.items()}
            for row in runs.rows()
        ]
        """A row for each run."""


def _mean(with_pue: Quantity | None, energy: Quantity | None) -> float | None:
    return float(with_pue) / float(energy) if with_pue is not None and energy else None
