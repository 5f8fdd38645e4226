"""The errors of failed calls, one class for each common cause."""

from __future__ import annotations

import builtins
import json
import re
from datetime import datetime, timezone
from typing import Any, Mapping, Optional

# Control characters and those that change the direction of text, which could forge lines in a log or a terminal.
_hidden = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_max_text_length = 2_000


def printable(text: str) -> str:
    """Sanitises text from the network to one printable line."""
    return _hidden.sub("\ufffd", text[:_max_text_length])


class PromptledgerError(Exception):
    """The error of every failed call."""

    code: str
    """The error code of the API, or that of a failure which the API never saw: `connection_failed`, `timeout`,
    `unexpected_response`, `queue_full` or `queue_closed`.
    """
    status: Optional[int]
    """HTTP status of the response, or None without a response."""
    request_id: Optional[str]
    """Identifies the request in the service's log. None without a response."""
    details: Mapping[str, Any]
    """Further fields of the error body, under the names that the API gives them."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        details: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.details = {} if details is None else details

    def __reduce__(self) -> tuple[Any, ...]:
        # Process pools send errors back to their caller.
        return _restore, (type(self), self.args, self.__dict__)


class UnauthorizedError(PromptledgerError):
    """The API key is missing, malformed, unknown, revoked or expired."""


class ForbiddenError(PromptledgerError):
    """The role of the API key does not allow this operation."""


class NotFoundError(PromptledgerError):
    """The resource does not exist in the organisation."""


class ConflictError(PromptledgerError):
    """The operation conflicts with the current state of the resource."""


class ValidationError(PromptledgerError):
    """The request is invalid. The message says what is wrong, and where."""


class RateLimitedError(PromptledgerError):
    """A limit was hit: the monthly limit of signals, or the test messages that an organisation may send in a minute."""

    @property
    def limit(self) -> int:
        """How many the limit allows."""
        return int(self.details["limit"])

    @property
    def used(self) -> int:
        """How many were used."""
        return int(self.details["used"])

    @property
    def resets_at(self) -> datetime:
        """When the count resets."""
        # Python before 3.11 does not read the Z.
        time = datetime.fromisoformat(str(self.details["resets_at"]).replace("Z", "+00:00"))
        return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


class ConnectionError(PromptledgerError, builtins.ConnectionError):
    """The connection failed before a complete response arrived. The service may still have processed the request.

    Also a `ConnectionError` of Python itself.
    """

    is_connected: bool
    """False if no connection was established, so that the service cannot have received the request."""

    def __init__(self, message: str, *, is_connected: bool = True) -> None:
        super().__init__(message, code="connection_failed")
        self.is_connected = is_connected


class TimeoutError(PromptledgerError, builtins.TimeoutError):
    """No response arrived within the timeout. The service may still have processed the request.

    Also a `TimeoutError` of Python itself.
    """

    is_connected: bool
    """False if no connection was established, so that the service cannot have received the request."""

    def __init__(self, seconds: float, *, is_connected: bool = True) -> None:
        super().__init__(f"No response within {seconds:g} s", code="timeout")
        self.is_connected = is_connected


def _restore(
    error_class: type[PromptledgerError], args: tuple[Any, ...], fields: Mapping[str, Any]
) -> PromptledgerError:
    error = error_class.__new__(error_class, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


_error_classes: Mapping[str, type[PromptledgerError]] = {
    "unauthorized": UnauthorizedError,
    "forbidden": ForbiddenError,
    "not_found": NotFoundError,
    "conflict": ConflictError,
    "validation_error": ValidationError,
    "rate_limited": RateLimitedError,
}


def error_from_response(status: int, request_id: Optional[str], body: bytes) -> PromptledgerError:
    """The error for a response whose status is not 2xx."""
    request_id = None if request_id is None else printable(request_id)
    try:
        error = json.loads(body)["error"]
        if isinstance(error["code"], str):
            return error_from_body(error, status, request_id)
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    # A proxy or another server responded, so the status says nothing about Promptledger.
    return PromptledgerError(
        f"Status {status} without a Promptledger error body: check base_url and any proxy",
        code="unexpected_response",
        status=status,
        request_id=request_id,
    )


def error_from_body(error: Mapping[str, Any], status: int, request_id: Optional[str] = None) -> PromptledgerError:
    """The error in a body of the API."""
    code = printable(str(error["code"]))
    message = printable(str(error.get("message", code)))
    details = {name: value for name, value in error.items() if name not in ("code", "message")}
    error_class = _error_classes.get(code, PromptledgerError)
    if error_class is RateLimitedError and not _has_limit(details):
        error_class = PromptledgerError
    return error_class(message, code=code, status=status, request_id=request_id, details=details)


def _has_limit(details: Mapping[str, Any]) -> bool:
    """Whether the properties of `RateLimitedError` can be read, so that none of them raises in an error handler."""
    try:
        error = RateLimitedError("", code="", details=details)
        return error.limit >= 0 and error.used >= 0 and error.resets_at is not None
    except (KeyError, TypeError, ValueError, OverflowError):
        return False
