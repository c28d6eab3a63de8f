"""Runs that are measured now."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from impact import program
from impact.marks import VARIABLE, MarkSender, connected, count_json, message, name_json
from impact.phases import Phase
from impact.tracker import Tracker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from impact.quantity import Quantity
    from impact.records import PhaseRecord, RunRecord

_OUTER_RUNS = "IMPACT_OUTER_RUNS"


class TrackerDiedError(program.ImpactError):
    """The tracker is not there any more, so the run is not measured to its end."""


class _Environment:
    """Names the innermost running run in the environment, for programs and workers that this process starts."""

    def __init__(self) -> None:
        self._runs: list[Run] = []
        self._outer: dict[str, str | None] = {}
        self.make_lock()

    def make_lock(self) -> None:
        # A signal handler may stop a run while one is being started or stopped.
        self._lock = threading.RLock()

    def add(self, run: Run) -> None:
        with self._lock:
            if not self._runs:
                self._outer = {name: os.environ.get(name) for name in (VARIABLE, _OUTER_RUNS)}
            self._runs.append(run)
            self._set()

    def remove(self, run: Run) -> None:
        with self._lock:
            if run in self._runs:
                self._runs.remove(run)
                self._set()

    def _set(self) -> None:
        ids = [run.id for run in self._runs if run.id]
        outer = self._outer.get(_OUTER_RUNS)
        values = {
            VARIABLE: self._runs[-1]._address if self._runs else self._outer.get(VARIABLE),
            _OUTER_RUNS: ",".join([*([outer] if outer else []), *ids]) or None,
        }
        for name, value in values.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_environment = _Environment()
if hasattr(os, "register_at_fork"):
    # Another thread may have held the lock.
    os.register_at_fork(after_in_child=_environment.make_lock)


class Run:
    """A run of this process, made by `impact.track` or `impact.start`.

    As a context manager it starts and stops the measurement. It can be handed to forked and spawned workers, which may
    use it for phases; only the process that has started it stops it.
    """

    def __init__(self, options: list[str], strict: bool = False) -> None:
        self._options = options
        self._strict = strict
        self._tracker: Tracker | None = None
        self._sender: MarkSender | None = None
        self._address: str | None = None
        self._record: RunRecord | None = None
        self._is_complete = False
        self._is_copy = False
        self.path: Path | None = None
        """The folder of the run; None if there is no log."""
        self.id: str | None = None
        self.notes: list[str] = []
        """What the tracker noted, when the run has ended."""
        self.reason: str | None = None
        """Why the run was not measured, or not to its end."""

    # Starting and stopping.

    def start(self) -> Run:
        """Starts to measure. If that fails, there is a warning and the job goes on, unless the run is strict."""
        if self._tracker is not None or self.path is not None:
            return self
        try:
            tracker = Tracker.start(self._options)
        except program.ImpactError as error:
            self.reason = str(error)
            if self._strict:
                raise
            program.tell(f"this run is not measured: {error}")
            return self
        self._tracker = tracker
        self.reason = None
        self.id = tracker.id
        self.path = None if tracker.run is None else Path(tracker.run).absolute()
        if self.path is None:
            program.tell("the log cannot be written, so the figures of this run will be lost")
        if tracker.marks is not None:
            self._address = tracker.marks
            self._sender = MarkSender(tracker.marks)
            _environment.add(self)
        atexit.register(self.stop)
        return self

    def stop(self) -> Run:
        """Stops to measure. Nothing happens after that, nor in another process than the one that started."""
        if self._tracker is None or self._tracker.owner != os.getpid():
            return self
        # Nothing is called in between, so that only one of several threads gets it.
        tracker, self._tracker = self._tracker, None
        if tracker is None:
            return self
        atexit.unregister(self.stop)
        _environment.remove(self)
        lost = 0
        if self._sender is not None:
            self._sender.close()
            lost = self._sender.lost
        notes = tracker.stop()
        self._is_complete = True
        if notes is None:
            self.reason = "the tracker has ended before the run"
            program.tell(f"{self.reason}; what it measured until then is in {self.path}")
        else:
            self.notes = notes
            if lost:
                program.tell(f"{lost} marks of phases did not reach the tracker")
        return self

    def __enter__(self) -> Run:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # What is told to the tracker.

    def phase(self, name: str, count: Mapping[str, float] | None = None) -> Phase:
        """A phase that lasts as long as the `with` block; `count` is the work done in it, by unit."""
        return Phase(self._sender, name, count)

    def mark(self, name: str) -> None:
        """Names this instant: a phase that lasts until the next such mark."""
        if self._sender is not None:
            self._sender.send(message(name_json(name), "point", None, time.monotonic_ns()))

    def count(self, **count: float) -> None:
        """Counts work done, such as `run.count(tokens=4096)`. Counts of one unit add up."""
        if self._sender is not None and count:
            number = count_json(count)
            self._sender.send(f'{{"edge":"count","at_ns":{time.monotonic_ns()}{number}}}')

    # What is known of it.

    @property
    def is_running(self) -> bool:
        """Whether the run is being measured."""
        if self._tracker is not None:
            return self._tracker.is_running()
        if not self._is_copy or self._address is None:
            return False
        connection = connected(self._address)
        if connection is not None:
            connection.close()
        return connection is not None

    def check(self) -> None:
        """Raises `TrackerDiedError` if the run should be measured and is not, or was not measured to its end."""
        if self.reason is not None or not (self._is_complete or self.is_running):
            raise TrackerDiedError(self.reason or "the tracker is not running, so the run is not measured")

    @property
    def record(self) -> RunRecord | None:
        """The figures of the run so far, or of the whole run when it has ended; None if there are none."""
        if self._record is not None:
            return self._record
        if self.path is None:
            return None
        from impact.records import read

        # Another thread may end the run while it is read here.
        is_complete = self._is_complete
        runs = [run for run in read(self.path) if run.path.absolute() == self.path]
        record = runs[0] if runs else None
        if is_complete:
            self._record = record
        return record

    @property
    def energy(self) -> Quantity | None:
        """Energy of the run, without PUE."""
        record = self.record
        return None if record is None else record.energy

    @property
    def energy_with_pue(self) -> Quantity | None:
        """Energy of the run with the overhead of the data centre, as statements state it."""
        record = self.record
        return None if record is None else record.energy_with_pue

    @property
    def co2(self) -> Quantity | None:
        """Emissions of the run, PUE included; None if the place is not known."""
        record = self.record
        return None if record is None else record.co2

    @property
    def duration(self) -> Quantity | None:
        """Wall-clock time of the run."""
        record = self.record
        return None if record is None else record.duration

    @property
    def phases(self) -> dict[str, PhaseRecord]:
        """The phases of the run, by name."""
        record = self.record
        return {} if record is None else record.phases

    def report(self) -> str:
        """The figures as text, by device and phase."""
        if self.path is None:
            return f"not measured: {self.reason or 'the run has not been started'}"
        return program.output(["report", "--format=text", "--", str(self.path)])

    def __repr__(self) -> str:
        state = "running" if self.is_running else "ended" if self.path is not None else "not measured"
        return f"<run {self.path or ''}: {state}>"

    def _repr_html_(self) -> str:
        from impact import card

        record = self.record
        return card.of_text("impact", self.report()) if record is None else card.of_run(record)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "id": self.id, "address": self._address}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__([])  # type: ignore[misc]
        self.path, self.id, self._address = state["path"], state["id"], state["address"]
        self._is_copy = True
        self._sender = None if self._address is None else MarkSender(self._address)


def track(
    out: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    tags: Mapping[str, object] | None = None,
    zone: str | None = None,
    region: str | None = None,
    address: str | None = None,
    pue: float | None = None,
    interval: float | str | None = None,
    live: bool = False,
    redact: bool = False,
    strict: bool = False,
    **options: object,
) -> Run:
    """A run to be measured, for a `with` statement.

    `out` is the folder of the run; by default it is a new one below `impact-logs`. `zone`, `region` and `address` say
    where the electricity comes from. `interval` is the time between two samples, in seconds. With `strict`, a tracker
    that cannot be started raises `ImpactError`; without, there is a warning and the job goes on. Other options
    are those of `impact track`.

    >>> with track("runs/a", zone="US-CA", tags={"lr": 0.1}) as run:
    ...     with run.phase("train", count={"samples": 50_000}):
    ...         total = sum(range(1000))
    >>> run.path.name, list(run.phases)
    ('a', ['train'])
    """
    if isinstance(interval, (int, float)):
        interval = f"{interval}s"
    words = program.options(
        out=None if out is None else os.fspath(out),
        name=name or _name(),
        zone=zone,
        region=region,
        address=address,
        pue=pue,
        interval=interval,
        live=live,
        redact=redact,
        **options,
    )
    words += [f"--tag={key}={value}" for key, value in (tags or {}).items()]
    return Run(words, strict)


def start(out: str | os.PathLike[str] | None = None, **options: Any) -> Run:
    """Starts to measure; end it with `run.stop()`. The options are those of `track`.

    >>> run = start("runs/b")
    >>> run.is_running
    True
    >>> run.stop().is_running
    False
    """
    return track(out, **options).start()


def latest(run: Run) -> RunRecord | None:
    """The figures of a run while it goes on; None if there are none yet.

    >>> with track() as run:
    ...     latest(run).duration is not None
    True
    """
    return run.record


def _name() -> str:
    """The name of the script."""
    script = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c", "-m") else ""
    if script in ("ipykernel_launcher.py", "colab_kernel_launcher.py"):
        return "notebook"
    if script == "__main__.py":
        return os.path.basename(os.path.dirname(sys.argv[0])) or "python"
    return script or "python"
