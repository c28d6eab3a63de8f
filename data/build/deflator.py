"""deflator.csv: the US consumer price index, to bring dollars of 2005 to those of another year.

Annual averages of CPI-U, all items, U.S. city average, not seasonally adjusted (Bureau of Labor Statistics, series
CUUR0000SA0). A year that is not over is left out.
"""

import pathlib
import sqlite3
import sys

from table import plain, write

packages, out = map(pathlib.Path, sys.argv[1:3])
database = sqlite3.connect(packages / "cpi/cpi/cpi.db")
rows = database.execute(
    "SELECT year, value FROM indexes WHERE series = 'CUUR0000SA0' AND period = 'M13' AND year >= 2005 ORDER BY year"
)
write(out / "deflator.csv", ["year", "cpi_u"], [[year, plain(value)] for year, value in rows])
