"""However a process ends: no tracker stays behind, and every log can be read."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Machine, await_no_tracker, log_of, python, spin, trackers_of

import impact

BUSY = """
import impact, signal, sys
# A shell lets its background jobs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
run = impact.start(sys.argv[1], interval=0.05)
print("started", flush=True)
while True:
    with run.phase("work"):
        pass
"""

# Ends at some instant after it was started, also before or while the tracker starts.
ENDS = """
import os, sys, threading, time
out, ending, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
if ending == "os._exit":
    threading.Timer(seconds, os._exit, [3]).start()
end = time.monotonic() + seconds
import impact
run = impact.start(out, interval=0.05)
while ending != "out of memory" or time.monotonic() < end:
    with run.phase("work"):
        pass
import resource
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
blocks = []
while True:
    blocks.append(bytearray(16 << 20))
"""
ENDINGS = ("killed", "killed after its tracker", "killed before its tracker", "os._exit", "out of memory")
KILLS = 100
AT_ONCE = 10


def readable(run: Path) -> bool:
    """Whether there is a log; it is there as a whole, or not at all."""
    if not (run / "impacttracker" / "data.json").exists():
        return False
    _, samples = log_of(run)
    assert samples
    assert len(impact.read(run)) == 1
    return True


def end(process: subprocess.Popen[bytes], ending: str, out: str) -> None:
    if ending in ("os._exit", "out of memory"):
        assert process.wait(60) == (3 if ending == "os._exit" else 1)
        return
    victims = [process.pid]
    if "tracker" in ending:
        # As when the kernel ends all processes of a group.
        trackers = trackers_of(f"--out={out}\0")
        victims = [*trackers, *victims] if "after" in ending else [*victims, *trackers]
    for pid in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL


def test_killed_at_random_instants(machine: Machine) -> None:
    instants = random.Random(7)
    logs = 0
    for first in range(0, KILLS, AT_ONCE):
        seconds = sorted(instants.uniform(0.0, 0.8) for _ in range(AT_ONCE))
        jobs = []
        for number, instant in enumerate(seconds, first):
            out, ending = f"killed-{number}", ENDINGS[number % len(ENDINGS)]
            command = [sys.executable, "-c", ENDS, out, ending, str(instant)]
            jobs.append((subprocess.Popen(command, stderr=subprocess.DEVNULL), ending, out))
        start = time.monotonic()
        for (process, ending, out), instant in zip(jobs, seconds):
            time.sleep(max(0.0, start + instant - time.monotonic()))
            end(process, ending, out)
        await_no_tracker("--out=killed-")
        logs += sum(readable(Path(out)) for _, _, out in jobs)
    # Most had begun to measure.
    assert logs > KILLS / 2


@pytest.mark.parametrize(
    "ending",
    [
        "os._exit(3)",
        "os.abort()",
        "sys.exit(4)",
        "raise ValueError('mine')",
        "os.kill(os.getpid(), 9)",
        "os.kill(os.getpid(), 15)",
        "os.kill(os.getpid(), 2)",
        "os.execv('/bin/true', ['true'])",
        "pass",
    ],
)
def test_endings(machine: Machine, ending: str) -> None:
    start = "import impact, os, sys; run = impact.start('ended-so', strict=True)"
    done = python(f"{start}; exec({ending!r})")
    plain = python(f"import os, sys; exec({ending!r})")
    assert done.returncode == plain.returncode
    assert done.stdout == plain.stdout
    assert done.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]
    await_no_tracker("--out=ended-so")
    info, samples = log_of(Path("ended-so"))
    assert "ended" in info
    assert samples


def test_ctrl_c_at_a_terminal_ends_the_job_and_completes_the_log(machine: Machine) -> None:
    # Keys of a terminal signal the whole group of the job.
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, "interrupted"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
    await_no_tracker("--out=interrupted")
    info, _ = log_of(Path("interrupted"))
    assert "ended" in info


def test_out_of_memory(machine: Machine) -> None:
    script = """
import impact, resource
run = impact.start("full")
resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))
blocks = []
while True:
    blocks.append(bytearray(16 << 20))
"""
    done = python(script)
    assert "MemoryError" in done.stderr
    await_no_tracker("--out=full")
    readable(Path("full"))


def worker(run: impact.Run) -> int:
    with run.phase("worker"):
        spin(0.2)
    return os.getpid()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_eight_workers_are_counted_once(machine: Machine, method: str) -> None:
    with impact.track("workers") as run:
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(8, mp_context=context) as pool:
            jobs = [pool.submit(worker, run) for _ in range(8)]
            machine.spend(10)
            pids = {job.result() for job in jobs}
        machine.spend(5)
    assert os.getpid() not in pids
    assert run.energy is not None
    assert float(run.energy.to("J")) == pytest.approx(15.0)
    assert run.phases["worker"].repetitions == 8
    assert len(impact.read(".")) == 1


def checked(run: impact.Run) -> bool:
    run.check()
    with impact.track(f"runs/worker-{os.getpid()}", strict=True) as own:
        spin(0.2)
    return own.energy is not None


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_eight_workers_with_runs_of_their_own_are_counted_once(machine: Machine, method: str) -> None:
    with impact.track("runs/all") as run:
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(8, mp_context=context) as pool:
            jobs = [pool.submit(checked, run) for _ in range(8)]
            machine.spend(10)
            assert all(job.result() for job in jobs)
        machine.spend(5)
    inner = [log_of(path)[0] for path in Path("runs").glob("worker-*")]
    assert inner
    assert {info["inside"] for info in inner} == {run.id}
    total = impact.read("runs").total.energy
    assert total is not None
    assert float(total.to("J")) == pytest.approx(15.0)


def burn(seconds: float) -> None:
    while time.process_time() < seconds:
        pass


def test_the_cpu_time_of_workers_belongs_to_the_run() -> None:
    with impact.track("cpu") as run, concurrent.futures.ProcessPoolExecutor(2) as pool:
        list(pool.map(burn, [1.0, 1.0]))
    assert run.record is not None
    assert run.record.cpu_time is not None
    # Once, and what starting the workers takes.
    assert 1.9 < float(run.record.cpu_time.to("s")) < 3.5


def test_a_forked_child_neither_stops_the_run_nor_leaves_anything(machine: Machine) -> None:
    script = """
import impact, os, sys
run = impact.start("forked", strict=True)
pid = os.fork()
if pid == 0:
    with run.phase("child"):
        pass
    run.stop()
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
run.check()
with run.phase("parent"):
    pass
run.stop()
print(sorted(run.phases))
"""
    done = python(script)
    assert done.stdout.strip() == "['child', 'parent']", done.stderr
    assert done.stderr == ""


def test_a_worker_that_outlives_the_job_does_not_hold_the_tracker(machine: Machine) -> None:
    script = """
import impact, os, time
run = impact.start("outlived", strict=True)
if os.fork() == 0:
    time.sleep(30)
    os._exit(0)
os._exit(0)
"""
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    await_no_tracker("--out=outlived")
    readable(Path("outlived"))


def test_programs_that_the_job_starts_may_mark_phases(machine: Machine) -> None:
    with impact.track("a") as run:
        subprocess.run([impact.program.path(), "mark", "--start", "tool"], check=True)
        subprocess.run([impact.program.path(), "mark", "--end", "tool"], check=True)
    assert "tool" in run.phases


def test_a_tracked_program_inside_of_a_run_is_part_of_it(machine: Machine) -> None:
    with impact.track("logs/outer") as outer:
        command = [impact.program.path(), "track", "-q", "--out", "logs/inner", "--", "true"]
        subprocess.run(command, check=True)
    assert log_of(Path("logs/inner"))[0]["inside"] == outer.id


def test_under_the_program_phases_go_to_its_run(machine: Machine) -> None:
    script = "import impact\nwith impact.phase('inside', count={'n': 3}): pass\n"
    command = [impact.program.path(), "track", "-q", "--out", "outer", "--", sys.executable, "-c", script]
    subprocess.run(command, check=True)
    assert impact.read("outer")[0].phases["inside"].counts == {"n": 3}


def test_the_module_runs_the_program() -> None:
    done = subprocess.run([sys.executable, "-m", "impact", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("impact ")
    failed = subprocess.run([sys.executable, "-m", "impact", "track", "--", "sh", "-c", "exit 7"], check=False)
    assert failed.returncode == 7
