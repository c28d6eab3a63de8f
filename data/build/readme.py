"""Writes the table of data/README.md between its two marks, from the built files and sources.csv."""

import hashlib
import pathlib
import sys

from table import HERE, read_table

data = pathlib.Path(sys.argv[1])
lines = ["| table | what | package | licence | year | rows | sha256 |", "|---|---|---|---|---|---|---|"]
for row in read_table(HERE / "sources.csv"):
    body = (data / row["table"]).read_bytes()
    count = body.count(b"\n") - row["table"].endswith(".csv")
    rows = row["rows"] or f"{count:,}"
    digest = hashlib.sha256(body).hexdigest()
    lines.append(
        f"| `{row['table']}` | {row['what']} | {row['package']} | {row['licence']} | {row['year']} | {rows} | `{digest}` |"
    )
path = data / "README.md"
before, _, rest = path.read_text(encoding="utf-8").partition("<!-- tables -->\n")
_, _, after = rest.partition("<!-- end of tables -->")
path.write_text(before + "<!-- tables -->\n" + "\n".join(lines) + "\n<!-- end of tables -->" + after, encoding="utf-8")
