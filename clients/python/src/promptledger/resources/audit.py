"""Who did what."""

from __future__ import annotations

from typing import Optional, Union

from ..models import AuditAction, AuditEntry
from ..page import Page, Pages, plain_pages
from ..times import Time
from ..transport import Transport


class Audit:
    """The audit log. Needs a key with the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        action: Optional[AuditAction] = None,
        actor: Union[int, str, None] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[AuditEntry, Page[AuditEntry]]:
        """Lists who did what, newest first. `actor` is the ID of a key, or `operator` for the CLI."""
        query = {"action": action, "actor": actor, "since": since, "until": until, "page": page, "limit": limit}
        return plain_pages(self._transport, "/audit", query)
