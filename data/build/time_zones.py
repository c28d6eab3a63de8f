"""time_zones.csv: IANA time zones and the country of each. Zones of no country, such as UTC and CET, are left out."""

import pathlib
import sys

from table import HERE, read_table, write

packages, out = map(pathlib.Path, sys.argv[1:3])
zoneinfo = packages / "tzdata/tzdata/zoneinfo"


def rows(name):
    lines = (zoneinfo / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


countries = {zone: code for code, _, zone, *_ in rows("zone.tab")}
of_several = {zone: codes.split(",") for codes, _, zone, *_ in rows("zone1970.tab")}
by_hand = {row["time_zone"]: row["iso2"] for row in read_table(HERE / "time_zone_links.csv")}
undecided = []
for line in (zoneinfo / "tzdata.zi").read_text(encoding="utf-8").splitlines():
    if not line.startswith("L "):
        continue
    _, target, name = line.split()
    codes = of_several.get(target, [])
    if name in by_hand:
        countries[name] = by_hand[name]
    elif name not in countries and codes:
        if len(codes) > 1:
            undecided.append(name)
        countries[name] = codes[0]
if undecided:
    sys.exit(f"time_zone_links.csv lacks {', '.join(undecided)}")
write(out / "time_zones.csv", ["time_zone", "iso2"], sorted((zone, code) for zone, code in countries.items() if code))
