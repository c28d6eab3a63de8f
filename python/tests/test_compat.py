"""The interfaces of other tools."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import logs
import pytest
from conftest import Machine, Simulator, await_no_tracker, log_of, python

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


def await_text(file: Path, text: str) -> None:
    end = time.monotonic() + 20
    while text not in file.read_text():
        assert time.monotonic() < end, f"{file} has no {text}"
        time.sleep(0.02)


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


def run_as_it_is(script: str, *arguments: str) -> str:
    """The output of a script in which the names of other tools stand for modules of this package."""
    Path("script.py").write_text(script)
    command = [sys.executable, "-m", "impact.compat", "script.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_monitored_experiment_runs_unchanged(machine: Machine) -> None:
    script = """
import sys
from experiment_impact_tracker.compute_tracker import ImpactTracker

def experiment(coordinates=None):
    tracker = ImpactTracker(sys.argv[1], coordinates)
    tracker.launch_impact_monitor()
    print(tracker.initial_info['region']['id'])
    print(tracker.initial_info['region_carbon_intensity_estimate']['carbonIntensity'])
    for step in range(100):
        sum(range(10_000))
        if step % 10 == 9:
            info = tracker.get_latest_info_and_check_for_errors()
    print(info["timestamp"] > 0)

if __name__ == "__main__":
    experiment((45.4972159, -73.6103642))
"""
    zone, intensity, has_info = run_as_it_is(script, "logs").split()
    assert (zone, has_info) == ("CA-QC", "True")
    assert float(intensity) > 0
    await_no_tracker("--out=logs")
    assert "ended" in log_of(Path("logs"))[0]


def test_two_experiments_add_up_exactly_unchanged(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPACT_ZONE", "FR")
    script = """
import tempfile
from experiment_impact_tracker.compute_tracker import ImpactTracker
from experiment_impact_tracker.data_interface import DataInterface

folders = [tempfile.mkdtemp() for _ in range(5)]
for number, folder in enumerate(folders):
    with ImpactTracker(folder):
        sum(i * i for i in range(300_000 * (number + 1)))
parts = [DataInterface([folder]) for folder in folders]
a, b, both = DataInterface(folders[:2]), DataInterface(folders[2:]), DataInterface(folders)
assert both.kg_carbon > 0 and both.total_power > 0
assert a.kg_carbon + b.kg_carbon == both.kg_carbon
assert a.total_power + b.total_power == both.total_power
assert sum(part.kg_carbon for part in parts) == both.kg_carbon
print(len(both.data), both.exp_len_hours > 0, both.PUE)
"""
    runs, has_time, pue = run_as_it_is(script).split()
    assert (runs, has_time) == ("5", "True")
    assert float(pue) > 1


def test_the_wrong_hardware_ends_a_script_unchanged() -> None:
    script = """
from experiment_impact_tracker.gpu.nvidia import assert_gpus_by_attributes
from experiment_impact_tracker.cpu.common import assert_cpus_by_attributes
for check, wanted in (
    (assert_gpus_by_attributes, {"name": "GeForce GTX TITAN X"}),
    (assert_cpus_by_attributes, {"brand": "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz"}),
):
    try:
        check(wanted)
    except Exception as error:
        print(type(error).__name__)
"""
    assert run_as_it_is(script).split() == ["GPUAttributeAssertionError", "CPUAttributeAssertionError"]


def test_the_names_of_all_tools_stand_for_modules_of_this_package() -> None:
    script = """
import codecarbon, experiment_impact_tracker, measurement, perun, profiler
for module in (codecarbon, experiment_impact_tracker, measurement, perun, profiler):
    print(module.__name__)
"""
    names = ["codecarbon", "experiment_impact_tracker", "measurement", "perun", "profiler"]
    modules = [f"impact.compat.{name}" for name in names]
    assert run_as_it_is(script).split() == modules
    folder = Path(impact.__file__).parent / "compat" / "names"
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    assert python(script, env={**os.environ, "PYTHONPATH": path}).stdout.split() == modules


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_a_script_find_the_names_too(method: str) -> None:
    script = """
import multiprocessing, sys
from experiment_impact_tracker.compute_tracker import ImpactTracker
from codecarbon import track_emissions

def work(_):
    return f"{ImpactTracker.__module__},{track_emissions.__module__}"

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(*set(pool.map(work, range(4))))
"""
    modules = "impact.compat.experiment_impact_tracker.compute_tracker,impact.compat.codecarbon"
    assert run_as_it_is(script, method).split() == [modules]


# codecarbon


def test_emissions_file_has_the_columns_of_a_real_one(machine: Machine) -> None:
    tracker = OfflineEmissionsTracker(
        project_name="demo", country_iso_code="DEU", measure_power_secs=1, output_dir=".", log_level="error", pue=1.2
    )
    tracker.start()
    machine.spend(30)
    machine.spend(6, "intel-rapl:0:1")
    assert tracker.final_emissions_data is None
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
    assert float(row["energy_consumed"]) == pytest.approx(36 * 1.2 / 3.6e6)
    assert float(row["cpu_energy"]) == pytest.approx(30 * 1.2 / 3.6e6)
    assert float(row["ram_energy"]) == pytest.approx(6 * 1.2 / 3.6e6)
    assert float(row["cpu_power"]) == pytest.approx(30 * 1.2 / seconds)
    assert float(row["ram_power"]) == pytest.approx(6 * 1.2 / seconds)
    parts = [float(row[part] or 0) for part in ("cpu_energy", "gpu_energy", "ram_energy")]
    assert sum(parts) == pytest.approx(float(row["energy_consumed"]))
    assert float(row["emissions_rate"]) == pytest.approx(float(row["emissions"]) / seconds)
    # What is not known is no nought.
    unknown = {"gpu_power", "gpu_energy", "water_consumed", "gpu_count", "gpu_model", "ram_used_gb", "wue"}
    assert {column: row[column] for column in unknown} == dict.fromkeys(unknown, "")
    assert tracker.final_emissions_data is not None
    assert tracker.final_emissions_data.gpu_energy is None
    assert tracker.final_emissions_data.emissions == tracker.final_emissions


def test_the_machine_is_described_as_in_a_real_file() -> None:
    with OfflineEmissionsTracker(country_iso_code="USA", region="california", log_level="error") as tracker:
        assert tracker.run.path is not None
        # The tracker describes the machine while it measures.
        await_text(tracker.run.path / "impacttracker" / "info.json", '"brand"')
    (row,) = table("emissions.csv")
    assert row["country_name"] == "United States"
    assert row["region"] == "CA"
    assert row["cpu_model"]
    # GiB, as there.
    assert float(row["ram_total_size"]) == pytest.approx(
        os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    )


def test_the_place_of_the_run_is_in_the_file(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPACT_ZONE", "US-CA")
    with EmissionsTracker():
        machine.spend(1)
    (row,) = table("emissions.csv")
    assert (row["country_iso_code"], row["country_name"]) == ("USA", "United States")
    assert float(row["emissions"]) > 0


def test_figures_that_cannot_be_read_leave_the_exception_of_the_job(machine: Machine) -> None:
    def job() -> None:
        with EmissionsTracker(log_level="error") as tracker:
            assert tracker.run.path is not None
            # Not removed: the tracker may write into it at the same time.
            tracker.run.path.rename("elsewhere")
            raise RuntimeError("mine")

    with pytest.warns(impact.ImpactWarning, match="cannot be read"), pytest.raises(RuntimeError, match="mine"):
        job()


def test_tasks(machine: Machine) -> None:
    tracker = EmissionsTracker(country_iso_code="FRA", tracking_mode="machine", save_to_file=True, pue=1.5)
    tracker.start_task("load")
    machine.spend(3)
    load = tracker.stop_task("load")
    assert load is not None
    assert load.energy_consumed == pytest.approx(3 * 1.5 / 3.6e6, rel=0.3)
    assert load.duration is not None
    assert load.duration >= 0.15
    tracker.start_task("train")
    machine.spend(6)
    tracker.stop_task()
    tracker.stop()
    (file,) = Path().glob("emissions_base_*.csv")
    assert header(file) == header(FIXTURES / "codecarbon-tasks.csv")
    rows = {row["task_name"]: row for row in table(file)}
    for name, joules in (("load", 3), ("train", 6)):
        # On a busy machine a mark is late, and what was drawn meanwhile is interpolated.
        assert float(rows[name]["energy_consumed"]) == pytest.approx(joules * 1.5 / 3.6e6, rel=0.3)
        # The part of this process, whatever the tracker has.
        assert rows[name]["tracking_mode"] == "process"
        # machine.spend takes this long.
        assert float(rows[name]["duration"]) >= 0.15
    assert float(rows["train"]["emissions"]) > 0
    assert tracker.final_emissions_data is not None
    assert tracker.final_emissions_data.tracking_mode == "machine"


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

    @track_emissions(output_file="async.csv")
    async def wait() -> str:
        await asyncio.sleep(0.05)
        return "waited"

    assert asyncio.run(wait()) == "waited"
    assert float(table("async.csv")[0]["duration"]) >= 0.05
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

perun.register_live_callback(lambda: print, "live")

@perun.perun(data_out="results", format="json", app_name="app")
def main():
    return train() + train()

print(main(), seen)

@perun.register_callback
def broken(record):
    raise OSError("of the callback")

@perun.perun(data_out="failed")
def fail():
    raise ValueError("of the job")

try:
    fail()
except ValueError as error:
    print(error, error.__context__)
"""
    done = python(script)
    assert done.stdout.splitlines() == ["2 [['train']]", "of the job None"], done.stderr
    assert "the callback broken has failed: OSError('of the callback')" in done.stderr
    assert "live callback" in done.stderr
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


def test_snippets(machine: Machine) -> None:
    tool = EnergyMeasurementTool(out_file="snippets.csv", gpu_num=0)
    for joules in (3, 6):
        tool.start()
        machine.spend(joules)
        tool.stop()
    tool.flush()
    with open("snippets.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 2
    for row, joules in zip(rows, (3, 6)):
        # Seconds, kWh of the CPU, kWh of the GPU.
        assert float(row[0]) >= 0.15
        assert float(row[1]) == pytest.approx(joules / 3.6e6, rel=0.3)
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


def test_a_series(machine: Machine) -> None:
    tool = AsynchronousMeasurementTool("series.csv")
    tool.start(0.1)
    for _ in range(4):
        machine.spend(2)
    tool.stop()
    with open("series.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) >= 5
    assert all(len(row) == 8 for row in rows)
    seconds, kwh = (float(cell) for cell in rows[-1][:2])
    assert seconds >= 0.6
    assert kwh == pytest.approx(8 / 3.6e6)
    assert rows[-1][4:] == ["", "", "", ""]


def test_a_board_is_capped_and_has_its_limit_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = "uuid=GPU-1 name=Stub power=50 energy=1000 limit=250 default=300 least=100 most=350"
    (tmp_path / "scenario").write_text(f"board {board}\n")
    limits = tmp_path / "limits"
    for folder in (limits, tmp_path / "run"):
        folder.mkdir()
    monkeypatch.setenv("IMPACT_NVML_LIB", os.environ["NVML_STUB"])
    monkeypatch.setenv("IMPACT_STUB_SCENARIO", str(tmp_path / "scenario"))
    monkeypatch.setenv("IMPACT_STUB_LIMITS", str(limits))
    monkeypatch.setenv("IMPACT_RUN_ROOT", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    set_power_cap(0, 180)
    assert (limits / "GPU-1").read_text() == "180000"
    reset_power_cap()
    assert (limits / "GPU-1").read_text() == "250000"
    with pytest.raises(impact.ImpactError, match="100"):
        set_power_cap(0, 20)


def test_the_profiler_says_that_it_is_not_there() -> None:
    with pytest.raises(impact.ImpactError, match="not available yet"):
        power_cap_profiler(gpu_num=0)
