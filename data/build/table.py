"""Reading and writing a table: UTF-8, comma separated, Unix line ends, the same bytes every time."""

import csv
import pathlib

HERE = pathlib.Path(__file__).parent


def read_table(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def write(path, header, rows):
    rows = list(rows)
    with open(path, "w", encoding="utf-8", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(header)
        w.writerows(rows)
    print(f"{path.name}: {len(rows)} rows")


def plain(value, digits=3):
    """12.0 as 12, nothing as an empty cell."""
    if value is None:
        return ""
    value = round(float(value), digits)
    return str(int(value)) if value == int(value) else str(value)
