"""flags.csv: figures of the yearly table that a reader should doubt, with the reason.

constant  the same figure in every year: an estimate, not data
jump      the newest year is more than half as large again as the one before, or less than two thirds of it
ember     differs from Ember's figure for the country by more than 30 %, in the newest year that both have

Small figures jump easily, so a difference of at most NOISE g/kWh is no jump.
"""

import pathlib
import sys

from table import read_table, write

YEARS = range(2021, 2026)
NOISE = 20
JUMP = 1.5
EMBER = 0.3


def number(cell):
    return float(cell) if cell else None


def flags(data):
    iso3 = {r["iso2"]: r["iso3"] for r in read_table(data / "countries.csv")}
    ember = {r["iso3"]: r for r in read_table(data / "ember.csv")}
    for row in read_table(data / "electricity_maps.csv"):
        zone, series = row["zone"], [number(row[f"g_per_kwh_{y}"]) for y in YEARS]
        before, newest = series[-2:]
        if len(set(series)) == 1:
            yield zone, "constant", f"{newest:.0f} g/kWh in every year from {YEARS[0]} to {YEARS[-1]}"
        if max(before, newest) > JUMP * min(before, newest) and abs(newest - before) > NOISE:
            yield zone, "jump", f"{before:.0f} g/kWh in {YEARS[-2]}, {newest:.0f} in {YEARS[-1]}"
        country = ember.get(iso3.get(zone), {})
        both = [(y, ours, number(country.get(str(y)))) for y, ours in zip(YEARS, series) if country.get(str(y))]
        if both:
            year, ours, theirs = both[-1]
            if abs(ours - theirs) > EMBER * theirs:
                yield zone, "ember", f"{ours:.0f} g/kWh in {year}, {theirs:.0f} by Ember"


if __name__ == "__main__":
    data = pathlib.Path(sys.argv[2])
    write(data / "flags.csv", ["zone", "kind", "detail"], sorted(flags(data)))
