"""API keys of the organisation."""

from __future__ import annotations

from typing import Optional

from ..models import IssuedKey, Key, Role
from ..not_given import not_none
from ..page import Page, Pages, plain_pages
from ..times import Time, iso_time
from ..transport import Operation, Transport


class Keys:
    """API keys of the organisation. Needs a key with the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page: Optional[int] = None, limit: Optional[int] = None) -> Pages[Key, Page[Key]]:
        """Lists all keys, oldest first, including revoked ones."""
        return plain_pages(self._transport, "/keys", {"page": page, "limit": limit})

    def create(
        self,
        *,
        name: Optional[str] = None,
        role: Optional[Role] = None,
        prompts: Optional[str] = None,
        expires_at: Optional[Time] = None,
    ) -> IssuedKey:
        """Creates a key. Only this response contains the key itself.

        `prompts` is a glob of the prompts that the key is limited to.
        """
        expiry = None if expires_at is None else iso_time(expires_at)
        body = not_none({"name": name, "role": role, "prompts": prompts, "expires_at": expiry})
        issued: IssuedKey = self._transport.data(Operation("POST", "/keys", body=body))
        return issued

    def rotate(self, key_id: int, *, overlap_hours: Optional[float] = None) -> IssuedKey:
        """Creates a key with the same name, role, prompts and lifetime.

        The old one stays valid for `overlap_hours`.
        """
        body = not_none({"overlap_hours": overlap_hours})
        issued: IssuedKey = self._transport.data(Operation("POST", f"/keys/{int(key_id)}/rotate", body=body))
        return issued

    def revoke(self, key_id: int) -> None:
        """Revokes a key at once, even the one that this client uses."""
        self._transport.json(Operation("DELETE", f"/keys/{int(key_id)}"))
