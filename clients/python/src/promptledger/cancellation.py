"""Ends calls from another thread."""

from __future__ import annotations

import contextlib
import contextvars
import socket
import threading
from typing import Iterator, Optional


class CallCancelled(Exception):
    """Ends a call whose caller no longer waits for it."""


class Cancellation:
    """Ends the requests in flight at once, by shutting down their sockets, and prevents retries."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    def cancel(self) -> None:
        self._event.set()
        with self._lock:
            for each in self._sockets:
                # Not the method of SSLSocket, which would change the object under the thread that reads from it.
                with contextlib.suppress(OSError):
                    socket.socket.shutdown(each, socket.SHUT_RDWR)

    def check(self) -> None:
        if self.is_cancelled:
            raise CallCancelled

    def sleep(self, seconds: float) -> None:
        self._event.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def watching(self, sock: socket.socket) -> Iterator[None]:
        """Shuts the socket down if the call is cancelled meanwhile."""
        with self._lock:
            self._sockets.add(sock)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._sockets.discard(sock)


_current: contextvars.ContextVar[Optional[Cancellation]] = contextvars.ContextVar("cancellation", default=None)


def use_cancellation(cancellation: Cancellation) -> None:
    """Makes it that of all later calls in this thread or context."""
    _current.set(cancellation)


def current_cancellation() -> Cancellation:
    return _current.get() or Cancellation()
