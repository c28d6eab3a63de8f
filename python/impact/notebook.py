"""Magics for IPython and Jupyter: `%load_ext impact`, then `%%impact` for a cell and `%impact start|stop|report`."""

from __future__ import annotations

import ast
import shlex
import threading
from typing import TYPE_CHECKING, Any

from impact import card, program
from impact.run import Run, track

if TYPE_CHECKING:
    from impact.records import RunRecord

_USAGE = (
    "usage: %impact start [OPTIONS] | stop | report, or %%impact [OPTIONS]; the options are those of `impact track`"
)
_PERIOD = 1.0


class LiveDisplay:
    """A line below the cell that is updated in place, and becomes a card at the end."""

    def __init__(self, run: Run, shell: Any) -> None:
        self._run = run
        # Only a kernel with a front end can update what it has shown.
        self._can_update = hasattr(shell, "kernel")
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._handle: Any = None

    def start(self) -> None:
        """Shows the line, and keeps it current."""
        if not self._can_update or self._run.path is None:
            return
        from IPython.display import HTML, display

        self._handle = display(HTML(card.of_live("measuring")), display_id=True)
        self._thread = threading.Thread(target=self._update, name="impact-display", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Shows the card in the place of the line."""
        self._over.set()
        if self._thread is not None:
            self._thread.join(_PERIOD)
        from IPython.display import HTML, display

        try:
            text, page = str(self._run.record or self._run.report()), self._run._repr_html_()
        except program.ImpactError as error:
            # The cell may have an exception of its own, which must not be replaced.
            text = f"the figures of this run cannot be read: {error}"
            page = card.of_text("impact", text)
        if not self._can_update:
            print(text)
        elif self._handle is not None:
            self._handle.update(HTML(page))
        else:
            display(HTML(page))

    def _update(self) -> None:
        from IPython.display import HTML

        while not self._over.wait(_PERIOD):
            try:
                record = self._run.record
            except program.ImpactError:
                continue
            if record is not None and not self._over.is_set():
                self._handle.update(HTML(card.of_live(_status(record))))


def _status(record: RunRecord) -> str:
    figures = {"energy": record.energy, "CO2eq": record.co2, "time": record.duration}
    known = [f"{name} {value}" for name, value in figures.items() if value is not None]
    return " · ".join(["measuring", *known])


class Magics:
    """The two magics of one IPython."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.run: Run | None = None
        """The run of `%impact start`, or of the last cell."""
        self._display: LiveDisplay | None = None

    def line(self, line: str) -> Any:
        """`%impact start|stop|report`."""
        word, _, rest = line.strip().partition(" ")
        if word == "start":
            if self.run is not None and self.run.is_running:
                program.tell("a run is being measured already; end it with %impact stop")
                return None
            self._start(rest)
        elif word == "stop":
            self._stop()
        elif word == "report":
            return self.run if self.run is not None else print("nothing has been measured; begin with %impact start")
        else:
            print(_USAGE)
        return None

    def cell(self, line: str, cell: str) -> Any:
        """`%%impact`: measures the cell, and gives what its last expression gives."""
        # Tracebacks begin in the cell.
        __tracebackhide__ = True
        before, display = self.run, self._display
        self._start(line)
        try:
            return self._execute(cell)
        finally:
            self._stop()
            # A run of `%impact start` goes on around the cell.
            if before is not None and before.is_running:
                self.run, self._display = before, display

    def _start(self, line: str) -> None:
        self.run = _run(line).start()
        self._display = LiveDisplay(self.run, self.shell)
        self._display.start()

    def _stop(self) -> None:
        if self.run is None:
            print("nothing is being measured; begin with %impact start")
            return
        self.run.stop()
        if self._display is not None:
            self._display.stop()
            self._display = None

    def _execute(self, cell: str) -> Any:
        __tracebackhide__ = True
        source = self.shell.transform_cell(cell)
        tree = self.shell.transform_ast(ast.parse(source))
        # Tracebacks then show the lines of the cell, which is the last input.
        number = len(self.shell.user_ns.get("In", [])) - 1
        name = self.shell.compile.cache(source, number, raw_code=cell)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(self.shell.compile(tree, name, "exec"), self.shell.user_ns)  # noqa: S102 - the user's own cell
        if last is None:
            return None
        return eval(self.shell.compile(ast.Expression(last.value), name, "eval"), self.shell.user_ns)  # noqa: S307


def _run(line: str) -> Run:
    options: dict[str, Any] = {"name": "notebook"}
    out = None
    words = shlex.split(line)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            out = word
            continue
        name, equals, value = word[2:].partition("=")
        if not equals and words and not words[0].startswith("--") and name not in ("live", "redact", "strict"):
            value = words.pop(0)
        name = name.replace("-", "_")
        if name == "tag":
            key, _, text = value.partition("=")
            options.setdefault("tags", {})[key] = text
        else:
            options[name] = value or True
    if "out" in options:
        out = options.pop("out")
    return track(out, **options)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext impact`."""
    magics = Magics(shell)
    shell.register_magic_function(magics.line, "line", "impact")
    shell.register_magic_function(magics.cell, "cell", "impact")


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext impact`."""
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("impact", None)
