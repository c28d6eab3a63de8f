"""The magics in a real kernel, and the page of the notebook in a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Simulator, await_no_tracker

import impact

nbclient = pytest.importorskip("nbclient", reason="no nbclient")
pytestmark = pytest.mark.filterwarnings("default")

CELLS = [
    "%load_ext impact",
    "%%impact runs/cell --zone=FR --tag lr=0.1\n"
    "import time\nend = time.time() + 2.5\nwhile time.time() < end: pass\nanswer = 41\nanswer + 1",
    "answer",
    "%impact start runs/line --zone FR",
    "with impact_phase('train', count={'n': 5}):\n    sum(range(1000000))",
    "%impact stop",
    "%impact report",
    "%%impact runs/failed\nraise ValueError('of the cell')",
    "%impact nonsense",
    "%%impact runs/last --zone=Nowhere\n'the cell goes on'",
    "%%impact runs/gone\nimport os; os.rename('runs/gone', 'runs/elsewhere')\nraise ValueError('of the cell')",
]


def run(cells: list[str], folder: Path) -> Any:
    import nbformat

    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(cell) for cell in ["from impact import phase as impact_phase", *cells]]
    client = nbclient.NotebookClient(
        notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    return notebook


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Jupyter's own files lie below HOME, which is another for each test."""
    os.environ["IPYTHONDIR"] = str(tmp_path_factory.mktemp("ipython"))


def texts(cell: Any, kind: str) -> str:
    parts = [output.get("data", {}).get(kind, "") for output in cell.outputs]
    return "\n".join([*parts, *(output.get("text", "") for output in cell.outputs if kind == "text/plain")])


def test_a_notebook(simulator: Simulator, tmp_path: Path, kernels: None) -> None:
    notebook = run(CELLS, tmp_path)
    cells = notebook.cells[1:]
    measured = cells[1]
    # One display, which was updated in place, and the value of the last expression.
    assert [output.output_type for output in measured.outputs] == ["display_data", "execute_result"]
    assert "impact-card" in texts(measured, "text/html")
    assert "CO2eq" in texts(measured, "text/html")
    assert texts(measured, "text/plain").strip().endswith("42")
    assert texts(cells[2], "text/plain").strip() == "41"
    assert "impact-card" in texts(cells[6], "text/html")
    assert "train" in texts(cells[6], "text/html")
    errors = [output for output in cells[7].outputs if output.output_type == "error"]
    assert [(error.ename, error.evalue) for error in errors] == [("ValueError", "of the cell")]
    traceback = "\n".join(errors[0].traceback)
    assert "notebook.py" not in traceback
    gone = [output for output in cells[10].outputs if output.output_type == "error"]
    assert [error.ename for error in gone] == ["ValueError"]
    assert any("cannot be read" in str(output) for output in cells[10].outputs)
    assert "usage" in texts(cells[8], "text/plain")
    assert "the cell goes on" in texts(cells[9], "text/plain")
    assert any("not measured" in str(output) for output in cells[9].outputs)
    cell = impact.read(tmp_path / "runs" / "cell")[0]
    assert cell.tags == {"lr": "0.1"}
    assert cell.energy is not None
    assert cell.duration is not None
    assert "no end was recorded" not in texts(measured, "text/html")
    assert float(cell.duration.to("s")) > 2.4
    # The kernel worked all the time, so the cell has all the energy of its time.
    expected = float(cell.duration.to("s")) * simulator.watts
    assert float(cell.energy.to("J")) == pytest.approx(expected, rel=0.02)
    assert "ended" in (tmp_path / "runs" / "failed" / "impacttracker" / "info.json").read_text()
    await_no_tracker("--out=runs/")
    open_in_a_browser(notebook, tmp_path)


def open_in_a_browser(notebook: Any, folder: Path) -> None:
    nbconvert = pytest.importorskip("nbconvert", reason="no nbconvert")
    browser = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    assert browser is not None, "Chromium is needed: apt-get install chromium"
    page = folder / "notebook.html"
    page.write_text(nbconvert.HTMLExporter().from_notebook_node(notebook)[0])
    # Without a network, as on a cluster.
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command += ["--virtual-time-budget=5000", f"--user-data-dir={folder}/browser", "--window-size=1000,2400"]
    shot = [f"--screenshot={folder}/notebook.png", page.as_uri()]
    subprocess.run([*command, *shot], check=True, capture_output=True, timeout=120)
    dom = subprocess.run([*command, "--dump-dom", page.as_uri()], check=True, capture_output=True, timeout=120)
    text = dom.stdout.decode()
    assert text.count('class="impact-card"') == 6
    assert 'class="impact-live"' not in text
    assert "CO2eq" in text
    assert (folder / "notebook.png").stat().st_size > 10_000


def test_a_killed_kernel_leaves_no_tracker_and_a_log(tmp_path: Path, kernels: None) -> None:
    cells = ["%load_ext impact", "%impact start runs/killed", "import os; os.kill(os.getpid(), 9)"]
    with pytest.raises(nbclient.exceptions.DeadKernelError):
        run(cells, tmp_path)
    await_no_tracker("--out=runs/killed")
    assert len(impact.read(tmp_path / "runs" / "killed")) == 1


def test_a_terminal_without_a_front_end_prints_the_figures(tmp_path: Path, kernels: None) -> None:
    interactive = pytest.importorskip("IPython.core.interactiveshell", reason="no IPython")
    shell = interactive.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "impact")
    result = shell.run_cell("%%impact runs/shell\n1 + 1")
    assert result.success
    assert result.result == 2
    shell.run_line_magic("unload_ext", "impact")
    assert not shell.run_cell("%impact report").success
    interactive.InteractiveShell.clear_instance()
