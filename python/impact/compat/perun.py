"""The interface of perun: `monitor`, `perun`, `register_callback`, `register_live_callback`."""

from __future__ import annotations

import datetime
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from impact import program
from impact.phases import current_sender, phase
from impact.run import Run, track

if TYPE_CHECKING:
    from impact.records import RunRecord

_FORMATS = {"text": "txt", "json": "json", "csv": "csv", "yaml": "yaml"}
_callbacks: dict[str, Callable[[RunRecord], Any]] = {}


def register_callback(function: Callable[[RunRecord], Any]) -> Callable[[RunRecord], Any]:
    """Calls the function with the record of each run that a decorated function has ended; once for each name."""
    _callbacks[function.__name__] = function
    return function


def register_live_callback(function: Callable[[], Any], id: str) -> None:
    """Has no effect, with a warning: the tracker is another process, and calls nothing in this one."""
    program.tell(f"the live callback {id!r} of perun has no effect")


def monitor(
    region_name: str | Callable[..., Any] | None = None,
    *,
    data_out: str | None = None,
    format: str | None = None,
    **options: Any,
) -> Any:
    """Measures a function.

    Inside of a run that is being measured, it is a phase of that run, named `region_name` or as the function. Outside,
    or with `data_out` or `format`, each call is a run of its own, with a report in `data_out`.
    """
    if callable(region_name):
        return monitor()(region_name)
    is_application = data_out is not None or format is not None

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        name = region_name or function.__name__
        as_run = perun(data_out=data_out, format=format, app_name=name, **options)(function)

        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            if is_application or current_sender() is None:
                return as_run(*args, **kwargs)
            with phase(name):
                return function(*args, **kwargs)

        return measured

    return decorate


def perun(
    configuration_file: str | None = None,
    *,
    data_out: str | None = None,
    format: str | None = None,
    app_name: str | None = None,
    **others: Any,
) -> Any:
    """Measures a function as an application: each call is a run, with a report in `data_out` (`perun_results`).

    `format` is `text`, `json`, `csv` or `yaml`.
    """
    ignored = sorted(others) + (["configuration_file"] if configuration_file else [])
    if ignored:
        program.tell(f"these arguments of perun have no effect: {', '.join(ignored)}")
    form = format or "text"
    if form not in _FORMATS:
        program.tell(f"perun's format {form!r} is not written; text is")
        form = "text"

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def measured(*args: Any, **kwargs: Any) -> Any:
            name = app_name or function.__name__
            folder = Path(data_out or "perun_results")
            stem = f"{name}_{datetime.datetime.now().isoformat()}"
            run = track(folder / stem, name=name)
            try:
                with run:
                    return function(*args, **kwargs)
            finally:
                _report(run, folder / f"{stem}.{_FORMATS[form]}", form)

        return measured

    return decorate


def _report(run: Run, file: Path, form: str) -> None:
    if run.path is None:
        return
    try:
        text = program.output(["report", f"--format={form}", "--", os.fspath(run.path)])
        file.write_text(text, encoding="utf-8")
        record = run.record
    except (OSError, program.ImpactError) as error:
        program.tell(f"{file} cannot be written: {error}")
        return
    if record is None:
        return
    for name, callback in _callbacks.items():
        try:
            callback(record)
        except Exception as error:
            program.tell(f"the callback {name} has failed: {error!r}")
