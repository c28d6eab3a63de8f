"""What the callbacks of all frameworks have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impact.run import Run, track

if TYPE_CHECKING:
    from impact.phases import Phase


class TrainingPhases:
    """A run with phases that begin and end in separate calls.

    Given a run that goes on, it only adds phases to it; else it has a run of its own.
    """

    def __init__(self, run: Run | None, **options: Any) -> None:
        self._options = options
        self._is_own = run is None
        self.run = track(**options) if run is None else run
        self._open: dict[str, Phase] = {}

    def start(self) -> None:
        """Starts a run, if it is to be an own one: each training has its own."""
        self.stop()
        if self._is_own:
            self.run = track(**self._options).start()

    def stop(self) -> None:
        """Ends all phases, and the run if it is an own one."""
        for name in list(self._open):
            self.end(name)
        if self._is_own:
            self.run.stop()

    def is_open(self, name: str) -> bool:
        """Whether the phase has begun and not ended."""
        return name in self._open

    def begin(self, name: str) -> None:
        """Begins a phase; one of the same name that is open ends."""
        self.end(name)
        self._open[name] = self.run.phase(name).__enter__()

    def end(self, name: str, **count: float) -> None:
        """Ends a phase with the work that was done in it. One that is not open stays as it is."""
        phase = self._open.pop(name, None)
        if phase is not None:
            phase.count.update(count)
            phase.__exit__(None, None, None)
