#!/usr/bin/env python3
"""Writes logs in the layout of experiment-impact-tracker, and the figures that must come out of them.

    python3 tests/reference/make.py FOLDER

FOLDER gets runs/<name>/impacttracker/{data.json,info.pkl}, an evaluation beside each log, expected.json (figures of
each run), spec.json (a leaderboard) and expected_groups.json (figures of its groups). Every value is made up here.

The figures are computed with that tool's arithmetic, from the values before they are written, in exact fractions:

- The power of a row counts for the interval that ends at the row; the last power counts again until the end.
- total_power is PUE x (CPU + GPU) in kWh; kw_hr_cpu and kw_hr_gpu are without PUE.
- An intensity of "n/a" is that of the row before; before the first number it is the first number; without any number
  it is the mean of the region.
- average_realtime_carbon_intensity is the plain mean over the rows, the last one counted twice if there is a tail.
- gpu_hours is the sum of hours x utilisation x number of GPUs; cpu_hours the last user + system time of each process.

Only the standard library is used. The same bytes come out on every machine and version of Python since 3.6.
"""

import datetime
import json
import pathlib
import pickle
import random
import sys
import types
from fractions import Fraction

PUE = Fraction("1.58")
KWH = 3_600_000
EPOCH = datetime.datetime(1970, 1, 1)
NA = "n/a"


def foreign_class(module, name, state=None):
    """An object of a class that the reader of the pickle does not have."""
    for end in range(len(module.split("."))):
        parent = ".".join(module.split(".")[: end + 1])
        sys.modules.setdefault(parent, types.ModuleType(parent))
    made = type(name, (), {"__module__": module})
    setattr(sys.modules[module], name, made)
    value = made()
    if state is not None:
        value.__dict__.update(state)
    return value


class Run:
    """One run: its rows, and the description that becomes info.pkl."""

    def __init__(self, name, seed, start, utc_offset, steps, tail, gpus=1, protocol=3, mean=250.5, intensity=None,
                 has_intensity=True, score=10.0):
        self.name, self.start, self.offset, self.gpus = name, start, utc_offset, gpus
        self.protocol, self.mean, self.has_intensity, self.score = protocol, mean, has_intensity, score
        draw = random.Random(seed)
        self.rows = []
        at = start
        for number, step in enumerate(steps):
            at = round(at + step, 6)
            self.rows.append({
                "at": at,
                "cpu": round(20 + 60 * draw.random(), 10),
                "gpu": round(50 + 200 * draw.random(), 10) if gpus else None,
                "use": round(draw.random(), 6) if gpus else None,
                "grid": intensity(number, draw) if intensity else round(150 + 200 * draw.random(), 10),
                "times": self.times(number, draw),
            })
        # A multiple of 1/16 s: exact as microseconds and as a float.
        self.end = None if tail is None else round((at + tail) * 16) / 16

    @staticmethod
    def times(number, draw):
        """CPU times by process; the second process ends after a third of the rows, others begin later."""
        grown = {"4711": (round(9.5 * number + draw.random(), 2), round(1.1 * number, 2))}
        if number < 4:
            grown["4712"] = (round(2.5 * number, 2), 0)
        if number > 2:
            grown[str(4800 + number)] = (round(draw.random(), 2), 0.01)
        return grown

    def line(self, row):
        fields = {
            "timestamp": row["at"],
            "rapl_power_draw_absolute": round(row["cpu"] * 1.4, 10),
            "rapl_estimated_attributable_power_draw": row["cpu"],
            "cpu_time_seconds": {
                pid: {"user": user, "system": system, "children_user": 0.0, "children_system": 0}
                for pid, (user, system) in row["times"].items()
            },
            "average_relative_cpu_utilization": 0.5,
            "mem_info_per_process": {pid: {"rss": 1 << 20, "vms": 1 << 22} for pid in row["times"]},
        }
        if self.gpus:
            fields["nvidia_draw_absolute"] = row["gpu"]
            fields["nvidia_estimated_attributable_power_draw"] = row["gpu"]
            fields["average_gpu_estimated_utilization_absolute"] = row["use"]
            fields["per_gpu_average_estimated_utilization_absolute"] = {"(0, 4711)": {"sm": 100 * row["use"]}}
            fields["per_gpu_power_draw"] = {}
        if self.has_intensity:
            fields["realtime_carbon_intensity"] = row["grid"]
        fields["process_ids"] = [int(pid) for pid in row["times"]]
        return json.dumps(fields)

    def local(self, seconds):
        """A naive local time, as that tool stored it."""
        return EPOCH + datetime.timedelta(seconds=seconds) + datetime.timedelta(hours=self.offset)

    def info(self):
        state = {"project_name": "numpy", "_version": "1.17.3"}
        entries = {
            "cpu_info": {"brand": "A processor of 32 threads", "count": 32},
            "experiment_impact_tracker_version": "0.1.8",
            "region": {
                "id": "US-CA",
                "properties": {"zoneName": "US-CA"},
                "geometry": foreign_class("shapely.geometry.multipolygon", "MultiPolygon", {"wkb": bytes(300)}),
            },
            "experiment_start": self.local(self.start),
            "python_package_info": [foreign_class("pkg_resources", "DistInfoDistribution", state)],
            "region_carbon_intensity_estimate": {"carbonIntensity": self.mean, "_source": "a made-up year"},
            "gpu_info": [{"name": "A GPU", "total_memory": "12 GB"} for _ in range(self.gpus)],
        }
        if self.end is not None:
            entries["experiment_end"] = self.local(self.end)
        return pickle.dumps(entries, protocol=self.protocol)

    def evaluation(self):
        rows = [(step, self.score * step / 4, 100 + step, 200 + step) for step in range(5)]
        lines = ['{"seed": 0, "note": "a, b"}', "frames,rmean,lmean,lmax"]
        return "\n".join(lines + [",".join(str(cell) for cell in row) for row in rows]) + "\n"

    def write(self, folder):
        log = folder / self.name / "impacttracker"
        log.mkdir(parents=True)
        text = "".join(self.line(row) + "\n" for row in self.rows)
        if self.end is None:
            # Killed while a line was being written.
            text += self.line(self.rows[-1])[:200]
        (log / "data.json").write_text(text)
        (log / "info.pkl").write_bytes(self.info())
        (folder / self.name / "eval_test.csv").write_text(self.evaluation())

    def figures(self):
        instants = [Fraction(self.start)] + [Fraction(row["at"]) for row in self.rows]
        rows = list(self.rows)
        if self.end is not None:
            instants.append(Fraction(self.end))
            rows.append(rows[-1])
        seconds = [b - a for a, b in zip(instants, instants[1:])]
        known = [Fraction(row["grid"]) for row in rows if self.has_intensity and row["grid"] != NA]
        grid, last = [], known[0] if known else Fraction(self.mean)
        for row in rows:
            if self.has_intensity and row["grid"] != NA:
                last = Fraction(row["grid"])
            grid.append(last)

        def kwh(name):
            return sum(Fraction(row[name]) * time for row, time in zip(rows, seconds)) / KWH

        cpu, gpu = kwh("cpu"), kwh("gpu") if self.gpus else 0
        grams = sum(
            (Fraction(row["cpu"]) + Fraction(row["gpu"] or 0)) * time / KWH * at
            for row, time, at in zip(rows, seconds, grid)
        )
        times = {}
        for row in self.rows:
            times.update({pid: Fraction(user) + Fraction(system) for pid, (user, system) in row["times"].items()})
        busy = sum(Fraction(row["use"] or 0) * time for row, time in zip(rows, seconds))
        figures = {
            "total_power": PUE * (cpu + gpu),
            "kw_hr_cpu": cpu,
            "kw_hr_gpu": gpu if self.gpus else None,
            "estimated_carbon_impact_kg": PUE * grams / 1000,
            "exp_len_hours": sum(seconds) / 3600,
            "cpu_hours": sum(times.values()) / 3600,
            "gpu_hours": busy * self.gpus / 3600 if self.gpus else None,
            "average_realtime_carbon_intensity": sum(grid) / len(grid),
        }
        return figures

    def extra(self, figures):
        returns = [Fraction(self.score) * step / 4 for step in range(5)]
        mean = sum(returns) / 5
        return {
            "AverageReturn": mean,
            "AsymptoticReturn": returns[-1],
            "AverageReturnPerkWh": mean / figures["total_power"],
            "AverageEpisodeLength": Fraction(102),
            "AverageMaximumEpisodeLength": Fraction(202),
        }


SUMMER, WINTER = 1_572_000_000, 1_573_000_000  # 2019-10-25 in UTC-7, 2019-11-06 in UTC-8


def gaps(number, draw):
    """No answer at first, then at every third row."""
    return NA if number == 0 or number % 3 == 0 else round(150 + 200 * draw.random(), 10)


RUNS = [
    Run("fast/seed_0", 1, SUMMER + 0.25, -7, [9.4] * 12, 3.7, score=8.0),
    Run("fast/seed_1", 2, WINTER + 0.5, -8, [8.1, 10.9, 171.3] + [9.3] * 9, 4.2, score=9.5, intensity=gaps),
    Run("slow/seed_0", 3, SUMMER + 7777.75, -7, [10] * 40, 0.5, gpus=2, protocol=4, score=21.0),
    Run("slow/seed_1", 4, SUMMER + 99999.125, -7, [10.5] * 30, 9.0, score=20.0, has_intensity=False),
    Run("slow/seed_2", 5, SUMMER + 50000.5, -7, [10.25] * 20, 1.0, score=18.5, intensity=lambda *_: NA),
    Run("other/cpu_only", 6, SUMMER + 60000, -7, [9.9] * 15, 2.0, gpus=0, intensity=lambda n, _: 0 if n % 2 else 300),
    Run("other/killed", 7, SUMMER + 70000.5, -7, [9.6] * 8, None),
]

SPEC = {
    "Leaderboard": {
        "filter": None,
        "description": "All runs",
        "executive_summary_variables": ["total_power", "exp_len_hours"],
        "child_experiments": {
            name: {
                "filter": "(%s/)" % name.lower(),
                "extra_files_processor": "load_eval",
                "executive_summary_variables": ["AverageReturnPerkWh", "total_power"],
                "executive_summary_ordering_variable": "AverageReturnPerkWh",
            }
            for name in ["Slow", "Fast"]
        },
    }
}


def statistics(values):
    n = len(values)
    mean = sum(values) / n
    stderr = None
    if n > 1:
        variance = sum((value - mean) ** 2 for value in values) / (n - 1) / n
        stderr = float(variance) ** 0.5
    return {"mean": float(mean), "stderr": stderr, "sum": float(sum(values)), "n": n}


def groups(figures):
    """Statistics of each group over the runs in it; of all runs only the figures that every log has."""
    for path, prefix in [(["Leaderboard"], ""), (["Leaderboard", "Slow"], "slow/"), (["Leaderboard", "Fast"], "fast/")]:
        members = [(run, figures[run.name]) for run in RUNS if run.name.startswith(prefix)]
        names = sorted(members[0][1])
        found = {
            name: [values[name] for _, values in members if values[name] is not None]
            for name in names
        }
        if prefix:
            for run, values in members:
                for name, value in run.extra(values).items():
                    found.setdefault(name, []).append(value)
        yield {
            "path": path,
            "runs": len(members),
            "figures": {name: statistics(values) for name, values in found.items()},
        }


def as_floats(figures):
    return {name: None if value is None else float(value) for name, value in figures.items()}


def main(folder):
    def write(name, value):
        (folder / name).write_text(json.dumps(value, indent=1) + "\n")

    for run in RUNS:
        run.write(folder / "runs")
    figures = {run.name: run.figures() for run in RUNS}
    expected = [{"path": "runs/" + name, "figures": as_floats(values)} for name, values in figures.items()]
    write("expected.json", {"pue": float(PUE), "zone": "US-CA", "runs": expected})
    write("spec.json", SPEC)
    write("expected_groups.json", list(groups(figures)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
