"""The zone geometry: read, repaired, merged, looked up. Shared by the build steps."""

import hashlib
import json
import pickle

import numpy as np
import shapely

import finer
from table import HERE, read_table

NEAR = 0.25  # degrees; a point in no polygon takes the nearest zone within this


def emissions(packages):
    return packages / "experiment_impact_tracker/experiment_impact_tracker/emissions/data"


def repaired(geometry):
    """Valid land of a MultiPolygon. Repairing it as a whole loses real land, so each part is repaired alone."""
    parts = []
    for part in shapely.get_parts(geometry):
        for piece in shapely.get_parts(shapely.make_valid(part)):
            if piece.geom_type == "Polygon" and piece.area > 0:
                parts.append(piece)
            elif piece.geom_type == "MultiPolygon":
                parts.extend(p for p in piece.geoms if p.area > 0)
    return shapely.union_all(parts)


def areas(packages):
    """key -> geometry. A key is a zone id, or zone:STATE for the American features, which are states."""
    inputs = [HERE / name for name in ("features.csv", "admin1_zones.csv", "finer.py")]
    version = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()[:12]
    cache = packages / f"areas-{version}.pickle"
    if cache.exists():
        return pickle.loads(cache.read_bytes())
    features = read_table(HERE / "features.csv")
    grouped = {}
    with open(emissions(packages) / "zonegeometries.json", encoding="utf-8") as f:
        for number, line in enumerate(f):
            row = features[number]
            key = row["zone"] + (":" + row["us_state"] if row["us_state"] else "")
            geometry = shapely.geometry.shape(json.loads(line)["geometry"])
            if not geometry.is_empty:
                grouped.setdefault(key, []).append(repaired(geometry))
    merged = {key: shapely.union_all(parts) for key, parts in sorted(grouped.items())}
    merged = finer.refine(merged, packages, read_table(HERE / "admin1_zones.csv"))
    cache.write_bytes(pickle.dumps(merged))
    return merged


class Lookup:
    """Smallest containing area, else the nearest within NEAR."""

    def __init__(self, areas):
        self.parts, self.owner = [], []
        self.keys = list(areas)
        self.size = np.array([areas[k].area for k in self.keys])
        for i, key in enumerate(self.keys):
            for part in shapely.get_parts(areas[key]):
                self.parts.append(part)
                self.owner.append(i)
        self.owner = np.array(self.owner)
        self.tree = shapely.STRtree(self.parts)

    def find(self, lon, lat):
        """Arrays of keys (or None) and of whether the nearest rule was needed."""
        points = shapely.points(lon, lat)
        best = np.full(len(points), -1)
        inside, part = self.tree.query(points, predicate="intersects")
        for i, p in zip(inside, part):
            owner = self.owner[p]
            if best[i] < 0 or self.size[owner] < self.size[best[i]]:
                best[i] = owner
        missing = np.nonzero(best < 0)[0]
        near = np.zeros(len(points), bool)
        if len(missing):
            (i, p), _ = self.tree.query_nearest(
                points[missing], max_distance=NEAR, return_distance=True, all_matches=False
            )
            best[missing[i]] = self.owner[p]
            near[missing[i]] = True
        return [self.keys[b] if b >= 0 else None for b in best], near
