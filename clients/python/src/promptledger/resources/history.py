"""Recorded changes of a prompt."""

from __future__ import annotations

from typing import Optional

from ..models import Action, FoundEntry, HistoryEntry, HistoryEntryDetails, Live, NewHistoryEntryUser
from ..page import Page, Pages, plain_pages
from ..times import Time, iso_time
from ..transport import Operation, Transport
from .prompts import prompt_path


class History:
    """Recorded changes of a prompt: who changed it, when, and how the change was deployed."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, prompt: str, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[HistoryEntry, Page[HistoryEntry]]:
        """Lists the changes of a prompt, newest first."""
        return plain_pages(self._transport, f"{prompt_path(prompt)}/history", {"page": page, "limit": limit})

    def get(self, prompt: str, entry_id: int) -> HistoryEntryDetails:
        """Returns one change, with the text of the prompt before and after it."""
        path = f"{prompt_path(prompt)}/history/{int(entry_id)}"
        entry: HistoryEntryDetails = self._transport.data(Operation("GET", path))
        return entry

    def find(self, entry_id: int) -> FoundEntry:
        """Finds a change by its ID alone, with the prompt that it belongs to."""
        found: FoundEntry = self._transport.data(Operation("GET", f"/history/{int(entry_id)}"))
        return found

    def record(
        self,
        prompt: str,
        *,
        action: Action,
        user: NewHistoryEntryUser,
        commit_sha: str,
        branch_name: str,
        created_at: Time,
        pr_number: Optional[int] = None,
        pr_url: Optional[str] = None,
    ) -> HistoryEntry:
        """Records a change from another system. Recording the same change again returns the existing entry.

        Needs a key with the role `recorder` or `admin`.
        """
        body = {
            "action": action,
            "user": user,
            "commit_sha": commit_sha,
            "pr_number": pr_number,
            "pr_url": pr_url,
            "branch_name": branch_name,
            "created_at": iso_time(created_at),
        }
        operation = Operation("POST", f"{prompt_path(prompt)}/history", body=body, is_idempotent=True)
        entry: HistoryEntry = self._transport.data(operation)
        return entry

    def live(self, prompt: str, *, at: Optional[Time] = None) -> Live:
        """Returns the change that was live at a time, with the text of the prompt, and what ran in each environment.

        Not found before the first change.
        """
        live: Live = self._transport.data(Operation("GET", f"{prompt_path(prompt)}/live", query={"at": at}))
        return live
