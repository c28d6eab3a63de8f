"""Unpacks the downloaded packages, each into a folder named after the package."""

import pathlib
import sys
import tarfile
import zipfile

downloads, unpacked = map(pathlib.Path, sys.argv[1:3])
for archive in sorted(downloads.iterdir()):
    if archive.suffix == ".whl":
        name = archive.name.split("-")[0]
        with zipfile.ZipFile(archive) as z:
            z.extractall(unpacked / name)
    elif archive.name.endswith((".tgz", ".tar.gz")):
        name = archive.name.removesuffix(".tgz").removesuffix(".tar.gz").rsplit("-", 1)[0]
        with tarfile.open(archive) as t:
            t.extractall(unpacked / name, filter="data")
