"""What is installed."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT", "NOTICE")


def test_the_package_has_the_licences_of_the_program() -> None:
    installed = {
        file.name: file for file in importlib.metadata.files("impact-tracker") or () if "licenses" in file.parts
    }
    assert set(installed) == set(LICENCES)
    for name in LICENCES:
        assert installed[name].read_text() == (ROOT / name).read_text()
        # A build cannot take files from above its folder, and not every checkout has links.
        assert (ROOT / "python" / "licences" / name).read_bytes() == (ROOT / name).read_bytes()


def test_the_package_needs_no_other_and_has_types() -> None:
    package = importlib.metadata.distribution("impact-tracker")
    assert package.requires is None
    assert package.metadata["Requires-Python"] == ">=3.9"
    names = {file.as_posix() for file in package.files or ()}
    assert "impact/py.typed" in names
    assert any(name.endswith("bin/impact") for name in names)
