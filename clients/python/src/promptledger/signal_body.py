"""A signal as the API expects it."""

from __future__ import annotations

import secrets
from typing import Any, Mapping, Optional, Union

from .models import SignalValue
from .not_given import not_none
from .times import Time, iso_time


def create_idempotency_key() -> str:
    return secrets.token_hex(16)


def signal_body(
    value: Optional[SignalValue],
    metadata: Optional[Mapping[str, Any]],
    version: Union[str, int, None],
    subject: Optional[str],
    voter: Optional[str],
    comment: Optional[str],
    occurred_at: Optional[Time],
) -> dict[str, Any]:
    """The fields of a new signal, without those that the caller left out."""
    fields = {
        "metadata": metadata,
        "version": version,
        "subject": subject,
        "voter": voter,
        "comment": comment,
        "occurred_at": None if occurred_at is None else iso_time(occurred_at),
    }
    return {"value": value, **not_none(fields)}
