"""Every block of docs/python.md, of the section on Python in README.md, and of the package's README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Simulator

ROOT = Path(__file__).resolve().parents[2]
FRAMEWORK = "# needs torch"


def blocks(text: str, language: str = "python") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def run(sources: list[str]) -> None:
    namespace: dict[str, object] = {"__name__": "docs"}
    for source in sources:
        exec(compile(source, "docs", "exec"), namespace)


def test_every_block_of_the_documentation_runs(simulator: Simulator, capsys: pytest.CaptureFixture[str]) -> None:
    sources = [source for source in blocks((ROOT / "docs/python.md").read_text()) if FRAMEWORK not in source]
    assert len(sources) >= 8
    run(sources)
    output = capsys.readouterr().out
    assert "GPU name" in output
    assert "208 g CO2eq/kWh" in output


def test_the_magics_of_the_documentation_are_those_of_the_notebook_test() -> None:
    (block,) = blocks((ROOT / "docs/python.md").read_text(), "text")
    tested = (Path(__file__).with_name("test_notebook.py")).read_text()
    for line in block.splitlines():
        if line.startswith("%"):
            words = line.split()[:2] if line.startswith("%impact") else line.split()[:1]
            assert " ".join(words) in tested, line


@pytest.mark.parametrize("file", ["README.md", "python/README.md"])
def test_the_blocks_of_the_readmes_run(simulator: Simulator, file: str) -> None:
    sources = blocks((ROOT / file).read_text())
    assert sources
    run(sources)
