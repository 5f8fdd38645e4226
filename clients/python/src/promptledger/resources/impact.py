"""The effect of each change."""

from __future__ import annotations

from typing import Optional

from ..models import ChangeImpact
from ..page import AttributedPage, Pages
from ..times import Time
from ..transport import Transport
from .prompts import prompt_path


class Impact:
    """The effect of each change on user feedback."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        prompt: str,
        *,
        as_of: Optional[Time] = None,
        by: Optional[str] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[ChangeImpact, AttributedPage[ChangeImpact]]:
        """Lists the changes that went live, newest first, each with the user feedback before and after it.

        `by` adds each segment of a declared key, such as `metadata.model`. `as_of` answers as if nothing had come after
        that time.
        """
        query = {"as_of": as_of, "by": by, "page": page, "limit": limit}
        return Pages(
            self._transport,
            f"{prompt_path(prompt)}/impact",
            query,
            lambda body: AttributedPage(body["data"], body["pagination"], body["unknown_versions"]),
        )
