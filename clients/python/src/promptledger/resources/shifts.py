"""When the rates of prompts moved, and why."""

from __future__ import annotations

from typing import Literal, Optional

from ..models import Shift
from ..page import Page, Pages, plain_pages
from ..times import Time
from ..transport import Transport
from .prompts import prompt_path

Cause = Literal["change", "shared", "unexplained"]


class Shifts:
    """Moments at which the rate of a prompt moved more than its votes usually wander."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        cause: Optional[Cause] = None,
        since: Optional[Time] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Shift, Page[Shift]]:
        """Lists when the rates of the organisation's prompts moved, and why, newest first."""
        query = {"cause": cause, "since": since, "page": page, "limit": limit}
        return plain_pages(self._transport, "/shifts", query)

    def list_of_prompt(
        self,
        prompt: str,
        *,
        cause: Optional[Cause] = None,
        since: Optional[Time] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Shift, Page[Shift]]:
        """Lists when the rate of a prompt moved, and why, newest first."""
        query = {"cause": cause, "since": since, "page": page, "limit": limit}
        return plain_pages(self._transport, f"{prompt_path(prompt)}/shifts", query)
