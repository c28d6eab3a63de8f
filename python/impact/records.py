"""Reads recorded runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, overload

from impact import card, program
from impact.figures import Figures
from impact.quantity import Quantity

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Paths = Union[str, "os.PathLike[str]", Sequence[Union[str, "os.PathLike[str]"]]]

_COLUMNS = (
    "average_realtime_carbon_intensity",
    "cpu_hours",
    "estimated_carbon_impact_kg",
    "exp_len_hours",
    "gpu_hours",
    "kw_hr_cpu",
    "kw_hr_dram",
    "kw_hr_gpu",
    "measured_share",
    "total_power",
)


class PhaseRecord:
    """All occurrences of a phase of a run."""

    def __init__(self, name: str, data: Mapping[str, Any], quality: str | None) -> None:
        self.name = name
        self.data = dict(data)
        """The phase as `impact report --format json` gives it."""
        self.quality = quality

    @property
    def repetitions(self) -> int:
        """How often it occurred."""
        return int(self.data["repetitions"])

    @property
    def energy(self) -> Quantity:
        """Energy of all occurrences and devices, without PUE."""
        return Quantity(self.data["total_j"], "J", quality=self.quality)

    @property
    def mean_energy(self) -> Quantity:
        """Mean of the occurrences, with its standard error."""
        error = self.data.get("standard_error_j")
        error = None if error is None else Decimal(error)
        return Quantity(self.data["mean_j"], "J", uncertainty=error, quality=self.quality)

    @property
    def duration(self) -> Quantity:
        """Duration of all occurrences."""
        return Quantity(self.data["total_s"], "s")

    @property
    def mean_duration(self) -> Quantity:
        """Mean duration of the occurrences."""
        return Quantity(self.data["mean_s"], "s")

    @property
    def devices(self) -> dict[str, Quantity]:
        """Energy of all occurrences by device: `cpu`, `gpu`, `dram`."""
        joules = self.data.get("devices_j", {})
        return {device: Quantity(energy, "J", quality=self.quality) for device, energy in joules.items()}

    @property
    def counts(self) -> dict[str, float]:
        """Work done in the phase, by unit."""
        return _counts(self.data)

    def energy_per(self, unit: str) -> Quantity:
        """Energy for one unit of the work that was counted. Raises `KeyError` if no such unit was counted."""
        return _energy_per(self.data, unit, self.quality)

    def __repr__(self) -> str:
        times = "once" if self.repetitions == 1 else f"{self.repetitions} times"
        return f"<phase {self.name}: {times}, {self.energy!r}>"


def _counts(data: Mapping[str, Any]) -> dict[str, float]:
    return {unit: float(work["count"]) for unit, work in data.get("work", {}).items()}


def _energy_per(data: Mapping[str, Any], unit: str, quality: str | None) -> Quantity:
    return Quantity(data["work"][unit]["joules_per_unit"], f"J/{unit}", quality=quality)


class RunRecord(Figures):
    """A run as it was recorded."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data["figures"])
        self.report = dict(data)
        """The run as `impact report --format json` gives it."""
        self.path = Path(data["path"])
        """The folder of the run."""
        self.name: str | None = data.get("name")
        self.tags: dict[str, str] = dict(data.get("tags", {}))
        self.host: str | None = data.get("host")
        self.started: str | None = data.get("started")
        self.pue: float = float(data["pue"])
        """Power usage effectiveness of the data centre."""
        self.notes: list[str] = list(data["quality"].get("notes", []))
        self.missing: dict[str, str] = dict(data["quality"].get("missing", {}))
        """Why the energy of a device is not known."""

    @property
    def phases(self) -> dict[str, PhaseRecord]:
        """The phases by name, in order of time."""
        phases = sorted(self.report.get("phases", {}).items(), key=lambda phase: phase[1]["first_s"])
        return {name: PhaseRecord(name, data, self.quality) for name, data in phases}

    @property
    def counts(self) -> dict[str, float]:
        """Work counted in the run, by unit."""
        return _counts(self.report)

    def energy_per(self, unit: str) -> Quantity:
        """Energy, without PUE, for one unit of the work that was counted."""
        return _energy_per(self.report, unit, self.quality)

    def __repr__(self) -> str:
        return f"<run {self.path}: {super().__repr__()}>"

    def _repr_html_(self) -> str:
        return card.of_run(self)


class Runs(Sequence[RunRecord]):
    """Several recorded runs. What `total` says is exactly the sum of the runs, and what a statement says."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.report = dict(data)
        """The runs as `impact report --format json` gives them."""
        self._runs = [RunRecord(run) for run in data["runs"]]
        self.total = Figures(data["total"])
        """The figures of all runs together."""
        self.skipped: list[dict[str, Any]] = list(data.get("skipped", []))
        """Logs that are not among these runs, and why: they cannot be read, or other runs contain them."""

    @overload
    def __getitem__(self, index: int) -> RunRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[RunRecord]: ...
    def __getitem__(self, index: int | slice) -> RunRecord | list[RunRecord]:
        return self._runs[index]

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[RunRecord]:
        return iter(self._runs)

    def __repr__(self) -> str:
        return f"<{counted(len(self))}: {self.total!r}>"

    def _repr_html_(self) -> str:
        return card.of_runs(self)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each run: path, name, started, host, tags and the figures, as exact decimals."""
        tags = sorted({tag for run in self for tag in run.tags})
        return [
            {
                "path": str(run.path),
                "name": run.name,
                "started": run.started,
                "host": run.host,
                **{f"tag_{tag}": run.tags.get(tag) for tag in tags},
                **{column: _decimal(run.data.get(column)) for column in _COLUMNS},
                "pue": _decimal(run.report["pue"]),
            }
            for run in self
        ]

    def to_pandas(self, exact: bool = False) -> pandas.DataFrame:
        """A table for pandas. With `exact`, figures are decimals instead of floats."""
        import pandas

        return pandas.DataFrame(self.rows() if exact else [_floats(row) for row in self.rows()])

    def to_polars(self, exact: bool = False) -> polars.DataFrame:
        """A table for polars. With `exact`, figures are decimals with 18 places instead of floats."""
        import polars

        number = polars.Decimal(38, 18) if exact else polars.Float64
        schema = {key: number if key in (*_COLUMNS, "pue") else polars.String for key in self._keys()}
        rows = self.rows() if exact else [_floats(row) for row in self.rows()]
        return polars.DataFrame([_rounded(row) for row in rows], schema=schema)

    def to_arrow(self, exact: bool = True) -> pyarrow.Table:
        """A table for Arrow. Figures are decimals with 18 places, or floats."""
        import pyarrow

        number = pyarrow.decimal128(38, 18) if exact else pyarrow.float64()
        fields = [(key, number if key in (*_COLUMNS, "pue") else pyarrow.string()) for key in self._keys()]
        rows = self.rows() if exact else [_floats(row) for row in self.rows()]
        return pyarrow.Table.from_pylist([_rounded(row) for row in rows], schema=pyarrow.schema(fields))

    def _keys(self) -> list[str]:
        tags = sorted({f"tag_{tag}" for run in self for tag in run.tags})
        return ["path", "name", "started", "host", *tags, *_COLUMNS, "pue"]


def counted(runs: int) -> str:
    """How many runs.

    >>> counted(1), counted(2)
    ('1 run', '2 runs')
    """
    return f"{runs} run" if runs == 1 else f"{runs} runs"


def _decimal(number: object) -> Decimal | None:
    return None if number is None else Decimal(str(number)) if isinstance(number, float) else Decimal(number)  # type: ignore[arg-type]


_PLACES = Decimal("1e-18")


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    # Energy, mass and time have 18 places; only shares and intensities can have more.
    return {key: value.quantize(_PLACES) if isinstance(value, Decimal) else value for key, value in row.items()}


def _floats(row: dict[str, Any]) -> dict[str, Any]:
    return {key: float(value) if isinstance(value, Decimal) else value for key, value in row.items()}


def paths_of(paths: Paths) -> list[str]:
    """One path or several, as words of a command line."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    # A name that starts with a dash is no option.
    return [path if not path.startswith("-") else f"./{path}" for path in (os.fspath(path) for path in several)]


def read(paths: Paths, **accounting: object) -> Runs:
    """Reads runs: a folder of a run, folders with runs below them, or several.

    Assumptions are given as for the program: `pue=1.2`, `zone="GB"`, `emissions_factor=300`, `dataset=`, `basis=`.
    A run inside of another one is not listed beside it.

    >>> runs = read(examples)
    >>> len(runs), runs[0].energy
    (2, 2.5 mWh (measured))
    >>> sum(run.energy for run in runs) == runs.total.energy
    True
    """
    words = ["report", "--format=json", *program.options(**accounting), "--", *paths_of(paths)]
    return Runs(program.parse(program.output(words)))
