"""The interface of codecarbon: `EmissionsTracker`, `OfflineEmissionsTracker`, `track_emissions`."""

from __future__ import annotations

import csv
import datetime
import functools
import inspect
import json
import os
import platform
import time
import uuid
from collections import Counter
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from impact import program
from impact.places import region as place_of
from impact.run import Run, track

if TYPE_CHECKING:
    from types import TracebackType

    from impact.phases import Phase
    from impact.quantity import Quantity
    from impact.records import PhaseRecord, RunRecord

_USED = {
    "allow_multiple_runs", "cloud_provider", "cloud_region", "country_iso_code", "experiment_id", "log_level",
    "measure_power_secs", "offline", "on_csv_write", "output_dir", "output_file", "project_name", "pue", "region",
    "save_to_file", "tracking_mode",
}  # fmt: skip
# Seconds for which the figures of a task are awaited.
_PATIENCE = 2.0
_TASK_COLUMNS = (
    "task_name", "timestamp", "project_name", "run_id", "duration", "emissions", "emissions_rate", "cpu_power",
    "gpu_power", "ram_power", "cpu_energy", "gpu_energy", "ram_energy", "energy_consumed", "water_consumed",
    "country_name", "country_iso_code", "cloud_provider", "cloud_region", "os", "python_version", "codecarbon_version",
    "cpu_count", "cpu_model", "gpu_count", "gpu_model", "ram_total_size", "tracking_mode", "cpu_utilization_percent",
    "gpu_utilization_percent", "ram_utilization_percent", "ram_used_gb", "on_cloud",
)  # fmt: skip


@dataclass
class EmissionsData:
    """A row of `emissions.csv`. What is not known is None, and an empty cell.

    Energies are in kWh and mean powers in W, PUE included, as that tool has them; emissions in kg, their rate in kg/s,
    the duration in seconds, memory in GiB.
    """

    timestamp: str
    project_name: str
    run_id: str
    experiment_id: str
    duration: float | None
    emissions: float | None
    emissions_rate: float | None
    cpu_power: float | None
    gpu_power: float | None
    ram_power: float | None
    cpu_energy: float | None
    gpu_energy: float | None
    ram_energy: float | None
    energy_consumed: float | None
    water_consumed: float | None
    country_name: str | None
    country_iso_code: str | None
    region: str | None
    cloud_provider: str | None
    cloud_region: str | None
    os: str
    python_version: str
    codecarbon_version: str
    cpu_count: int | None
    cpu_model: str | None
    gpu_count: int | None
    gpu_model: str | None
    longitude: float | None
    latitude: float | None
    ram_total_size: float | None
    tracking_mode: str
    cpu_utilization_percent: float | None
    gpu_utilization_percent: float | None
    ram_utilization_percent: float | None
    ram_used_gb: float | None
    on_cloud: str
    pue: float
    wue: float | None


class EmissionsTracker:
    """Measures this process and all that it starts; writes a line of `emissions.csv` at the end.

    These arguments are used: project_name, output_dir, output_file, country_iso_code, measure_power_secs, save_to_file,
    tracking_mode, pue, region, cloud_provider, cloud_region, on_csv_write, experiment_id. Others are accepted, with a
    warning if they would change the result. The run is also recorded in `output_dir/impact-logs`, of
    which statements can be made.

    Figures of tasks are always those of this process, and say so in `tracking_mode`.
    """

    def __init__(
        self,
        project_name: str = "codecarbon",
        measure_power_secs: float = 15,
        *,
        output_dir: str = ".",
        output_file: str = "emissions.csv",
        save_to_file: bool = True,
        tracking_mode: str = "machine",
        log_level: str | int = "info",
        pue: float = 1.0,
        country_iso_code: str | None = None,
        region: str | None = None,
        cloud_provider: str | None = None,
        cloud_region: str | None = None,
        on_csv_write: str = "append",
        experiment_id: str | None = None,
        **others: Any,
    ) -> None:
        unused = sorted(name for name, value in others.items() if name not in _USED and value is not None)
        if unused:
            program.tell(f"these arguments of codecarbon have no effect: {', '.join(unused)}")
        if tracking_mode not in ("machine", "process"):
            raise ValueError(f"tracking_mode is 'machine' or 'process', not {tracking_mode!r}")
        self.run_id = str(uuid.uuid4())
        self.final_emissions: float | None = None
        """Emissions in kg, after the end."""
        self.final_emissions_data: EmissionsData | None = None
        self._project = project_name
        self._file = Path(output_dir) / output_file if save_to_file else None
        self._folder = Path(output_dir)
        self._mode = tracking_mode
        self._pue = pue
        self._on_write = on_csv_write
        self._experiment = experiment_id or str(uuid.uuid4())
        self._cloud = (cloud_provider, cloud_region)
        cloud = f"{cloud_provider}:{cloud_region}" if cloud_provider and cloud_region else None
        self._place = _place(country_iso_code, region, cloud)
        self._info: dict[str, Any] = {}
        self._run: Run = track(
            self._folder / "impact-logs" / f"{datetime.datetime.now():%Y-%m-%dT%H-%M-%S}-{self.run_id[:8]}",
            name=project_name,
            zone=self._place.get("zone"),
            region=cloud,
            pue=pue,
            interval=measure_power_secs,
            tags={"codecarbon_run_id": self.run_id},
        )
        self._tasks: dict[str, Phase | None] = {}
        """The phase of each task; None if it has ended."""
        self._begun: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self._written = False

    @property
    def run(self) -> Run:
        """The run of `impact`."""
        return self._run

    def start(self) -> None:
        """Starts to measure."""
        self._run.start()

    def stop(self) -> float | None:
        """Ends the measurement; gives the emissions in kg."""
        for name in [name for name, phase in self._tasks.items() if phase is not None]:
            self.stop_task(name)
        self._run.stop()
        return self._write()

    def flush(self) -> float | None:
        """Writes a line with the figures so far; gives the emissions in kg."""
        return self._write()

    def start_task(self, task_name: str | None = None) -> None:
        """Begins a task."""
        if not self._run.is_running:
            self._run.start()
        name = task_name or uuid.uuid4().hex
        self._tasks[name] = self._run.phase(name).__enter__()
        self._begun[name] = time.monotonic()

    def stop_task(self, task_name: str | None = None) -> EmissionsData | None:
        """Ends a task; gives its figures, None if they are not known."""
        running = [name for name, phase in self._tasks.items() if phase is not None]
        name = task_name or (running[-1] if running else None)
        phase = self._tasks.get(name) if name is not None else None
        if name is None or phase is None:
            program.tell("there is no such task")
            return None
        self._seconds[name] = self._seconds.get(name, 0.0) + time.monotonic() - self._begun[name]
        phase.__exit__(None, None, None)
        self._tasks[name] = None
        end = time.monotonic() + _PATIENCE
        while (record := self._record()) is not None and time.monotonic() < end:
            task = record.phases.get(name)
            # The tracker writes the end of a task some milliseconds after it.
            if task is not None and float(task.duration) >= self._seconds[name] - 1e-3:
                return self._of_phase(record, task)
            time.sleep(0.005)
        return None

    def __enter__(self) -> EmissionsTracker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _record(self) -> RunRecord | None:
        try:
            record = self._run.record
        except program.ImpactError as error:
            # The job may be ending with an exception of its own.
            program.tell(f"the figures of this run cannot be read: {error}")
            return None
        if record is not None:
            self._info = self._info or _info(record.path)
            if not self._place:
                zone = (record.report.get("carbon") or {}).get("zone")
                self._place = _place(None, None, None, zone)
        return record

    def _write(self) -> float | None:
        record = self._record()
        if record is None:
            return None
        data = self._data(record, record.duration, _parts(record, self._mode), self._mode)
        self.final_emissions_data = data
        self.final_emissions = data.emissions
        if self._file is not None:
            try:
                self._write_row(asdict(data), self._file, [field.name for field in fields(EmissionsData)])
                self._write_tasks(record)
            except OSError as error:
                program.tell(f"{self._file} cannot be written: {error.strerror}")
        return data.emissions

    def _write_row(self, row: dict[str, Any], file: Path, columns: list[str]) -> None:
        rows = []
        if file.exists() and (self._on_write == "update" or self._written):
            with open(file, encoding="utf-8", newline="") as existing:
                rows = [old for old in csv.DictReader(existing) if old.get("run_id") != self.run_id]
        is_new = bool(rows) or not file.exists() or self._on_write == "update" or self._written
        self._written = True
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "w" if is_new else "a", encoding="utf-8", newline="") as output:
            writer = csv.DictWriter(output, columns, extrasaction="ignore")
            if is_new:
                writer.writeheader()
                writer.writerows(rows)
            writer.writerow(row)

    def _write_tasks(self, record: RunRecord) -> None:
        rows = [
            {"task_name": name, **asdict(self._of_phase(record, phase))}
            for name, phase in record.phases.items()
            if name in self._tasks
        ]
        if not rows:
            return
        with open(self._folder / f"emissions_base_{self.run_id}.csv", "w", encoding="utf-8", newline="") as output:
            writer = csv.DictWriter(output, _TASK_COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)

    def _of_phase(self, record: RunRecord, phase: PhaseRecord) -> EmissionsData:
        parts = {device: energy.to("kWh").exact for device, energy in phase.devices.items()}
        return self._data(record, phase.duration.to("h"), parts, "process")

    def _data(
        self, record: RunRecord, duration: Quantity | None, parts: dict[str, Decimal], mode: str
    ) -> EmissionsData:
        hours = None if duration is None else duration.exact
        seconds = None if hours is None else float(hours * 3600)
        pue = Decimal(str(record.pue))
        energy = sum(parts.values(), Decimal(0)) * pue if parts else None
        intensity = (record.report.get("carbon") or {}).get("intensity_g_per_kwh")
        emissions = None if energy is None or intensity is None else float(energy * Decimal(intensity) / 1000)

        def kwh(part: str) -> float | None:
            return float(parts[part] * pue) if part in parts else None

        def watts(part: str) -> float | None:
            return float(parts[part] * pue / hours * 1000) if part in parts and hours else None

        provider, cloud_region = self._cloud
        host = self._info.get("host") or {}
        gpus = [gpu.get("name") for gpu in host.get("gpus") or []]
        memory = host.get("memory_bytes")
        return EmissionsData(
            timestamp=datetime.datetime.now().isoformat(timespec="seconds"),
            project_name=self._project,
            run_id=self.run_id,
            experiment_id=self._experiment,
            duration=seconds,
            emissions=emissions,
            emissions_rate=emissions / seconds if emissions is not None and seconds else None,
            cpu_power=watts("cpu"),
            gpu_power=watts("gpu"),
            ram_power=watts("dram"),
            cpu_energy=kwh("cpu"),
            gpu_energy=kwh("gpu"),
            ram_energy=kwh("dram"),
            energy_consumed=None if energy is None else float(energy),
            water_consumed=None,
            country_name=self._place.get("country_name"),
            country_iso_code=self._place.get("country"),
            region=self._place.get("state"),
            cloud_provider=provider,
            cloud_region=cloud_region,
            os=platform.platform(),
            python_version=platform.python_version(),
            codecarbon_version="impact",
            cpu_count=os.cpu_count(),
            cpu_model=(host.get("cpu") or {}).get("brand"),
            gpu_count=len(gpus) or None,
            gpu_model=", ".join(f"{count} x {name}" for name, count in Counter(gpus).items()) or None,
            longitude=_float(self._place.get("lon")),
            latitude=_float(self._place.get("lat")),
            ram_total_size=memory / 2**30 if memory else None,
            tracking_mode=mode,
            cpu_utilization_percent=None,
            gpu_utilization_percent=None,
            ram_utilization_percent=None,
            ram_used_gb=None,
            on_cloud="Y" if provider else "N",
            pue=record.pue,
            wue=None,
        )


class OfflineEmissionsTracker(EmissionsTracker):
    """The same; the place is given by `country_iso_code` or a cloud region."""

    def __init__(self, *args: Any, country_iso_code: str | None = None, **options: Any) -> None:
        if country_iso_code is None and not options.get("cloud_provider"):
            raise ValueError("give country_iso_code, or cloud_provider and cloud_region")
        super().__init__(*args, country_iso_code=country_iso_code, **options)


def track_emissions(function: Callable[..., Any] | None = None, offline: bool = False, **options: Any) -> Any:
    """Measures every call of a function. The arguments are those of the trackers."""
    if function is None:
        return functools.partial(track_emissions, offline=offline, **options)

    kind = OfflineEmissionsTracker if offline else EmissionsTracker
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def of_coroutine(*args: Any, **kwargs: Any) -> Any:
            with kind(**options):
                return await function(*args, **kwargs)

        return of_coroutine

    @functools.wraps(function)
    def measured(*args: Any, **kwargs: Any) -> Any:
        with kind(**options):
            return function(*args, **kwargs)

    return measured


def _parts(record: RunRecord, mode: str) -> dict[str, Decimal]:
    """Energy by device in kWh: of the run, or of the whole machine."""
    parts: dict[str, Decimal] = {}
    for device in record.report.get("devices", []):
        kind = device.get("counted_as")
        energy = device.get("machine_kwh" if mode == "machine" else "attributed_kwh")
        if kind is not None and energy is not None:
            parts[kind] = parts.get(kind, Decimal(0)) + Decimal(energy)
    return parts


def _place(country: str | None, state: str | None, cloud: str | None, zone: str | None = None) -> dict[str, Any]:
    """The answer of `impact region`, with the name of the country."""
    if country is None and cloud is None and zone is None:
        return {}
    try:
        if zone is not None:
            place = place_of(zone=zone).data
        elif cloud is not None:
            place = place_of(cloud=cloud).data
        elif state is not None:
            place = place_of(address=f"{state}, {country}").data
        else:
            place = place_of(country=country).data
        name = place_of(country=place["country"]).data["name"] if place.get("country") else None
    except program.ImpactError as error:
        program.tell(f"the place is not known: {error}")
        return {}
    return {**place, "country_name": name}


def _info(run: Path) -> dict[str, Any]:
    """What the log says of the machine; nothing if it cannot be read."""
    try:
        info = json.loads((run / "impacttracker" / "info.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return info if isinstance(info, dict) else {}


def _float(number: object) -> float | None:
    return None if number is None else float(number)  # type: ignore[arg-type]
