"""When to send a request again."""

from __future__ import annotations

import random
import re
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Optional

from .errors import ConnectionError, PromptledgerError, TimeoutError


def is_transient(error: Optional[BaseException]) -> bool:
    """Whether the same request may succeed a moment later."""
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    return isinstance(error, PromptledgerError) and (error.status or 0) >= 500


def never_connected(error: BaseException) -> bool:
    """Whether no connection was established, so that the service cannot have received the request."""
    return isinstance(error, (ConnectionError, TimeoutError)) and not error.is_connected


def retry_delay(retries: int, retry_after: Optional[str]) -> float:
    """Seconds to wait: what `Retry-After` asks for, or else exponential backoff with jitter, so that clients which
    failed together do not retry together.
    """
    requested = seconds_of(retry_after)
    if requested is not None:
        return max(0.0, requested)
    return min(8.0, 0.5 * 2.0**retries) * (0.5 + random.random() / 2)


def seconds_of(retry_after: Optional[str]) -> Optional[float]:
    """What the header `Retry-After` asks for. None if it asks for nothing."""
    if retry_after is None:
        return None
    retry_after = retry_after.strip()
    if re.fullmatch(r"[0-9]{1,9}", retry_after):
        return float(retry_after)
    try:
        time = parsedate_to_datetime(retry_after)
    except (TypeError, ValueError, IndexError):
        return None
    # HTTP dates are in UTC; Python leaves out the zone of "-0000".
    time = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return (time - datetime.now(timezone.utc)).total_seconds()
