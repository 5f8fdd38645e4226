"""Times in requests."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Union

Time = Union[str, datetime]
"""ISO 8601 with a time zone, or a datetime with one."""


def iso_time(time: Time) -> str:
    """The time as the API reads it."""
    if isinstance(time, str):
        return time
    if time.tzinfo is None:
        raise ValueError("The time has no time zone: use datetime.now(timezone.utc), or pass text in ISO 8601")
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
