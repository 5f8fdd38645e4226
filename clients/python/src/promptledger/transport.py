"""Sends the requests of all resources."""

from __future__ import annotations

import http.client
import re
import socket
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Generator, Mapping, NoReturn, Optional, TypeVar, Union, cast
from urllib.parse import urlencode

from .api_key import ApiKey
from .base_url import BaseUrl
from .cancellation import CallCancelled, current_cancellation
from .connection import Connection, Connections, Request
from .deadline import Deadline
from .errors import ConnectionError, PromptledgerError, TimeoutError, error_from_response, printable
from .json_text import decode_json, encode_json
from .not_given import NOT_GIVEN, NotGiven
from .retry import is_transient, never_connected, retry_delay
from .times import iso_time
from .version import __version__

Result = TypeVar("Result")

# A call fails when the service asks for a longer delay, so that no caller hangs for hours.
_max_retry_delay = 60.0
_max_error_bytes = 65_536
_chunk_bytes = 65_536
_user_agent = f"promptledger-python/{__version__}"


@dataclass(frozen=True)
class Operation:
    """One call of the API."""

    method: str
    path: str
    """Relative to `/api/v1`."""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Optional[Mapping[str, Any]] = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_idempotent: Optional[bool] = None
    """Whether sending it twice has the same effect as sending it once. Defaults to True for every method but POST."""
    timeout: Optional[float] = None
    """Replaces the timeout of the client for a slow operation. That of `with_options` still wins."""


@dataclass(frozen=True)
class RequestOptions:
    """Options of a client."""

    timeout: Optional[float] = 10.0
    own_timeout: Union[float, None, NotGiven] = NOT_GIVEN
    """Set by `with_options`."""
    max_retries: int = 3
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def timeout_of(self, operation: Operation) -> Optional[float]:
        if self.own_timeout is not NOT_GIVEN:
            return self.own_timeout
        return self.timeout if operation.timeout is None else operation.timeout


class Unsuccessful(Exception):
    """A response whose status is not 2xx."""

    def __init__(self, error: PromptledgerError, retry_after: Optional[str]) -> None:
        self.error = error
        self.retry_after = retry_after


class Transport:
    """Sends requests, and retries them where that is safe."""

    def __init__(self, base_url: BaseUrl, key: ApiKey, connections: Connections, options: RequestOptions) -> None:
        self.base_url = base_url
        self.options = options
        self._key = key
        self._connections = connections
        _check_options(options)

    def with_options(self, **changes: Any) -> Transport:
        """A transport with other options and the same connections."""
        return Transport(self.base_url, self._key, self._connections, replace(self.options, **changes))

    def require_key(self) -> None:
        """Raises if the key is missing, as each request would."""
        self._key.require()

    def close(self) -> None:
        self._connections.close()

    def json(self, operation: Operation) -> Any:
        """Returns the parsed body of the response: an object, which is empty without a body."""
        return self._send(operation, _read_json)

    def data(self, operation: Operation) -> Any:
        """Returns the `data` of the response, which is how the API wraps a single resource."""
        return self._send(operation, _read_data)

    def attempt(self, operation: Operation) -> tuple[bytes, Mapping[str, str]]:
        """Sends a request once, for callers that retry on their own. Returns the body and the headers of the response, or raises
        `Unsuccessful` for a status other than 2xx.
        """
        read: Callable[..., tuple[bytes, Mapping[str, str]]] = lambda _, response, __: (response.read(), response.headers)
        return self._attempt(self._request(operation), Deadline(self.options.timeout_of(operation)), read)

    def fingerprint(self, purpose: str) -> str:
        """Tells clients of other services, other keys and with another purpose apart, and reveals nothing about the key."""
        return self._key.fingerprint(f"{self.base_url}\n{purpose}")

    def stream(self, operation: Operation) -> Generator[bytes, None, None]:
        """Yields the response in chunks, as they arrive."""
        connection, response, deadline = self._send(operation, lambda *parts: parts)
        try:
            while True:
                # The timeout limits the wait for each chunk, not the time that the whole response takes.
                deadline.restart()
                with current_cancellation().watching(connection.socket):
                    chunk = response.read1(_chunk_bytes)
                if not chunk:
                    break
                yield chunk
            # http.client reports a response that ends early only if it reads all of it at once.
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (OSError, http.client.HTTPException) as error:
            _raise_failure(error, deadline)
        finally:
            # Stops the download when the caller stops reading.
            response.close()
            connection.close()

    def _send(
        self, operation: Operation, read: Callable[[Connection, http.client.HTTPResponse, Deadline], Result]
    ) -> Result:
        request = self._request(operation)
        timeout = self.options.timeout_of(operation)
        cancellation = current_cancellation()
        retries = 0
        while True:
            cancellation.check()
            retry_after = None
            try:
                return self._attempt(request, Deadline(timeout), read)
            except Unsuccessful as response:
                error, retry_after = response.error, response.retry_after
            except (ConnectionError, TimeoutError) as failure:
                error = failure
            cancellation.check()
            # The attempt whose response was lost may have deleted it, so not found means success on a retry.
            if request.method == "DELETE" and retries > 0 and error.code == "not_found":
                return cast(Result, None)
            delay = retry_delay(retries, retry_after)
            if retries >= self.options.max_retries or not is_transient(error) or delay > _max_retry_delay:
                raise error
            if not request.is_idempotent and not never_connected(error):
                raise error
            cancellation.sleep(delay)
            retries += 1

    def _attempt(
        self,
        request: Request,
        deadline: Deadline,
        read: Callable[[Connection, http.client.HTTPResponse, Deadline], Result],
    ) -> Result:
        # If the service closes an idle connection just now, it cannot be known whether it received the request.
        connection = self._connections.take() if request.is_idempotent else None
        if connection is None:
            try:
                connection = self._connections.open(deadline)
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                _raise_failure(error, deadline, is_connected=False)
        is_kept = False
        try:
            with current_cancellation().watching(connection.socket):
                response = connection.send(request, self._key, deadline)
                if 200 <= response.status < 300:
                    result: Union[Result, Unsuccessful] = read(connection, response, deadline)
                else:
                    result = _read_error(response)
            if not response.isclosed():
                # A response that is read as a stream keeps its connection, one that is too long for an error does not.
                is_kept = not isinstance(result, Unsuccessful)
            elif not response.will_close:
                self._connections.give_back(connection)
                is_kept = True
        except PromptledgerError:
            raise
        except (OSError, http.client.HTTPException) as error:
            _raise_failure(error, deadline)
        finally:
            if not is_kept:
                connection.close()
        if isinstance(result, Unsuccessful):
            raise result
        return result

    def _request(self, operation: Operation) -> Request:
        self._key.require()
        # Servers drop these segments, so the request would go to another path.
        if re.search(r"/\.{0,2}(/|$)", operation.path):
            raise ValueError('Pass the ID of the prompt: "", "." and ".." cannot name one')
        # Arguments that cannot be serialised raise here, before they could pass for a failed connection.
        query = urlencode({name: _text_of(value) for name, value in operation.query.items() if value is not None})
        body = None if operation.body is None else encode_json(operation.body)
        headers: dict[str, str] = {"User-Agent": _user_agent, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        for given in (operation.headers, self.options.headers):
            for name, value in given.items():
                _check_header(name, value)
                # Later headers replace earlier ones, whatever their case.
                headers = {other: text for other, text in headers.items() if other.lower() != name.lower()}
                headers["Authorization" if name.lower() == "authorization" else name] = value
        return Request(
            operation.method,
            f"{self.base_url.path}/api/v1{operation.path}{'?' if query else ''}{query}",
            headers,
            body,
            operation.method != "POST" if operation.is_idempotent is None else operation.is_idempotent,
        )


def _read_error(response: http.client.HTTPResponse) -> Unsuccessful:
    request_id, retry_after = response.getheader("X-Request-Id"), response.getheader("Retry-After")
    body = response.read(_max_error_bytes)
    # Ends the response if that was all of it.
    if len(body) < _max_error_bytes:
        response.read()
    return Unsuccessful(error_from_response(response.status, request_id, body), retry_after)


def _read_json(connection: Connection, response: http.client.HTTPResponse, deadline: Deadline) -> Any:
    text = response.read()
    if response.status == 204:
        return {}
    try:
        body = decode_json(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ConnectionError("The response is not JSON: it was cut off, or base_url points to another server")
    return body


def _read_data(connection: Connection, response: http.client.HTTPResponse, deadline: Deadline) -> Any:
    body = _read_json(connection, response, deadline)
    if "data" not in body:
        raise ConnectionError("The response has no data: base_url points to another server")
    return body["data"]


def _raise_failure(error: Exception, deadline: Deadline, is_connected: bool = True) -> NoReturn:
    """Raises a `PromptledgerError` for a failed attempt, with the cause."""
    # Its frames hold the headers with the API key, which tools that report errors would show.
    error.__traceback__ = None
    error.__context__ = None
    if isinstance(error, socket.timeout) and deadline.seconds is not None:
        raise TimeoutError(deadline.seconds, is_connected=is_connected) from error
    reason = printable(str(error)) or type(error).__name__
    raise ConnectionError(f"Connection failed: {reason}", is_connected=is_connected) from error


def _text_of(value: Any) -> str:
    return str(value) if isinstance(value, (str, int)) else iso_time(value)


def _check_options(options: RequestOptions) -> None:
    for timeout in (options.timeout, options.own_timeout):
        if isinstance(timeout, (int, float)) and not timeout > 0:
            raise ValueError("Invalid timeout: it must be greater than zero, or None for no timeout")
    if options.max_retries < 0:
        raise ValueError("Invalid max_retries: it must be zero or more")
    for name, value in options.headers.items():
        _check_header(name, value)


def _check_header(name: str, value: str) -> None:
    """The messages of http.client contain the value, which may be a secret."""
    if re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) is None:
        raise ValueError(f"Invalid name of a header: {name!r}")
    if not isinstance(value, str) or re.fullmatch(r"[\t\x20-\x7e\x80-\xff]*", value) is None:
        raise ValueError(f"Invalid value of the header {name}: it contains characters that headers cannot have")
