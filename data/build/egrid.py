"""Direct emissions of American electricity, by state of generation: egrid.csv from codecarbon's copy of EPA eGRID2023."""

import json
import pathlib
import sys

from table import plain, write

# A pound for each MWh, in grams for each kWh.
POUND_PER_MWH = 0.45359237

packages, out = map(pathlib.Path, sys.argv[1:3])
path = packages / "codecarbon/codecarbon/data/private_infra/2023/usa_emissions.json"
table = json.loads(path.read_text(encoding="utf-8"))
year = table["_source"]["year"]
rows = []
for name, state in table.items():
    if not name.startswith("_"):
        code = "US" if name == "usa" else f"US-{state['regionCode']}"
        rows.append([code, plain(state["emissions"] * POUND_PER_MWH, 3), year])
write(out / "egrid.csv", ["zone", "g_per_kwh", "year"], sorted(rows))
