"""Changes of a prompt that went live, and what each brought."""

from __future__ import annotations

from typing import Optional

from ..models import Blame, PromptVersion, TextMatch
from ..page import Pages, TextPage, VersionPage
from ..transport import Operation, Transport
from .prompts import prompt_path


class Versions:
    """Changes of a prompt that went live, and what each brought."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, prompt: str, *, q: Optional[str] = None, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[PromptVersion, VersionPage]:
        """Lists the changes of a prompt that went live, newest first, with when they were live.

        Every word of `q` has to match: part of the message or the author, the start of the commit hash, or a pull
        request such as `#42`.
        """
        return Pages(
            self._transport,
            f"{prompt_path(prompt)}/versions",
            {"q": q, "page": page, "limit": limit},
            lambda body: VersionPage(body["data"], body["pagination"], body["complete"]),
        )

    def search(
        self, *, q: str, cursor: Optional[str] = None, limit: Optional[int] = None
    ) -> Pages[TextMatch, TextPage]:
        """Finds the versions of all prompts that contain the phrase `q`, live or past.

        Ignores case, and a space matches any white space. Iterating continues the search to its end.
        """
        return Pages(
            self._transport,
            "/texts",
            {"q": q, "cursor": cursor, "limit": limit},
            lambda body: TextPage(body["data"], body["pagination"], body["search"]),
        )

    def blame(self, prompt: str, *, entry: Optional[int] = None) -> Blame:
        """Returns the text of a version, by default the live one, and the change that brought each line."""
        operation = Operation("GET", f"{prompt_path(prompt)}/blame", query={"entry": entry})
        blame: Blame = self._transport.data(operation)
        return blame
