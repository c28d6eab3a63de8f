"""Small HTML cards for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from impact.figures import Figures
    from impact.records import RunRecord, Runs

_STYLE = (
    "display:inline-block;border:1px solid #8888;border-radius:6px;padding:.5em .8em;margin:.2em 0;"
    "font-size:.9em;line-height:1.4"
)
_CELL = "text-align:left;padding:.1em .8em .1em 0;border:0;background:none"


def _table(rows: Iterable[Iterable[object]]) -> str:
    lines = []
    for row in rows:
        cells = "".join(f"<td style='{_CELL}'>{html.escape(str(cell))}</td>" for cell in row)
        lines.append(f"<tr style='background:none'>{cells}</tr>")
    return f"<table style='border:0;margin:0'>{''.join(lines)}</table>"


def frame(title: str, body: str, note: str = "") -> str:
    """A card with a title; `body` is HTML, the others are text."""
    foot = f"<div style='opacity:.75'>{html.escape(note)}</div>" if note else ""
    return f"<div class='impact-card' style='{_STYLE}'><b>{html.escape(title)}</b>{body}{foot}</div>"


def _figures(figures: Figures) -> list[tuple[str, str]]:
    pue = getattr(figures, "pue", None)
    with_pue = "with PUE" if pue is None else f"with PUE {pue:g}"
    rows = [("energy", figures.energy), (with_pue, figures.energy_with_pue), ("CO2eq", figures.co2)]
    rows.append(("time", figures.duration))
    return [(name, "unknown" if value is None else repr(value)) for name, value in rows]


def of_run(run: RunRecord) -> str:
    """The figures of a run and its phases."""
    body = _table(_figures(run))
    if run.phases:
        rows = [(phase.name, f"{phase.repetitions} x", repr(phase.energy)) for phase in run.phases.values()]
        body += _table(rows[:20])
    note = "; ".join(run.notes[:3])
    return frame(run.name or str(run.path), body, note)


def of_runs(runs: Runs) -> str:
    """A line for each run, and the total."""
    rows = [(run.name or run.path.name, run.energy, run.co2, run.duration) for run in list(runs)[:50]]
    shown = [("run", "energy", "CO2eq", "time")]
    shown += [tuple("unknown" if cell is None else str(cell) for cell in row) for row in rows]  # type: ignore[misc]
    note = f"and {len(runs) - 50} more" if len(runs) > 50 else ""
    title = f"{len(runs)} run" if len(runs) == 1 else f"{len(runs)} runs"
    return frame(title, _table(shown) + _table(_figures(runs.total)), note)


def of_live(status: str) -> str:
    """A line while a run goes on."""
    return f"<div class='impact-live' style='opacity:.75'>{html.escape(status)}</div>"


def of_text(title: str, text: str) -> str:
    """Text as it is."""
    return frame(title, f"<pre style='margin:0;white-space:pre-wrap;background:none'>{html.escape(text)}</pre>")
