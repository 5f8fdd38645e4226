"""Prompts of the organisation."""

from __future__ import annotations

from typing import Optional
from urllib.parse import quote

from ..models import Prompt, PromptSort
from ..page import Page, Pages, plain_pages
from ..transport import Operation, Transport


def prompt_path(prompt: str) -> str:
    """Everything that belongs to a prompt is below this path."""
    return f"/prompts/{quote(prompt, safe='')}"


class Prompts:
    """Prompts of the organisation. Each has an ID (`pmt_…`), which never changes, and a name."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        q: Optional[str] = None,
        sort: Optional[PromptSort] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Prompt, Page[Prompt]]:
        """Lists prompts by name, then by age, unless `sort` is set. `q` is a part of the name or path."""
        return plain_pages(self._transport, "/prompts", {"q": q, "sort": sort, "page": page, "limit": limit})

    def get(self, prompt: str) -> Prompt:
        """Returns a prompt by its ID, name or path."""
        found: Prompt = self._transport.data(Operation("GET", prompt_path(prompt)))
        return found

    def create(self, *, name: str) -> Prompt:
        """Creates a prompt that is in no connected repository. Needs a key with the role `admin`."""
        created: Prompt = self._transport.data(Operation("POST", "/prompts", body={"name": name}))
        return created

    def rename(self, prompt: str, *, name: str) -> Prompt:
        """Renames a prompt and returns it. Needs a key with the role `admin`."""
        renamed: Prompt = self._transport.data(Operation("PATCH", prompt_path(prompt), body={"name": name}))
        return renamed

    def delete(self, prompt: str) -> None:
        """Deletes a prompt. Its signals still count towards the monthly limit. Needs a key with the role `admin`."""
        self._transport.json(Operation("DELETE", prompt_path(prompt)))
