"""Checks of the tables against each other. Needs Python alone: checks.py DATA [--write]

Prints a table of what was compared and what was found; exits with 1 if a check fails, or if the table in README.md is
another. With --write, writes the table into README.md.
"""

import hashlib
import pathlib
import statistics
import sys

import flags
from table import HERE, read_table

data = pathlib.Path(sys.argv[1])
tables = {path.stem: read_table(path) for path in sorted(data.glob("*.csv"))}
yearly = {r["zone"]: [float(r[f"g_per_kwh_{y}"]) for y in flags.YEARS] for r in tables["electricity_maps"]}
crosswalk = {r["area"]: r["em_zone"] for r in tables["crosswalk"]}
iso3 = {r["iso2"]: r["iso3"] for r in tables["countries"]}
ember = {r["iso3"]: {int(y): float(v) for y, v in r.items() if y != "iso3" and v} for r in tables["ember"]}
zones = {r["zone"]: r for r in tables["zones"]}


def map_areas():
    """The names in the headers of zones.bin."""
    body = (data / "zones.bin").read_bytes()
    count, at = int.from_bytes(body[4:8], "little"), 16

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    for _ in range(count):
        length = number()
        yield body[at : at + length].decode()
        at += length + 4
        for _ in range(number() * 5):
            number()


def figure_of(area):
    """Which table has a figure for an area: `yearly`, `Ember` or none."""
    zone = area.split(":")[0]
    if crosswalk.get(area) or zone in yearly:
        return "yearly"
    country = zones.get(zone, {}).get("country") or zone[:2]
    return "Ember" if country in yearly or iso3.get(country) in ember else None


def files_have_their_checksums():
    listed = dict(reversed(line.split()) for line in (data / "SHA256SUMS").read_text().splitlines())
    wrong = [n for n, digest in listed.items() if hashlib.sha256((data / n).read_bytes()).hexdigest() != digest]
    return len(listed), f"{len(wrong)} differ", not wrong


def areas_have_a_figure():
    found = [figure_of(area) for area in map_areas()]
    return len(found), f"{found.count('Ember')} by Ember alone, {found.count(None)} by the world's", found.count(None) <= 20


def crosswalk_leads_to_figures():
    named = [zone for zone in crosswalk.values() if zone]
    lost = [zone for zone in named if zone not in yearly]
    return len(named), f"{len(lost)} lead nowhere", not lost


def state_mixes_are_whole():
    states = {}
    for r in tables["state_mixes"]:
        states.setdefault(r["area"], []).append(r)
    wrong = [
        area
        for area, mix in states.items()
        if area not in crosswalk
        or any(r["em_zone"] not in yearly for r in mix)
        or abs(sum(float(r["share"]) for r in mix) - 1) > 0.001
    ]
    return len(states), f"{len(wrong)} do not sum to one over known areas", not wrong


def years_of_both():
    for zone, series in yearly.items():
        theirs = ember.get(iso3.get(zone), {})
        both = [(ours, theirs[y]) for y, ours in zip(flags.YEARS, series) if y in theirs]
        if both:
            yield both[-1]


def yearly_agrees_with_ember():
    pairs = list(years_of_both())
    ratio = statistics.median(ours / theirs for ours, theirs in pairs)
    apart = sum(abs(ours - theirs) > flags.EMBER * theirs for ours, theirs in pairs)
    said = sum(r["kind"] == "ember" for r in tables["flags"])
    return len(pairs), f"median ratio {ratio:.2f}; {apart} differ by more than 30 %, {said} flagged", (
        apart == said and 0.8 <= ratio <= 1.1 and apart <= 0.3 * len(pairs)
    )


def yearly_agrees_with_the_original_tool():
    pairs = []
    for r in tables["eit_2019"]:
        zone = crosswalk.get(r["zone"]) or r["zone"]
        if zone in yearly and r["year"] == "2019":
            pairs.append(yearly[zone][0] / float(r["g_per_kwh"]))
    apart = sum(not 0.5 <= ratio <= 2 for ratio in pairs)
    ratio = statistics.median(pairs)
    return len(pairs), f"median ratio {ratio:.2f}; {apart} more than a factor of two apart", (
        0.8 <= ratio <= 1.2 and apart <= 0.15 * len(pairs)
    )


def years_continue():
    jumps = {r["zone"] for r in tables["flags"] if r["kind"] == "jump"}
    steps = [(z, a, b) for z, series in yearly.items() for a, b in zip(series, series[1:])]
    large = [z for z, a, b in steps if max(a, b) > 2 * min(a, b) and abs(a - b) > flags.NOISE]
    return len(steps), f"{len(large)} by more than a factor of two; {len(jumps)} zones flagged in the newest year", (
        len(large) <= 0.03 * len(steps)
    )


def flags_are_current():
    made = sorted(flags.flags(data))
    kept = sorted((r["zone"], r["kind"], r["detail"]) for r in tables["flags"])
    constant = sum(kind == "constant" for _, kind, _ in made)
    return len(made), f"{constant} zones constant over five years", made == kept


def no_intensity_is_zero():
    cells = [v for panel in ember.values() for v in panel.values()] + [v for s in yearly.values() for v in s]
    cells += [float(r["g_per_kwh"]) for r in tables["eit_2019"]]
    zeros = sum(v <= 0 for v in cells)
    return len(cells), f"{zeros} zeros", zeros == 0


def american_states_have_a_direct_figure():
    direct = {r["zone"]: float(r["g_per_kwh"]) for r in tables["egrid"]}
    states = {"US-" + area.split(":")[1] for area in map_areas() if area.startswith("US-") and ":" in area}
    missing = states - direct.keys()
    odd = [zone for zone, value in direct.items() if not 0 < value < 1000]
    country = direct["US"] / yearly["US"][flags.YEARS.index(2023)]
    return len(direct), f"{len(missing)} states missing, {len(odd)} implausible; country {country:.2f} of its life cycle", (
        not missing and not odd and 0.7 <= country <= 1
    )


def cloud_regions_have_a_zone():
    areas = [r["area"] for r in tables["clouds"]]
    lost = [area for area in areas if figure_of(area) is None]
    return len(areas), f"{len(lost)} without a figure", not lost


def cloud_regions_have_a_pue():
    said = {r["of"] for r in tables["pue"]}
    own = sum(f"{r['provider']}:{r['region']}" in said for r in tables["clouds"])
    provider = sum(r["provider"] in said for r in tables["clouds"]) - own
    rest = len(tables["clouds"]) - own - provider
    return len(tables["clouds"]), f"{own} of the region, {provider} of the provider, {rest} the average", "average" in said


def pues_are_dated():
    regions = {f"{r['provider']}:{r['region']}" for r in tables["clouds"]}
    providers = {r["provider"] for r in tables["clouds"]}
    wrong = [
        r
        for r in tables["pue"]
        if not (1 < float(r["pue"]) < 2 and 2015 <= int(r["year"]) <= 2026 and r["source"])
        or r["of"] not in regions | providers | {"average"}
    ]
    newest = max(int(r["year"]) for r in tables["pue"] if r["of"] == "average")
    return len(tables["pue"]), f"{len(wrong)} without year, source or region; average to {newest}", not wrong


def states_of_finer_zones_exist():
    rows = read_table(HERE / "admin1_zones.csv")
    codes = {r["code"] for r in tables["admin1"]}
    wrong = [r for r in rows if r["code"] not in codes or r["zone"] not in yearly]
    countries = {r["code"].split(".")[0] for r in rows}
    missing = {c for c in codes if c.split(".")[0] in countries} - {r["code"] for r in rows}
    return len(rows), f"{len(wrong)} unknown, {len(missing)} states without a zone", not wrong and not missing


def devices_have_a_plausible_power():
    rows = tables["cpu_tdp"] + tables["gpu_tdp"]
    names = [r["name"].lower() for r in rows]
    doubled = len(names) - len(set(names))
    wrong = [r["name"] for r in rows if not 0 < float(r["tdp_w"]) <= 1500]
    return len(rows), f"{len(wrong)} beyond 1500 W, {doubled} names twice", not wrong and not doubled


def typical_powers_are_those_of_examples():
    power = {r["name"]: float(r["tdp_w"]) for r in tables["cpu_tdp"]}
    examples = {}
    for row in read_table(HERE / "class_examples.csv"):
        examples.setdefault(row["of"], []).append(power[row["name"]] / int(row["cores"]))
    found = {of: [round(f(watts), 1) for f in (statistics.median, min, max)] for of, watts in examples.items()}
    said = {r["of"]: [float(r[c] or 0) for c in ("watts", "least_w", "most_w")] for r in tables["typical_power"]}
    wrong = [of for of in found if said.get(of) != found[of]]
    unsourced = [r["of"] for r in tables["typical_power"] if not r["source"]]
    count = sum(len(watts) for watts in examples.values())
    return count, f"{len(wrong)} of {len(found)} classes differ, {len(unsourced)} without a source", not wrong + unsourced


def corrections_name_their_source():
    files = ["cpu_overrides", "gpu_overrides", "gpu_aliases", "cloud_corrections", "admin1_zones", "eit_additions", "time_zone_links"]
    rows = [r for name in files for r in read_table(HERE / f"{name}.csv")]
    rows += [{"why": r["source"]} for r in read_table(HERE / "cloud_regions.csv")]
    wrong = [r for r in rows if not r["why"]]
    return len(rows), f"{len(wrong)} without a reason", not wrong


def corrections_are_in_the_tables():
    wrong, count = [], 0
    for device in "cpu", "gpu":
        power = {r["name"]: r["tdp_w"] for r in tables[f"{device}_tdp"]}
        rows = read_table(HERE / f"{device}_overrides.csv")
        count += len(rows)
        # A row without a power takes the name out.
        wrong += [r["name"] for r in rows if float(power.get(r["name"]) or 0) != float(r["tdp_w"] or 0)]
    clouds = {(r["provider"], r["region"]): r for r in tables["clouds"]}
    rows = read_table(HERE / "cloud_corrections.csv")
    count += len(rows)
    for row in rows:
        found = clouds.get((row["provider"], row["region"]), {})
        wrong += [row["region"] for column in ("city", "area") if row[column] and found.get(column) != row[column]]
    old = {r["zone"]: r["g_per_kwh"] for r in tables["eit_2019"]}
    rows = read_table(HERE / "eit_additions.csv")
    count += len(rows)
    wrong += [r["zone"] for r in rows if old.get(r["zone"]) != r["g_per_kwh"]]
    rows = read_table(HERE / "cloud_regions.csv")
    count += len(rows)
    wrong += [r["region"] for r in rows if (r["provider"], r["region"]) not in clouds]
    return count, f"{len(wrong)} missing or other", not wrong


def time_zones_have_a_country():
    rows = tables["time_zones"]
    unknown = [r for r in rows if r["iso2"] not in iso3]
    silent = {"UTC", "Etc/UTC", "GMT", "CET", "EST"} & {r["time_zone"] for r in rows}
    countries = {r["iso2"] for r in rows}
    missing = [code for code in iso3 if code not in countries]
    return len(rows), f"{len(unknown)} unknown, {len(silent)} of no country; {len(missing)} countries without one", not unknown and not silent and len(missing) <= 4


def social_costs_are_in_order():
    wrong = [
        r["iso3"]
        for r in tables["social_cost"]
        if not float(r["low_usd2005_per_t"]) <= float(r["median_usd2005_per_t"]) <= float(r["high_usd2005_per_t"])
    ]
    years = [int(r["year"]) for r in tables["deflator"]]
    whole = years == list(range(2005, years[-1] + 1))
    factor = float(tables["deflator"][-1]["cpi_u"]) / float(tables["deflator"][0]["cpi_u"])
    return len(tables["social_cost"]), f"{len(wrong)} out of order; a dollar of 2005 is {factor:.2f} of {years[-1]}", whole and not wrong


CHECKS = [
    files_have_their_checksums,
    areas_have_a_figure,
    crosswalk_leads_to_figures,
    state_mixes_are_whole,
    yearly_agrees_with_ember,
    yearly_agrees_with_the_original_tool,
    years_continue,
    flags_are_current,
    no_intensity_is_zero,
    american_states_have_a_direct_figure,
    cloud_regions_have_a_zone,
    cloud_regions_have_a_pue,
    pues_are_dated,
    states_of_finer_zones_exist,
    time_zones_have_a_country,
    devices_have_a_plausible_power,
    typical_powers_are_those_of_examples,
    corrections_name_their_source,
    corrections_are_in_the_tables,
    social_costs_are_in_order,
]

lines, failed = ["| check | compared | found | holds |", "|---|---|---|---|"], False
for check in CHECKS:
    compared, found, holds = check()
    failed |= not holds
    lines.append(f"| {check.__name__.replace('_', ' ')} | {compared:,} | {found} | {'yes' if holds else '**no**'} |")
print("\n".join(lines))

readme = data / "README.md"
START, END = "<!-- checks -->\n", "\n<!-- end of checks -->"
before, _, rest = readme.read_text(encoding="utf-8").partition(START)
kept, _, after = rest.partition(END)
table = "\n".join(lines)
if "--write" in sys.argv[2:]:
    readme.write_text(before + START + table + END + after, encoding="utf-8")
elif kept != table:
    print("README.md has another table of checks: run data/build/checks.py data --write", file=sys.stderr)
    failed = True
sys.exit(failed)
