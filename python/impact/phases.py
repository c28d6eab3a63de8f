"""Phases of a run."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from impact.marks import VARIABLE, MarkSender, count_json, message, name_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType


class Phase:
    """A phase that lasts as long as the `with` block.

    Made by `Run.phase`. It may be entered again and again, also inside itself and in several threads.
    """

    __slots__ = ("_count", "_json", "_open", "_sender", "count", "name")

    def __init__(self, sender: MarkSender | None, name: str, count: Mapping[str, float] | None = None) -> None:
        self.name = name
        self.count = dict(count) if count else {}
        """Work done in the phase, by unit. It may be changed until the phase ends."""
        self._json = name_json(name)
        self._count = count_json(count)
        self._sender = sender
        self._open: list[int] = []

    def __enter__(self) -> Phase:
        sender = self._sender
        if sender is not None:
            span = sender.span()
            self._open.append(span)
            sender.send(message(self._json, "start", span, time.monotonic_ns()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sender = self._sender
        if sender is not None and self._open:
            now = time.monotonic_ns()
            count = count_json(self.count) if self.count else ""
            sender.send(message(self._json, "end", self._open.pop(), now, count))


_senders: dict[str, MarkSender] = {}


def current_sender() -> MarkSender | None:
    """The connection to the tracker that this process is part of, by the environment."""
    address = os.environ.get(VARIABLE, "")
    if not address.startswith("@"):
        return None
    return _senders.setdefault(address, MarkSender(address))


def phase(name: str, count: Mapping[str, float] | None = None) -> Phase:
    """A phase of the run that this process is part of, whoever tracks it.

    Also in worker processes, and under `impact track -- python ...`. Outside of a run it does nothing.

    >>> with phase("load", count={"files": 3}):
    ...     pass
    """
    return Phase(current_sender(), name, count)


def mark(name: str) -> None:
    """Names this instant of the run that this process is part of.

    >>> mark("epoch 3")
    """
    sender = current_sender()
    if sender is not None:
        sender.send(message(name_json(name), "point", None, time.monotonic_ns()))
