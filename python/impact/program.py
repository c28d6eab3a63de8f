"""Finds and runs the `impact` program that comes with this package."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import sysconfig
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "IMPACT_PROGRAM"
"""The environment variable with the path of another program to use."""

SOME_LEFT_OUT = 3
"""The exit code for a result in which some logs are missing."""


class ImpactError(Exception):
    """The program has failed; the text says why, and what to do."""

    def __init__(self, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.code = code


class ImpactWarning(UserWarning):
    """Something was not measured or left out. The job goes on."""


@functools.lru_cache(maxsize=1)
def _path() -> str:
    name = "impact.exe" if os.name == "nt" else "impact"
    package = os.path.dirname(os.path.abspath(__file__))
    user = sysconfig.get_path("scripts", f"{os.name}_user")
    # `pip install --target DIR` puts programs into DIR/bin; `--prefix` three folders up from site-packages.
    folders = [
        sysconfig.get_path("scripts"),
        os.path.join(os.path.dirname(package), "bin"),
        os.path.join(os.path.dirname(package), "..", "..", "..", "bin"),
        user,
    ]
    for folder in folders:
        candidate = os.path.join(folder, name) if folder else ""
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return os.path.abspath(candidate)
    raise ImpactError(
        f"the program `impact` of this package is not among the installed scripts ({folders[0]}); "
        "install it again: pip install --force-reinstall impact-tracker"
    )


def path() -> str:
    """The path of the program.

    >>> import os
    >>> os.access(path(), os.X_OK)
    True
    """
    return os.environ.get(VARIABLE) or _path()


def environment() -> dict[str, str]:
    """A copy of the environment for a program. Without one, the program cannot be started while a thread changes it."""
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}


def output(arguments: Sequence[str | os.PathLike[str]], accepted: Sequence[int] = (0, SOME_LEFT_OUT)) -> str:
    """What the program prints. Other exit codes than the accepted ones are an error; what is left out is a warning."""
    command = [path(), *(os.fspath(argument) for argument in arguments)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment(),
            check=False,
        )
    except OSError as error:
        raise ImpactError(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode not in accepted:
        text = done.stderr.strip().removeprefix("error: ")
        raise ImpactError(text or f"{command[1]} ended with exit code {done.returncode}", done.returncode)
    if done.returncode == SOME_LEFT_OUT:
        first, *others = done.stderr.strip().splitlines() or ["some logs are left out"]
        tell(f"{first}; and {len(others)} more" if others else first)
    return done.stdout


def parse(text: str) -> Any:
    """Parses JSON of the program. Numbers with a fraction are exact decimals.

    >>> parse('{"kwh": 0.1}')
    {'kwh': Decimal('0.1')}
    """
    return json.loads(text, parse_float=Decimal)


def options(**values: object) -> list[str]:
    """Options for the command line. None and False are left out.

    >>> options(zone="GB", redact=True, pue=None, gpu_count=2)
    ['--zone=GB', '--redact', '--gpu-count=2']
    """
    words: list[str] = []
    for name, value in values.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return words


def tell(text: str) -> None:
    """Warns, in the name of the code that has called this package. The job goes on even where warnings are errors."""
    import warnings

    package = os.path.dirname(os.path.abspath(__file__))
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        level, frame = level + 1, frame.f_back
    try:
        warnings.warn(f"impact: {text}", ImpactWarning, stacklevel=level)
    except ImpactWarning:
        print(f"impact: {text}", file=sys.stderr)
