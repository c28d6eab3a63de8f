"""The measuring classes of the power-cap study: snippets, series and layers."""

from __future__ import annotations

import atexit
import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impact import program
from impact.run import Run, start, track
from impact.samples import samples

if TYPE_CHECKING:
    from impact.phases import Phase

_J_PER_KWH = 3_600_000


def _folder(run_of: str) -> str:
    """The folder of the run: beside the result, with the name of the result."""
    return f"{run_of}.impact"


class _Tool:
    def __init__(self, out_file: str | os.PathLike[str], gpu_num: int = 0) -> None:
        self.out_file = os.fspath(out_file)
        self.gpu_num = gpu_num
        self.run: Run | None = None
        """The run of `impact`."""
        # As that tool, it fails now and not at the end if the file cannot be written.
        with open(self.out_file, "w", encoding="utf-8"):
            pass

    def _write(self, rows: list[list[Any]]) -> None:
        with open(self.out_file, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)


class EnergyMeasurementTool(_Tool):
    """Energy and time of code between `start` and `stop`.

    Columns of the file, one line a snippet: elapsed time (s), CPU energy (kWh), GPU energy (kWh). The energies are the
    part of this process and all that it starts; an empty cell is not known.
    """

    def __init__(self, out_file: str | os.PathLike[str], gpu_num: int = 0) -> None:
        super().__init__(out_file, gpu_num)
        self._phase: Phase | None = None
        self._count = 0
        atexit.register(self.flush)

    def start(self) -> None:
        """Starts a snippet."""
        if self.run is None:
            self.run = start(_folder(self.out_file), name="EnergyMeasurementTool")
        self._count += 1
        self._phase = self.run.phase(f"snippet {self._count}").__enter__()

    def stop(self) -> None:
        """Ends the snippet."""
        if self._phase is not None:
            self._phase.__exit__(None, None, None)
            self._phase = None

    def flush(self) -> None:
        """Ends the measurement and writes the file; called at the end of the program."""
        atexit.unregister(self.flush)
        if self.run is None:
            return
        self.stop()
        self.run.stop()
        phases = self.run.phases
        rows = []
        for number in range(1, self._count + 1):
            phase = phases.get(f"snippet {number}")
            if phase is not None:
                kwh = [phase.devices.get(device) for device in ("cpu", "gpu")]
                rows.append([float(phase.duration), *("" if e is None else float(e.to("kWh")) for e in kwh)])
        self._write(rows)


class AsynchronousMeasurementTool(_Tool):
    """A series of the whole machine, taken by the tracker.

    Columns of the file, one line a sample: elapsed time (s), CPU energy (kWh), CPU utilisation (%), CPU temperature
    (°C), GPU energy (kWh), GPU utilisation (%), GPU temperature (°C), GPU power (W). Energies count from the start; an
    empty cell is not known. `gpu_num` is the number of the board in the order of the log.
    """

    def start(self, interval: float = 1) -> None:
        """Starts the series."""
        self.run = track(_folder(self.out_file), name="AsynchronousMeasurementTool", interval=interval).start()

    def stop(self) -> None:
        """Ends the series and writes the file."""
        if self.run is None:
            return
        self.run.stop()
        if self.run.path is not None:
            self._write([self._row(sample) for sample in samples(self.run.path)])

    def _row(self, sample: dict[str, Any]) -> list[Any]:
        energy = sample.get("energy", {})
        processors = [
            meter["total_j"] / _J_PER_KWH
            for name, meter in energy.items()
            if (name == "cpu" or name.startswith("package-")) and meter.get("total_j") is not None
        ]
        share, busy = sample.get("average_relative_cpu_utilization"), sample.get("absolute_cpu_utilization")
        # CPUs that the run kept busy, and its part of all CPU time that was used.
        percent = 100 * busy / share / (os.cpu_count() or 1) if share and busy is not None else None
        boards = [name for name in energy if name.startswith("gpu:")]
        board = boards[self.gpu_num] if self.gpu_num < len(boards) else ""
        uuid = board.removeprefix("gpu:")
        utilisation = sample.get("per_gpu_utilization", {}).get(uuid)
        cells = [
            sample.get("elapsed"),
            sum(processors) if processors else None,
            None if percent is None else min(percent, 100.0),
            sample.get("cpu_temperature"),
            energy[board]["total_j"] / _J_PER_KWH if board and energy[board].get("total_j") is not None else None,
            None if utilisation is None else 100 * utilisation,
            sample.get("per_gpu_temperature", {}).get(uuid),
            sample.get("per_gpu_power_draw", {}).get(uuid),
        ]
        return ["" if cell is None else cell for cell in cells]


class LayerwiseMeasurementTool(_Tool):
    """Energy of the layers of a PyTorch model.

    Lines of the file: type of the layer, mean energy of a pass (J), forward and backward together. As in that study,
    the energy of the run is spread over the layers by time alone.
    """

    _layers: Any = None

    def start(self, model: Any) -> Any:
        """Starts to measure; gives the model."""
        from impact.torch import layers

        self.run = start(_folder(self.out_file), name="LayerwiseMeasurementTool")
        self._layers = layers(model, self.run).__enter__()
        return model

    def stop(self) -> None:
        """Ends the measurement and writes the file."""
        if self.run is None or self._layers is None:
            return
        self._layers.__exit__(None, None, None)
        self.run.stop()
        record = self.run.record
        if record is None or record.energy is None or not record.duration:
            program.tell(f"the energy is not known, so {Path(self.out_file).name} stays empty")
            return
        watts = float(record.energy.to("J")) / float(record.duration.to("s"))
        seconds: dict[str, float] = {}
        passes: dict[str, int] = {}
        kinds: dict[str, str] = {}
        for row in self._layers.table():
            kinds[row.layer] = row.kind
            seconds[row.layer] = seconds.get(row.layer, 0.0) + row.seconds
            if row.direction == "forward":
                passes[row.layer] = passes.get(row.layer, 0) + row.calls
        self._write([[kinds[name], seconds[name] * watts / passes[name]] for name in passes])


def power_cap_profiler(*args: Any, **kwargs: Any) -> Any:
    """Not available yet."""
    raise program.ImpactError("power_cap_profiler is not available yet: `impact powercap` has no `profile`")


def set_power_cap(gpu_num: int, cap: float) -> None:
    """Caps the power of a board in watts, until `reset_power_cap` or the next boot."""
    program.output(["powercap", "set", f"{cap}W", *program.options(gpu=gpu_num)])


def reset_power_cap(gpu_num: int = 0) -> None:
    """Gives a board the limit that it had before `set_power_cap`."""
    program.output(["powercap", "reset", *program.options(gpu=gpu_num)])
