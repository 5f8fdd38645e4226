"""How long an attempt may still take."""

from __future__ import annotations

import io
import socket
import time
from typing import Any, Optional


class Deadline:
    """Limits all steps of an attempt together, where a timeout of a socket limits each of them."""

    def __init__(self, seconds: Optional[float]) -> None:
        self.seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Starts the full timeout again."""
        self._end = None if self.seconds is None else time.monotonic() + self.seconds

    def apply_to(self, sock: socket.socket) -> None:
        """Limits the next operation of the socket to the time that is left."""
        sock.settimeout(self.remaining())

    def remaining(self) -> Optional[float]:
        if self._end is None:
            return None
        remaining = self._end - time.monotonic()
        if remaining <= 0:
            raise socket.timeout("timed out")
        return remaining


class DeadlineSocket:
    """A socket as `http.client` reads a response from it, with a deadline for the response as a whole."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_DeadlineReader(self._sock, self._deadline))


class _DeadlineReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self._sock = sock
        self._deadline = deadline
        # Keeps the socket open until the response is read, as http.client expects.
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._deadline.apply_to(self._sock)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
