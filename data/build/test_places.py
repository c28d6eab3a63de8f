"""Five hundred places and their areas, computed without the program: test_places.py DATA

Writes tests/fixtures/places.csv from places.tsv (GeoNames) and zones.bin: the largest cities of the world, the three
largest of each American state, and cities near a border of two countries. The area is that of the country of the
gazetteer if it has one only; else the smallest of its polygons (for the United States, of its state) that holds the
point by shapely, else the nearest of them.
"""

import csv
import pathlib
import sys

import numpy as np
import shapely

from table import read_table, write

LARGEST, PER_STATE, ALL = 200, 3, 500
BORDER = 0.1  # degrees
SMALLEST = 30_000  # people of a city near a border

data = pathlib.Path(sys.argv[1])
country_names = {r["iso2"]: r["name"] for r in read_table(data / "countries.csv")}
country_of_zone = {r["zone"]: r["country"] for r in read_table(data / "zones.csv")}


def areas():
    """name -> polygons of zones.bin; README.md describes the layout."""
    body = (data / "zones.bin").read_bytes()
    count, _, headers = (int.from_bytes(body[n : n + 4], "little") for n in (4, 8, 12))
    at, rings_at = 16, 16 + headers

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

    def signed():
        value = number()
        return (value >> 1) ^ -(value & 1)

    listed = []
    for _ in range(count):
        length = number()
        name = body[at : at + length].decode()
        at += length + 4
        listed.append((name, [(signed(), signed(), number(), number(), number()) for _ in range(number())]))
    at = rings_at
    for name, parts in listed:
        polygons = []
        for west, south, _, _, _ in parts:
            rings = []
            for _ in range(number()):
                steps = np.array([(signed(), signed()) for _ in range(number())])
                rings.append((np.cumsum(steps, axis=0) + (west, south)) / 1000)
            polygons.append(shapely.make_valid(shapely.Polygon(rings[0], rings[1:])))
        yield name, shapely.union_all(polygons)


shapes = dict(areas())
country_of = {name: country_of_zone.get(name.split(":")[0], name[:2]) for name in shapes}


def cities():
    with open(data / "places.tsv", encoding="utf-8") as f:
        for names, shown, country, state, lat, lon, people in csv.reader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
            key = names.split("|")[0]
            name = shown or " ".join(word[:1].upper() + word[1:] for word in key.split())
            yield {
                "name": name, "country": country, "state": state, "lat": float(lat), "lon": float(lon),
                "people": int(people), "key": (key, country, state if country == "US" else ""),
            }


def area(city):
    own = [name for name, country in country_of.items() if country == city["country"]]
    if city["country"] == "US":
        own = [name for name in own if name.endswith(":" + city["state"])]
    if len(own) == 1:
        return own[0]
    point = shapely.Point(city["lon"], city["lat"])
    own = own or list(shapes)
    holding = [name for name in own if shapes[name].contains(point)]
    if holding:
        return min(holding, key=lambda name: shapes[name].area)
    return min(own, key=lambda name: shapes[name].distance(point))


ranked, seen = [], set()
for city in sorted(cities(), key=lambda c: (-c["people"], c["key"])):
    # The largest of a name is the one that is meant by it.
    if city["key"] not in seen:
        seen.add(city["key"])
        ranked.append(city)
chosen = ranked[:LARGEST]
states = {}
for city in ranked:
    if city["country"] == "US":
        states.setdefault(city["state"], []).append(city)
for state in sorted(states):
    chosen += [city for city in states[state][:PER_STATE] if city not in chosen]

by_country = {}
for name, shape in shapes.items():
    by_country.setdefault(country_of[name], []).append(shape)
outlines = {country: shapely.union_all(parts) for country, parts in by_country.items()}
names = list(outlines)
tree = shapely.STRtree([outlines[name] for name in names])
for city in ranked[LARGEST:]:
    if len(chosen) == ALL or city["people"] < SMALLEST:
        break
    near = tree.query(shapely.Point(city["lon"], city["lat"]), predicate="dwithin", distance=BORDER)
    if any(names[n] != city["country"] for n in near) and city not in chosen:
        chosen.append(city)


def address(city):
    return f"{city['name']}, {city['state'] if city['country'] == 'US' else country_names[city['country']]}"


write(
    data / "../tests/fixtures/places.csv",
    ["address", "lat", "lon", "area"],
    [[address(c), c["lat"], c["lon"], area(c)] for c in chosen],
)
