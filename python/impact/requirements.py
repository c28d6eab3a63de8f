"""Checks the hardware before an experiment starts."""

from __future__ import annotations

from typing import Any

from impact import program

_NOT_MET = 5


class RequirementError(program.ImpactError):
    """This machine is not the one that is required."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        self.lines = lines
        """A dictionary for each requirement: `what`, `expected`, `found` and `met`."""
        unmet = [line for line in lines if not line["met"]]
        self.what: str = unmet[0]["what"] if unmet else ""
        """The first requirement that is not met."""
        self.expected: str = unmet[0]["expected"] if unmet else ""
        self.found: str = _found(unmet[0]) if unmet else ""
        texts = [f"{line['what']}: expected {line['expected']}, found {_found(line)}" for line in unmet]
        super().__init__("; ".join(texts), _NOT_MET)


def _found(line: dict[str, Any]) -> str:
    return ", ".join(line["found"]) or "none"


def require(**requirements: object) -> None:
    """Raises `RequirementError` if this machine does not have the hardware.

    The requirements are those of `impact require`: `gpu_name`, `gpu_count`, `driver`, `cpu_brand`, `cores`, `kernel`. A
    value is a name, a regular expression after `~`, a glob with `*`, or a version after `>=`.

    >>> require(cores=">=1")
    >>> try:
    ...     require(cores=">=100000")
    ... except RequirementError as error:
    ...     print(error.what, error.expected)
    CPU cores >=100000
    """
    words = ["require", "--format=json", *program.options(**requirements)]
    answer = program.parse(program.output(words, accepted=(0, _NOT_MET)))
    if not all(line["met"] for line in answer["requirements"]):
        raise RequirementError(answer["requirements"])
