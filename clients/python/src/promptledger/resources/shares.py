"""Links that show one prompt to people without a key."""

from __future__ import annotations

from typing import Optional

from ..models import CreatedShare, Share
from ..not_given import not_none
from ..page import Page, Pages, plain_pages
from ..times import Time, iso_time
from ..transport import Operation, Transport
from .prompts import prompt_path


class Shares:
    """Links that show one prompt to people without a key. They need a key with the role `standard` or `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page: Optional[int] = None, limit: Optional[int] = None) -> Pages[Share, Page[Share]]:
        """Lists the share links of all prompts, newest first."""
        return plain_pages(self._transport, "/shares", {"page": page, "limit": limit})

    def list_of_prompt(
        self, prompt: str, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[Share, Page[Share]]:
        """Lists the share links of a prompt, newest first."""
        return plain_pages(self._transport, f"{prompt_path(prompt)}/shares", {"page": page, "limit": limit})

    def create(
        self,
        prompt: str,
        *,
        regression_id: Optional[int] = None,
        includes_signals: Optional[bool] = None,
        expires_at: Optional[Time] = None,
    ) -> CreatedShare:
        """Creates a link that shows the prompt to people without a key. Its `url` is shown only once."""
        expiry = None if expires_at is None else iso_time(expires_at)
        body = not_none({"regression_id": regression_id, "includes_signals": includes_signals, "expires_at": expiry})
        share: CreatedShare = self._transport.data(Operation("POST", f"{prompt_path(prompt)}/shares", body=body))
        return share

    def revoke(self, prompt: str, share_id: int) -> None:
        """Revokes a link."""
        self._transport.json(Operation("DELETE", f"{prompt_path(prompt)}/shares/{int(share_id)}"))
