"""Connections to the service, which requests share one after the other."""

from __future__ import annotations

import http.client
import select
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional

from .api_key import ApiKey
from .base_url import BaseUrl
from .deadline import Deadline, DeadlineSocket
from .fork import reset_after_fork
from .proxy import Proxy

# The service closes idle connections after 72 s, but proxies and load balancers often do so after 5 s.
_max_idle_seconds = 4.0
_max_idle_connections = 32


class _DeadlineConnection(http.client.HTTPConnection):
    deadline: Deadline

    def response_class(  # type: ignore[override]
        self, sock: socket.socket, *args: Any, **kwargs: Any
    ) -> http.client.HTTPResponse:
        return http.client.HTTPResponse(DeadlineSocket(sock, self.deadline), *args, **kwargs)  # type: ignore[arg-type]


class _DeadlineTlsConnection(_DeadlineConnection, http.client.HTTPSConnection):
    pass


@dataclass(frozen=True)
class Request:
    """What is sent in each attempt of a call."""

    method: str
    target: str
    """The path with the query."""
    headers: Mapping[str, str] = field(repr=False)
    body: Optional[bytes]
    is_idempotent: bool


class Connection:
    """A connection that carries one request at a time."""

    def __init__(self, connection: _DeadlineConnection, target_prefix: str, headers: Mapping[str, str]) -> None:
        self._connection = connection
        self._target_prefix = target_prefix
        self._headers = headers
        # http.client lets go of the socket when the response is the last one on it.
        self.socket: socket.socket = connection.sock
        self.idle_since = 0.0

    def send(self, request: Request, key: ApiKey, deadline: Deadline) -> http.client.HTTPResponse:
        """Sends a request, and returns its response once the headers have arrived.

        Only the frames below this one hold the key as text.
        """
        self._connection.deadline = deadline
        deadline.apply_to(self.socket)
        headers = {"Authorization": key.authorization(), **request.headers, **self._headers}
        self._connection.request(request.method, f"{self._target_prefix}{request.target}", request.body, headers)
        return self._connection.getresponse()

    def is_reusable(self) -> bool:
        """Whether the other side has not closed the connection, nor sent anything that no request asked for."""
        if self._connection.sock is None or time.monotonic() - self.idle_since > _max_idle_seconds:
            return False
        if hasattr(select, "poll"):
            # Unlike select, it can watch sockets with large numbers.
            poll = select.poll()
            poll.register(self.socket, select.POLLIN)
            return not poll.poll(0)
        return not select.select([self.socket], [], [], 0)[0]

    def close(self) -> None:
        self._connection.close()


class Connections:
    """Keeps idle connections open for the next requests. Safe for use by several threads."""

    def __init__(self, base_url: BaseUrl, proxy: Optional[Proxy], context: Optional[ssl.SSLContext]) -> None:
        self._base_url = base_url
        self._proxy = proxy
        self._context = context
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        reset_after_fork(self)

    def take(self) -> Optional[Connection]:
        """An open connection that no request uses, if any."""
        while True:
            with self._lock:
                if not self._idle:
                    return None
                # The one that was used last is the least likely to have been closed.
                connection = self._idle.pop()
            if connection.is_reusable():
                return connection
            connection.close()

    def open(self, deadline: Deadline) -> Connection:
        """Establishes a connection."""
        url, proxy = self._base_url, self._proxy
        host, port = (url.host, url.port) if proxy is None else (proxy.host, proxy.port)
        connection: _DeadlineConnection
        if url.scheme == "https":
            connection = _DeadlineTlsConnection(host, port, timeout=deadline.remaining(), context=self._tls())
        else:
            connection = _DeadlineConnection(host, port, timeout=deadline.remaining())
        connection.deadline = deadline
        prefix, headers = "", {}
        if proxy is not None:
            headers = {} if proxy.authorization is None else {"Proxy-Authorization": proxy.authorization}
            if url.scheme == "https":
                connection.set_tunnel(url.host, url.port, headers)
                headers = {}
            else:
                prefix = f"http://{_authority(url)}"
                headers["Host"] = _authority(url)
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return Connection(connection, prefix, headers)

    def give_back(self, connection: Connection) -> None:
        """Keeps a connection whose response was read to its end."""
        connection.idle_since = time.monotonic()
        with self._lock:
            if len(self._idle) < _max_idle_connections:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Closes the idle connections. Further requests open new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def after_fork(self) -> None:
        # The parent process still uses its connections. Closing a copy of a socket does not end them.
        self._lock = threading.Lock()
        self.close()

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:
                self._context = ssl.create_default_context()
            return self._context


def _authority(url: BaseUrl) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host if url.port == 80 else f"{host}:{url.port}"
