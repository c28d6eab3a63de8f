"""Sends marks to the tracker: one datagram each, without waiting for an answer."""

from __future__ import annotations

import itertools
import json
import os
import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "IMPACT_TRACKER"
"""The environment variable with the address of the tracker, as `impact track` sets it."""

LONGEST_NAME = 512
"""Bytes of the name of a phase or a unit."""
_LONGEST_MESSAGE = 16_000
_MOST_WAITING = 4096


_connecting = threading.Lock()


def _after_fork() -> None:
    global _connecting  # noqa: PLW0603 - another thread may have held it
    _connecting = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class MarkSender:
    """A connection to the socket of a tracker. It never blocks and never raises.

    What the kernel does not take at once is kept and sent with the next mark. Each mark carries the time at which it
    was made, so that a late one still counts at the right instant.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.lost = 0
        self._pid = 0
        self._socket: socket.socket | None = None
        self._waiting: list[str] = []
        self._lock = threading.Lock()
        self._spans = itertools.count()

    def span(self) -> int:
        """A number that no other span of this run has, also not in another process."""
        return (os.getpid() << 32) + next(self._spans)

    def send(self, message: str) -> None:
        """Sends a mark."""
        # A forked process has a socket of its own.
        if self._pid != os.getpid():
            with _connecting:
                if self._pid != os.getpid():
                    self._connect()
        if self._socket is None:
            self.lost += 1
            return
        if not self._waiting:
            try:
                self._socket.send(message.encode())
                return
            except BlockingIOError:
                pass
            except OSError:
                self.lost += 1
                return
        with self._lock:
            self._waiting.append(message)
            self._flush()

    def _flush(self) -> None:
        """Sends what is waiting, several marks in one message."""
        if self._socket is None:
            return
        try:
            while self._waiting:
                count, size = 0, 0
                for message in self._waiting:
                    size += len(message) + 1
                    if size > _LONGEST_MESSAGE and count:
                        break
                    count += 1
                self._socket.send(f"[{','.join(self._waiting[:count])}]".encode())
                del self._waiting[:count]
        except (BlockingIOError, socket.timeout):
            surplus = len(self._waiting) - _MOST_WAITING
            if surplus > 0:
                self.lost += surplus
                del self._waiting[:surplus]
        except OSError:
            self.lost += len(self._waiting)
            self._waiting.clear()

    def close(self) -> None:
        """Sends what is waiting and closes the connection."""
        if self._socket is not None and self._pid == os.getpid():
            self._socket.settimeout(0.25)
        with self._lock:
            self._flush()
        self.lost += len(self._waiting)
        self._waiting.clear()
        if self._socket is not None and self._pid == os.getpid():
            self._socket.close()
        self._socket = None

    def __del__(self) -> None:
        # A copy in a worker, which nobody closes.
        if self._socket is not None and self._pid == os.getpid():
            self._socket.close()

    def _connect(self) -> None:
        self._waiting = []
        # The other one may have been held while this process was forked.
        self._lock = threading.Lock()
        self._socket = connected(self.address)
        # The last, because other threads look at it without a lock.
        self._pid = os.getpid()


def connected(address: str) -> socket.socket | None:
    """A socket to a tracker; None if there is no tracker at this address."""
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    except (OSError, AttributeError):
        return None
    try:
        connection.setblocking(False)
        connection.connect("\0" + address.lstrip("@"))
    except OSError:
        connection.close()
        return None
    return connection


def message(name: str, edge: str, span: int | None, at_ns: int, count: str = "") -> str:
    """A mark as the tracker reads it; name and count are JSON already."""
    numbered = "" if span is None else f',"span":{span}'
    return f'{{"name":{name},"edge":"{edge}"{numbered},"at_ns":{at_ns}{count}}}'


def name_json(name: str) -> str:
    """The name of a phase as JSON, cut to what a mark can hold.

    >>> name_json("epoch")
    '"epoch"'
    """
    name = name.encode("utf-8", "replace")[:LONGEST_NAME].decode("utf-8", "ignore")
    return json.dumps(name or "(no name)", ensure_ascii=False)


def count_json(count: Mapping[str, float] | None) -> str:
    """Work done, by unit, as a member of the mark.

    >>> count_json({"samples": 64})
    ',"count":{"samples":64}'
    >>> count_json(None)
    ''
    """
    if not count:
        return ""
    for unit, number in count.items():
        if not 0 <= number <= 1e18:
            raise ValueError(f"a count is a number from 0 to 1e18, not {number} ({unit})")
    return ',"count":' + json.dumps(
        {unit: float(n) if n != int(n) else int(n) for unit, n in count.items()}, separators=(",", ":")
    )
