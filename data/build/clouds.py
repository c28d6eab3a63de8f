"""clouds.csv: cloud regions with their city, position and zone.

The zone comes from the zone geometry (MIT), or from cloud_corrections.csv where the balancing area of the buildings is
known. Intensities are looked up when the program runs, so that the share-alike tables stay apart. cloud_regions.csv
adds regions that the packages lack.
"""

import json
import pathlib
import sys

import geometry
from table import plain, write

packages, out = map(pathlib.Path, sys.argv[1:3])

# Codes in cloud-regions-info that are not in the provider's own list, or stand at the wrong place.
LEFT_OUT = {
    "alibaba": {"me-central-1", "me-east-2", "eu-central-2"},
    "ibm": {"us-south-2", "us-south-3", "ca-central", "eu-it1", "ap-north", "kr-seo"},
}
COUNTRY_NAMES = {"Hong Kong SAR": "HK"}


def regions():
    catalogue = json.loads((packages / "mcp-server-cloud-regions/package/data/regions.json").read_text())
    for r in catalogue["regions"]:
        at = r["location"]
        yield [r["provider"], r["regionCode"], r["displayName"], at["city"], at["countryCode"], at["latitude"], at["longitude"]]
    by_name = {r["name"]: r["iso2"] for r in geometry.read_table(out / "countries.csv")} | COUNTRY_NAMES
    for provider, wrong in LEFT_OUT.items():
        path = packages / f"cloud_regions_info/cloud_regions_info/mappings/{provider}_regions.json"
        for code, r in json.loads(path.read_text()).items():
            if code not in wrong:
                country = by_name[r["country"]]
                yield [provider, code, r["location"], r["location"], country, r["latitude"], r["longitude"]]
    for r in geometry.read_table(geometry.HERE / "cloud_regions.csv"):
        yield [r["provider"], r["region"], r["name"], r["city"], r["country"], float(r["lat"]), float(r["lon"])]


countries = {r["zone"]: r["country"] for r in geometry.read_table(out / "zones.csv")}
areas = geometry.areas(packages)
everywhere = geometry.Lookup(areas)


def country_of(area):
    """The finer zones of the yearly table are not in zones.csv; they begin with their country."""
    zone = area.split(":")[0]
    return countries.get(zone, zone[:2])


def zone(country, lat, lon):
    """The zone at the point; a zone of the region's own country if the border runs on the wrong side of the city."""
    [key], _ = everywhere.find([lon], [lat])
    if key and country_of(key) != country:
        own = {k: a for k, a in areas.items() if country_of(k) == country}
        if own:
            [at_home], _ = geometry.Lookup(own).find([lon], [lat])
            if at_home:
                print(f"  {lat},{lon} in {country} takes {at_home} rather than {key}")
                return at_home
    return key


corrections = {(r["provider"], r["region"]): r for r in geometry.read_table(geometry.HERE / "cloud_corrections.csv")}
rows = {}
for p, code, name, city, country, lat, lon in regions():
    right = corrections.pop((p, code), None)
    if right:
        city = right["city"] or city
        lat, lon = float(right["lat"] or lat), float(right["lon"] or lon)
    area = right and right["area"] or zone(country, lat, lon)
    assert (p, code) not in rows, (p, code)
    rows[p, code] = [p, code, name, city, country, plain(lat, 4), plain(lon, 4), area]
assert not corrections, corrections
write(out / "clouds.csv", ["provider", "region", "name", "city", "country", "lat", "lon", "area"], sorted(rows.values()))
