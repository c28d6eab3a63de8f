"""What the package costs a job, against bounds: importing, starting and stopping, and many short phases.

    python benches/cost.py

Use the release build of the program, on a machine that is otherwise idle. The exit code is 1 if a bound is exceeded.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

import impact

REPETITIONS = 15


def import_time() -> float:
    """Seconds for `import impact` in a new interpreter, the median."""
    script = "import time; t = time.perf_counter(); import impact; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in range(9)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def start_and_stop() -> float:
    """Seconds for the start and the stop of a run, the median."""

    def once() -> float:
        begin = time.perf_counter()
        run = impact.start(tempfile.mkdtemp(), strict=True)
        started = time.perf_counter()
        time.sleep(0.05)
        ending = time.perf_counter()
        run.stop()
        return started - begin + time.perf_counter() - ending

    once()
    return statistics.median(once() for _ in range(REPETITIONS))


def spin(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def phases() -> tuple[float, float]:
    """What a job with 1,000 phases of 1 ms spends beginning and ending them: part of its time, and seconds of CPU time.

    The first contains what others on the machine do meanwhile, so it holds for an idle machine only.
    """
    shares, times = [], []
    for _ in range(REPETITIONS):
        with impact.track(tempfile.mkdtemp(), strict=True) as run:
            spin(0.05)
            cost = 0.0
            begin = time.perf_counter()
            for _ in range(1000):
                before = time.perf_counter()
                phase = run.phase("short").__enter__()
                middle = time.perf_counter()
                spin(0.001)
                after = time.perf_counter()
                phase.__exit__(None, None, None)
                cost += middle - before + time.perf_counter() - after
            shares.append(cost / (time.perf_counter() - begin))
            cpu = time.thread_time()
            for _ in range(1000):
                run.phase("short").__enter__().__exit__(None, None, None)
            times.append(time.thread_time() - cpu)
    return statistics.median(shares), statistics.median(times)


def main() -> None:
    """Prints the figures and their bounds."""
    median, cpu = phases()
    rows = [
        ("import impact", import_time() * 1e3, 30, "ms"),
        ("start and stop", start_and_stop() * 1e3, 40, "ms"),
        ("1,000 phases of 1 ms, median", median * 100, 2, "% of the job's time"),
    ]
    for name, figure, bound, unit in rows:
        print(f"{name:32} {figure:8.2f} {unit} (bound {bound})")
    print(f"{'1,000 phases, CPU time':32} {cpu * 1e3:8.2f} ms")
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs, Python {sys.version.split()[0]}")
    sys.exit(any(figure > bound for _, figure, bound, _ in rows))


if __name__ == "__main__":
    main()
