"""The interfaces of other tools."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import logs
import pytest
from conftest import Machine, Simulator, await_no_tracker, python, spin

import impact
from impact.compat.codecarbon import EmissionsTracker, OfflineEmissionsTracker, track_emissions
from impact.compat.experiment_impact_tracker import (
    CPUAttributeAssertionError,
    DataInterface,
    GPUAttributeAssertionError,
    ImpactTracker,
    assert_cpus_by_attributes,
    assert_gpus_by_attributes,
)
from impact.compat.measurement import (
    AsynchronousMeasurementTool,
    EnergyMeasurementTool,
    power_cap_profiler,
    reset_power_cap,
    set_power_cap,
)

FIXTURES = Path(__file__).with_name("fixtures")


def table(file: Path | str) -> list[dict[str, str]]:
    with open(file, encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def header(file: Path | str) -> list[str]:
    with open(file, encoding="utf-8", newline="") as text:
        return next(csv.reader(text))


# experiment-impact-tracker


def test_impact_tracker(machine: Machine) -> None:
    tracker = ImpactTracker("logs", (48.8566969, 2.3514616))
    assert tracker.initial_info["region"]["id"] == "FR"
    assert tracker.initial_info["region_carbon_intensity_estimate"]["carbonIntensity"] > 0
    tracker.launch_impact_monitor()
    tracker.launch_impact_monitor()
    machine.spend(3)
    info = tracker.get_latest_info_and_check_for_errors()
    assert info is not None
    assert "timestamp" in info
    tracker.stop()
    data = DataInterface(["logs"])
    assert data.total_power is not None
    assert float(data.total_power) == pytest.approx(3 / 3.6e6 * data.PUE)  # type: ignore[operator]
    assert data.kg_carbon is not None
    assert len(data.data) == 1


def test_impact_tracker_as_a_context_manager_and_without_a_place(machine: Machine) -> None:
    with ImpactTracker("logs") as tracker:
        assert tracker.initial_info["region"]["id"] is None
    assert DataInterface("logs").kg_carbon is None


def test_a_tracker_that_died_is_an_error_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPACT_PROGRAM", "/bin/false")
    tracker = ImpactTracker("logs")
    with pytest.warns(impact.ImpactWarning, match="not measured"):
        tracker.launch_impact_monitor()
    with pytest.raises(impact.TrackerDiedError):
        tracker.get_latest_info_and_check_for_errors()


def test_parts_add_up_to_the_whole_exactly(tmp_path: Path) -> None:
    for number in range(9):
        logs.write(tmp_path / f"r{number}", 1e6 / (number + 7), zone="GB")
    folders = [str(tmp_path / f"r{number}") for number in range(9)]
    a, b, both = DataInterface(folders[:4]), DataInterface(folders[4:]), DataInterface(folders)
    assert a.kg_carbon + b.kg_carbon == both.kg_carbon  # type: ignore[operator]
    assert a.total_power + b.total_power == both.total_power  # type: ignore[operator]
    assert sum(DataInterface(folder).kg_carbon for folder in folders) == both.kg_carbon  # type: ignore[misc]
    assert a.exp_len_hours + b.exp_len_hours == both.exp_len_hours  # type: ignore[operator]
    assert f"{both.kg_carbon}" == repr(float(both.kg_carbon))  # type: ignore[arg-type]
    assert both.PUE == a.PUE


def test_hardware_that_is_not_the_one_asked_for() -> None:
    with pytest.raises(GPUAttributeAssertionError):
        assert_gpus_by_attributes({"name": "GeForce GTX TITAN X"})
    with pytest.raises(CPUAttributeAssertionError, match="expected"):
        assert_cpus_by_attributes({"brand": "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz"})
    with pytest.raises(CPUAttributeAssertionError, match="cannot be checked"):
        assert_cpus_by_attributes({"colour": "red"})


def test_scripts_run_unchanged(machine: Machine) -> None:
    Path("script.py").write_text(
        """
import sys, tempfile
from experiment_impact_tracker.compute_tracker import ImpactTracker
from experiment_impact_tracker.data_interface import DataInterface
from experiment_impact_tracker.gpu.nvidia import assert_gpus_by_attributes
from experiment_impact_tracker.cpu.common import assert_cpus_by_attributes
import codecarbon, perun, measurement, profiler
logs = sys.argv[1]
tracker = ImpactTracker(logs)
tracker.launch_impact_monitor()
for step in range(100):
    if step % 10 == 9:
        info = tracker.get_latest_info_and_check_for_errors()
print(sorted(info)[:1], __name__)
"""
    )
    done = subprocess.run(
        [sys.executable, "-m", "impact.compat", "script.py", "logs"], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["['average_relative_cpu_utilization']", "__main__"] or "__main__" in done.stdout, (
        done.stderr
    )
    assert done.returncode == 0, done.stderr
    assert len(impact.read("logs")) == 1
    await_no_tracker("--out=logs")


# codecarbon


def test_emissions_file_has_the_columns_of_a_real_one(simulator: Simulator) -> None:
    tracker = OfflineEmissionsTracker(
        project_name="demo", country_iso_code="DEU", measure_power_secs=1, output_dir=".", log_level="error", pue=1.2
    )
    tracker.start()
    spin(0.5)
    kilograms = tracker.stop()
    assert header("emissions.csv") == header(FIXTURES / "codecarbon-emissions.csv")
    (row,) = table("emissions.csv")
    (real, _) = table(FIXTURES / "codecarbon-emissions.csv")
    assert row["project_name"] == "demo"
    assert row["country_iso_code"] == real["country_iso_code"]
    assert row["country_name"] == real["country_name"]
    assert row["tracking_mode"] == real["tracking_mode"]
    assert row["pue"] == real["pue"]
    assert float(row["emissions"]) == kilograms == tracker.final_emissions
    # PUE is inside of energy and power there.
    seconds = float(row["duration"])
    expected = simulator.watts * seconds / 3.6e6 * 1.2
    assert float(row["energy_consumed"]) == pytest.approx(expected, rel=0.03)
    assert float(row["cpu_power"]) == pytest.approx(simulator.watts * 1.2, rel=0.03)
    parts = [float(row[part] or 0) for part in ("cpu_energy", "gpu_energy", "ram_energy")]
    assert sum(parts) == pytest.approx(float(row["energy_consumed"]))
    assert float(row["emissions_rate"]) == pytest.approx(float(row["emissions"]) / seconds)
    # What is not known is no nought.
    assert row["gpu_energy"] == ""
    assert row["water_consumed"] == ""


def test_tasks(simulator: Simulator) -> None:
    tracker = EmissionsTracker(country_iso_code="FRA", tracking_mode="process", save_to_file=True)
    tracker.start_task("load")
    spin(0.3)
    tracker.stop_task("load")
    tracker.start_task("train")
    spin(0.6)
    tracker.stop_task()
    tracker.stop()
    (file,) = Path().glob("emissions_base_*.csv")
    assert header(file) == header(FIXTURES / "codecarbon-tasks.csv")
    rows = {row["task_name"]: row for row in table(file)}
    for row in rows.values():
        expected = simulator.watts * float(row["duration"]) / 3.6e6
        # Where other jobs leave no time to this one, it is not charged.
        assert float(row["energy_consumed"]) == pytest.approx(expected, rel=0.15)
    assert 0.6 <= float(rows["train"]["duration"]) < 1.0
    assert float(rows["train"]["emissions"]) > 0


def test_lines_are_appended_and_flush_replaces_the_own_one(machine: Machine) -> None:
    for _ in range(2):
        with EmissionsTracker(project_name="two") as tracker:
            tracker.flush()
            tracker.flush()
    rows = table("emissions.csv")
    assert len({row["run_id"] for row in rows}) == len(rows) == 2


def test_no_place_is_no_emission(machine: Machine) -> None:
    with EmissionsTracker() as tracker:
        machine.spend(1)
    assert tracker.final_emissions is None
    assert table("emissions.csv")[0]["emissions"] == ""


def test_the_decorator_and_arguments_without_effect(machine: Machine) -> None:
    @track_emissions(offline=True, country_iso_code="FRA", output_file="mine.csv", api_key="x", gpu_ids=[0])
    def work(n: int) -> int:
        return n + 1

    with pytest.warns(impact.ImpactWarning, match="api_key, gpu_ids"):
        assert work(1) == 2
    assert len(table("mine.csv")) == 1

    @track_emissions
    def plain() -> str:
        return "plain"

    assert plain() == "plain"
    with pytest.raises(ValueError, match="country_iso_code"):
        OfflineEmissionsTracker()
    with pytest.raises(ValueError, match="tracking_mode"):
        EmissionsTracker(tracking_mode="moon")


def test_a_folder_that_cannot_be_written_does_not_stop_the_job(machine: Machine) -> None:
    Path("file").write_text("")
    with pytest.warns(impact.ImpactWarning), EmissionsTracker(output_dir="file"):
        done = True
    assert done


# perun


def test_a_monitored_application(machine: Machine) -> None:
    script = """
from impact.compat import perun
seen = []
perun.register_callback(lambda record: seen.append(list(record.phases)))

@perun.monitor()
def train():
    return 1

@perun.perun(data_out="results", format="json", app_name="app")
def main():
    return train() + train()

print(main(), seen)
"""
    done = python(script)
    assert done.stdout.strip() == "2 [['train']]", done.stderr
    (file,) = Path("results").glob("app_*.json")
    report = json.loads(file.read_text())
    assert report["runs"][0]["phases"]["train"]["repetitions"] == 2


def test_a_monitored_function_outside_of_an_application_is_a_run(machine: Machine) -> None:
    from impact.compat.perun import monitor

    @monitor(data_out="results", format="csv")
    def work() -> int:
        return 5

    @monitor
    def other() -> int:
        return 6

    assert (work(), other()) == (5, 6)
    assert len(list(Path("results").glob("work_*.csv"))) == 1
    assert len(list(Path("perun_results").glob("other_*.txt"))) == 1
    with pytest.warns(impact.ImpactWarning, match="hdf5"):
        monitor(format="hdf5")(work)


# The measuring classes of the power-cap study


def test_snippets(simulator: Simulator) -> None:
    tool = EnergyMeasurementTool(out_file="snippets.csv", gpu_num=0)
    for seconds in (0.3, 0.6):
        tool.start()
        spin(seconds)
        tool.stop()
    tool.flush()
    with open("snippets.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 2
    for row, seconds in zip(rows, (0.3, 0.6)):
        assert seconds <= float(row[0]) < seconds + 0.3
        assert float(row[1]) == pytest.approx(simulator.watts * float(row[0]) / 3.6e6, rel=0.15)
        assert row[2] == ""


def test_snippets_are_written_at_the_end_of_the_program(machine: Machine) -> None:
    script = """
from impact.compat.measurement import EnergyMeasurementTool
tool = EnergyMeasurementTool("end.csv")
tool.start()
tool.stop()
tool.start()
"""
    done = python(script)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(Path("end.csv").read_text().splitlines()) == 2


def test_a_series(simulator: Simulator) -> None:
    tool = AsynchronousMeasurementTool("series.csv")
    tool.start(0.1)
    spin(0.6)
    tool.stop()
    with open("series.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) >= 5
    assert all(len(row) == 8 for row in rows)
    seconds, kwh = (float(cell) for cell in rows[-1][:2])
    assert kwh == pytest.approx(seconds * simulator.watts / 3.6e6, rel=0.03)
    assert rows[-1][4:] == ["", "", "", ""]


def test_power_caps_say_that_they_are_not_there() -> None:
    for function in (power_cap_profiler, set_power_cap, reset_power_cap):
        with pytest.raises(impact.ImpactError, match="not available yet"):
            function(gpu_num=0)
