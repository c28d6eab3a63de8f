"""state_mixes.csv: the balancing areas that deliver a US state's electricity, with their shares.

A state whose largest balancing area delivers at least MAIN of its electricity takes that area's figure (crosswalk.csv):
a place in it is most likely there. The others take the mix. Shares come from us_state_balancing_areas.csv (EIA-861) and
are scaled to sum to one over the areas that the yearly table knows.
"""

import pathlib
import sys

from table import HERE, plain, read_table, write

MAIN = 0.8
# Areas of EIA-861 2019 without a row of their own, and the area they are part of today.
PART_OF = {
    "AEC": "SOCO",  # PowerSouth, since 2021 in the balancing area of Southern Company
    "OVEC": "PJM",  # joined in December 2018
    "NBSO": "NB",  # northern Maine is fed from New Brunswick
}

out = pathlib.Path(sys.argv[2])
figures = {r["zone"] for r in read_table(out / "electricity_maps.csv")}
zones = {z.split("-")[-1]: z for z in figures if z.startswith("US-") and z.count("-") == 2} | {"NB": "CA-NB"}
area_of_state = {r["area"].split(":")[1]: r["area"] for r in read_table(out / "crosswalk.csv") if ":" in r["area"]}


def mixes():
    states = {}
    for row in read_table(HERE / "us_state_balancing_areas.csv"):
        code = row["eia_balancing_area"]
        share = float(row["share_of_delivered_energy_2019"])
        mix = states.setdefault(row["state"], {})
        if share:
            zone = zones.get(PART_OF.get(code, code), f"unknown {code}")
            mix[zone] = mix.get(zone, 0) + share
    for state, mix in states.items():
        unknown = [zone for zone in mix if zone.startswith("unknown")]
        if state in ("AK", "HI"):  # isolated grids with a figure for the whole state
            continue
        assert not unknown, (state, unknown)
        if max(mix.values()) < MAIN:
            for zone, share in sorted(mix.items(), key=lambda m: (-m[1], m[0])):
                yield [area_of_state[state], zone, plain(share / sum(mix.values()), 4)]


write(out / "state_mixes.csv", ["area", "em_zone", "share"], sorted(mixes(), key=lambda row: row[0]))
