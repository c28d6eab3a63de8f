"""The tracker: a separate process that measures this one."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
import time
from typing import IO, TYPE_CHECKING, Any

from impact import program

if TYPE_CHECKING:
    from collections.abc import Sequence

_PATIENCE = 10.0
"""Seconds. The tracker itself gives up waiting for sensors after 3 and for its disk after 5."""
_LONGEST_LINE = 1 << 20


class Tracker:
    """A tracker that is running, and the socket to it.

    It is no child of this process: whoever waits for all children, or ends them, does not meet it. It ends when it is
    told to, or when this process ends, however that happens.
    """

    def __init__(self, connection: socket.socket, started: dict[str, Any]) -> None:
        self._connection = connection
        self._rest = b""
        self.owner = os.getpid()
        self.id: str = started["id"]
        self.pid: int = started["pid"]
        self.run: str | None = started["run"]
        """The folder of the run; None if no log can be written."""
        self.marks: str | None = started["marks"]
        # This process inherits the tracker if it is process 1 of a container, or has asked the kernel for orphans.
        self._is_child = _waitpid(self.pid) == 0

    @classmethod
    def start(cls, options: Sequence[str]) -> Tracker:
        """Starts to measure this process and all that it starts."""
        import subprocess

        path = program.path()
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        except (OSError, AttributeError) as error:
            raise program.ImpactError(f"no connection to the tracker can be made: {error}") from error
        with theirs, _errors() as errors:
            command = [path, "track", f"--pid={os.getpid()}", f"--control={theirs.fileno()}", "--quiet", *options]
            try:
                # A session of its own: Ctrl-C and Ctrl-Z are for the job.
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors or subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    env=program.environment(),
                    start_new_session=True,
                )
                theirs.close()
                # It goes on in the background at once.
                if process.wait(_PATIENCE) != 0:
                    raise program.ImpactError(_text(errors) or f"it ended with exit code {process.returncode}")
                return cls(ours, _started(ours))
            except BaseException as error:
                # Also after Ctrl-C: a tracker that nobody knows of must not go on.
                with contextlib.suppress(OSError):
                    ours.sendall(b"stop")
                ours.close()
                if isinstance(error, (OSError, ValueError, KeyError, subprocess.SubprocessError)):
                    raise program.ImpactError(f"the tracker has not started: {error}") from error
                raise

    def is_running(self) -> bool:
        """Whether the tracker still measures."""
        try:
            return self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def stop(self) -> list[str] | None:
        """Ends the measurement, and gives the notes of the run; None if the tracker was not there any more."""
        if self.owner != os.getpid():
            return []
        try:
            self._connection.settimeout(_PATIENCE)
            self._connection.sendall(b"stop")
            notes = json.loads(_line(self._connection))["notes"]
            # Closed when the tracker has nothing left to do.
            self._connection.recv(1)
        except (OSError, ValueError, KeyError):
            return None
        finally:
            self._connection.close()
            self._reap()
        return [str(note) for note in notes]

    def _reap(self) -> None:
        attempts = 50 if self._is_child else 0
        while attempts > 0 and _waitpid(self.pid) == 0:
            attempts -= 1
            time.sleep(0.002)


def _waitpid(pid: int) -> int | None:
    """The process if it was a child and has ended, 0 if it is one, None if it is none of ours."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0]
    except (OSError, AttributeError):
        return None


@contextlib.contextmanager
def _errors() -> Any:
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    except OSError:
        yield None
        return
    with file:
        yield file


def _started(connection: socket.socket) -> dict[str, Any]:
    connection.settimeout(_PATIENCE)
    started: dict[str, Any] = json.loads(_line(connection))
    if started["event"] != "started":
        raise program.ImpactError(started["error"])
    connection.settimeout(0)
    return started


def _line(connection: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        more = connection.recv(65536)
        if not more or len(line) > _LONGEST_LINE:
            raise ValueError("the tracker has closed the connection")
        line += more
    return line


def _text(errors: IO[bytes] | None) -> str:
    if errors is None:
        return ""
    errors.seek(0)
    return errors.read(4096).decode("utf-8", "replace").strip().removeprefix("error: ")
