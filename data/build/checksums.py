"""Prints the checksum, size and row count of each table and writes SHA256SUMS."""

import hashlib
import pathlib
import sys

data = pathlib.Path(sys.argv[1])
lines = []
for path in sorted(data.iterdir()):
    if path.suffix in (".csv", ".tsv", ".bin"):
        body = path.read_bytes()
        rows = "-" if path.suffix == ".bin" else body.count(b"\n") - (path.suffix == ".csv")
        lines.append((hashlib.sha256(body).hexdigest(), path.name, len(body), rows))
for digest, name, size, rows in lines:
    print(f"{digest}  {name}  {size} bytes, {rows} rows")
(data / "SHA256SUMS").write_text("".join(f"{d}  {n}\n" for d, n, _, _ in lines))
