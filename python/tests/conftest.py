"""A machine with simulated meters: the program reads a /sys of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from impact import program

RANGE = 262_143_328_850


def spin(seconds: float) -> None:
    """Works: energy is attributed to a run for the time in which it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


class Machine:
    """One package with memory, whose counters a test can move."""

    def __init__(self, folder: Path) -> None:
        self.sys = folder / "sys"
        for zone, name in (("intel-rapl:0", "package-0"), ("intel-rapl:0:0", "core"), ("intel-rapl:0:1", "dram")):
            files = self.sys / "class" / "powercap" / zone
            files.mkdir(parents=True)
            (files / "name").write_text(f"{name}\n")
            (files / "max_energy_range_uj").write_text(f"{RANGE}\n")
            self.set(1_000_000, zone)

    def counter(self, zone: str = "intel-rapl:0") -> Path:
        return self.sys / "class" / "powercap" / zone / "energy_uj"

    def spend(self, joules: float, zone: str = "intel-rapl:0") -> None:
        """Adds energy, in the middle of what is measured: what comes right after the start may belong before it."""
        spin(0.1)
        self.set(int(self.counter(zone).read_text()) + int(joules * 1e6), zone)
        spin(0.05)

    def run_along(self, seconds: float, watts: float) -> float:
        """Works, and moves the counter along with time; gives the joules by which it has moved."""
        start, first = time.monotonic(), int(self.counter().read_text())
        moved = 0
        with open(self.counter(), "r+b", buffering=0) as counter:
            while (now := time.monotonic() - start) < seconds:
                moved = int(now * watts * 1e6)
                os.pwrite(counter.fileno(), f"{first + moved:<19}\n".encode(), 0)
        return moved / 1e6

    def set(self, microjoules: int, zone: str = "intel-rapl:0") -> None:
        self.counter(zone).write_text(f"{microjoules:<19}\n")


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings of the user, or leaves files in the sources."""
    for name in list(os.environ):
        if name.startswith(("IMPACT_", "OVERRIDE_")) and name != program.VARIABLE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Counters that stand still until the test moves them. All energy is attributed to the run."""
    machine = Machine(tmp_path)
    monkeypatch.setenv("IMPACT_SYSFS_ROOT", str(machine.sys))
    # Nobody says how busy the machine is, so that other jobs on it change nothing.
    monkeypatch.setenv("IMPACT_PROCFS_ROOT", str(tmp_path / "no-proc"))
    return machine


class Simulator:
    """Counters that run along a known power, in a process of its own."""

    def __init__(self, machine: Machine, watts: float) -> None:
        self.watts = watts
        script = Path(__file__).with_name("simulator.py")
        command = [sys.executable, str(script), str(machine.counter()), str(watts)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def simulator(machine: Machine) -> Any:
    """The machine draws 50 W."""
    simulator = Simulator(machine, 50.0)
    yield simulator
    simulator.stop()


def log_of(run: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """`info.json` and the samples of a run; fails if the log is not valid."""
    folder = run / "impacttracker"
    info = json.loads((folder / "info.json").read_text())
    lines = (folder / "data.json").read_text().splitlines()
    return info, [json.loads(line) for line in lines]


def trackers_of(text: str) -> list[int]:
    """The trackers whose command line contains the text, as far as they live."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if "\0track\0" in words and text in words and state != "Z":
            found.append(int(entry.name))
    return found


def await_no_tracker(text: str, seconds: float = 2.0) -> None:
    """Fails if such a tracker is there after this time."""
    end = time.monotonic() + seconds
    while trackers_of(text):
        assert time.monotonic() < end, f"{trackers_of(text)} of {text} go on"
        time.sleep(0.02)


def python(script: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs a script in an interpreter of its own."""
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
