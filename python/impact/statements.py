"""Statements and comparisons of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impact import card, program
from impact.records import Paths, counted, paths_of


class Statement(str):
    """A statement as text, in the format that was asked for."""

    __slots__ = ("kind",)

    kind: str
    """The format: `text`, `markdown`, `latex` or `html`."""

    def _repr_html_(self) -> str:
        return str(self) if self.kind == "html" else card.of_text("impact statement", self)


def statement(paths: Paths, country: str | None = None, format: str = "text", **options: Any) -> Any:  # noqa: A002
    """The carbon impact statement of runs.

    `format` is `text`, `markdown`, `latex` or `html`, or `json` for a dictionary with exact figures. `country` is the
    one whose social cost of carbon is stated. Other options are those of `impact statement`.

    >>> "kWh" in statement(examples, country="USA")
    True
    >>> statement(examples, format="json")["total_power"] == read(examples).total.energy_with_pue.exact
    True
    """
    words = ["statement", f"--format={format}", *program.options(**options), "--", *paths_of(paths)]
    text = program.output([*words, country] if country else words)
    if format == "json":
        return program.parse(text)
    result = Statement(text)
    result.kind = format
    return result


class Comparison:
    """Groups of runs, compared with the first."""

    def __init__(self, words: list[str], data: Mapping[str, Any]) -> None:
        self._words = words
        self.data = dict(data)
        """The comparison as `impact compare --format json` gives it."""

    @property
    def groups(self) -> dict[str, int]:
        """The groups, with the number of their runs."""
        return {group["name"]: group["runs"] for group in self.data["groups"]}

    @property
    def figures(self) -> dict[str, Any]:
        """Means, differences, intervals and tests by figure."""
        figures: dict[str, Any] = self.data["figures"]
        return figures

    def text(self, format: str = "text") -> str:  # noqa: A002
        """The comparison as `text`, `markdown`, `csv`, `svg` or `html`."""
        return program.output(["compare", f"--format={format}", *self._words])

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        groups = ", ".join(f"{name} ({counted(count)})" for name, count in self.groups.items())
        return f"<comparison of {groups}>"

    def _repr_html_(self) -> str:
        return card.of_text("impact compare", self.text())


def compare(groups: Paths, **options: Any) -> Comparison:
    """Compares groups of runs with the first group. Options are those of `impact compare`.

    >>> comparison = compare(example_groups, metric="energy")
    >>> list(comparison.groups.values()), list(comparison.figures)
    ([1, 1], ['total_power'])
    """
    words = [*program.options(**options), "--", *paths_of(groups)]
    return Comparison(words, program.parse(program.output(["compare", "--format=json", *words])))
