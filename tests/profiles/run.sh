#!/usr/bin/env bash
# Tracks a small training of Debian's PyTorch under its profiler, and divides its energy among the operators.
set -euo pipefail
cd "$(dirname "$0")"
. ../need.sh
python=${SYSTEM_PYTHON:-/usr/bin/python3}
"$python" -c 'import torch' 2> /dev/null || need no-such-command python3-torch
(cd ../.. && cargo build --quiet)
PATH=$(cd ../.. && pwd)/target/debug:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

impact track --quiet --out "$work/run" --interval 100ms -- "$python" resnet.py "$work/trace.json"
impact attribute "$work/run" --profile "$work/trace.json" --starts-with train --format json --output "$work/found.json" \
    --flame "$work/flame.svg" --graph "$work/graph.svg" --bands "$work/bands.svg"
impact export "$work/run" --what phases --output "$work/phases.csv"
"$python" - "$work" << 'END'
import csv
import json
import sys
from fractions import Fraction
from xml.etree import ElementTree

work = sys.argv[1]
found = json.load(open(f"{work}/found.json"), parse_float=Fraction)
names = {row["name"]: row for row in found["names"]}
assert sum(Fraction(row["own_j"]) for row in found["names"]) + Fraction(found["uncovered_j"]) == Fraction(found["energy_j"])
assert names["train_step"]["calls"] == 20, names["train_step"]
assert any("convolution" in name for name in names), sorted(names)
phases = list(csv.DictReader(open(f"{work}/phases.csv")))
energy = float(phases[0]["energy_j"])
steps = float(names["train_step"]["with_calls_j"])
# The rest of the phase is that of the profiler, which starts and ends in it.
assert 0.5 * energy < steps <= 1.05 * energy, (steps, energy, phases)
for name in ("flame", "graph", "bands"):
    ElementTree.parse(f"{work}/{name}.svg")
print(f"profiles: {len(names)} names of PyTorch, {steps:.2f} of {energy:.2f} J of the phase are in its steps")
END
