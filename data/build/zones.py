"""zones.bin (polygons) and zones.csv (names, countries, parents)."""

import json
import pathlib
import struct
import sys

import numpy as np
import shapely

import geometry
from table import write

TOLERANCE = 0.01  # degrees, Douglas-Peucker
SCALE = 1000  # three decimals

packages, out = map(pathlib.Path, sys.argv[1:3])
here = pathlib.Path(__file__).parent


def varint(n):
    b = bytearray()
    while n >= 0x80:
        b.append(n & 0x7F | 0x80)
        n >>= 7
    b.append(n)
    return bytes(b)


def zigzag(n):
    return varint(n << 1 if n >= 0 else (-n << 1) - 1)


def simplified(shape):
    for tolerance in (TOLERANCE, TOLERANCE / 10, 0):
        smaller = shapely.set_precision(
            shapely.simplify(shape, tolerance, preserve_topology=False), 1 / SCALE
        )
        if not smaller.is_empty:
            return smaller
    return shape


def ring_bytes(ring, origin):
    points = np.rint(np.asarray(ring.coords)[:-1] * SCALE).astype(int)
    keep = np.any(points != np.roll(points, 1, axis=0), axis=1)
    points = points[keep]
    body = varint(len(points))
    at = origin
    for point in points:
        body += zigzag(int(point[0] - at[0])) + zigzag(int(point[1] - at[1]))
        at = point
    return body


def binary(areas):
    """Headers first, so that a lookup reads them alone and opens only the parts whose box holds the point."""
    head, body, parts = bytearray(), bytearray(), 0
    for key, shape in areas.items():
        pieces = list(shapely.get_parts(simplified(shape)))
        head += varint(len(key)) + key.encode() + struct.pack("<f", shape.area) + varint(len(pieces))
        for piece in pieces:
            west, south, east, north = (int(round(v * SCALE)) for v in piece.bounds)
            rings = [piece.exterior, *piece.interiors]
            data = varint(len(rings)) + b"".join(ring_bytes(r, (west, south)) for r in rings)
            head += zigzag(west) + zigzag(south) + varint(east - west) + varint(north - south) + varint(len(data))
            body += data
            parts += 1
    start = b"IMPZ" + struct.pack("<III", len(areas), parts, len(head))
    return start + bytes(head) + bytes(body), parts


def country_of(zone):
    special = {"AUS": "AU", "NKR": "AZ", "XX": "CY"}
    first = zone.split("-")[0]
    return special.get(first, first)


def parent_of(zone, known):
    """The next larger zone: ES-IB-FO -> ES-IB -> ES; a whole country has none."""
    pieces = zone.split("-")
    for end in range(len(pieces) - 1, 1, -1):
        if "-".join(pieces[:end]) in known:
            return "-".join(pieces[:end])
    country = country_of(zone)
    return country if country != zone else ""


names = json.loads((geometry.emissions(packages) / "zone_names.json").read_text())["zoneShortName"]
mixes = json.loads((geometry.emissions(packages) / "co2eq_parameters.json").read_text())["fallbackZoneMixes"]
countries = {r["iso2"]: r["name"] for r in geometry.read_table(out / "countries.csv")}
own_names = {r["zone"]: r["name"] for r in geometry.read_table(here / "zone_names.csv")}
features = geometry.read_table(here / "features.csv")

ids = {r["zone"] for r in features if r["zone"] != "AN"} | set(mixes) | set(countries)


def name_of(zone):
    if zone in own_names:
        return own_names[zone]
    if zone in countries:
        return countries[zone]
    return names[zone]["zoneName"]


write(
    out / "zones.csv",
    ["zone", "name", "country", "parent"],
    [[z, name_of(z), country_of(z), parent_of(z, ids)] for z in sorted(ids)],
)

areas = geometry.areas(packages)
data, parts = binary(areas)
(out / "zones.bin").write_bytes(data)
print(f"zones.bin: {len(areas)} areas, {parts} parts, {len(data)} bytes")
