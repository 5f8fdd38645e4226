"""Lists of the API, in pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterator, Mapping, Optional, TypeVar

from .errors import ConnectionError
from .models import (
    ModelChange,
    Pagination,
    PromptVersion,
    Signal,
    SearchPagination,
    SignalSearch,
    SignalsOfChange,
    TextMatch,
    TextSearch,
    UnknownVersions,
)
from .transport import Operation, Transport

Item = TypeVar("Item")
OnePage = TypeVar("OnePage")

_max_page_size = 100


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a list."""

    data: list[Item]
    pagination: Pagination


@dataclass(frozen=True)
class AttributedPage(Page[Item]):
    """One page of changes."""

    unknown_versions: UnknownVersions
    """The signals that count for none of the changes, because they name an unknown version."""

    model_changes: Optional[list[ModelChange]] = None
    """When the model changed. Only of a timeline, and only with `model_changes`."""


@dataclass(frozen=True)
class VersionPage(Page[PromptVersion]):
    """One page of versions."""

    complete: bool
    """Whether all of them were searched."""


@dataclass(frozen=True)
class SignalPage:
    """One page of signals."""

    data: list[Signal]
    pagination: SearchPagination
    search: Optional[SignalSearch]
    """With a filter on comments or metadata: how far the service has searched."""
    change: Optional[SignalsOfChange]
    """With `change`: how many signals its impact counts."""


@dataclass(frozen=True)
class TextPage:
    """One page of a search in texts."""

    data: list[TextMatch]
    pagination: SearchPagination
    search: TextSearch
    """How far the service has searched."""


class Pages(Generic[Item, OnePage]):
    """The result of a list call. Iterate over it for every item, or call `page()` for one page.

    No request is sent before you do either. Iterating without a `page` fetches pages of 100, unless `limit` is set.
    """

    def __init__(
        self,
        transport: Transport,
        path: str,
        query: Mapping[str, Any],
        to_page: Callable[[Mapping[str, Any]], OnePage],
    ) -> None:
        self._transport = transport
        self._path = path
        self._query = query
        self._to_page = to_page

    def page(self) -> OnePage:
        """Fetches one page, with its position in the list."""
        return self._to_page(self._fetch(self._query))

    def __iter__(self) -> Iterator[Item]:
        for items in self.batches():
            yield from items

    def batches(self) -> Iterator[list[Item]]:
        """The items of one request after the other."""
        # Items added meanwhile push others onto the next page, where they would be returned a second time.
        seen: set[Any] = set()
        query = {**self._query}
        if query.get("page") is None:
            # Large pages need the fewest requests, but a page number only makes sense with the caller's page size.
            query["page"] = 1
            query["limit"] = _max_page_size if query.get("limit") is None else query["limit"]
        while True:
            body = self._fetch(query)
            items = {_id_of(item): item for item in body["data"]}
            yield [item for id, item in items.items() if id not in seen]
            seen.update(items)
            if "search" in body:
                query["cursor"] = body["search"]["cursor"]
                query["page"] = None
                if query["cursor"] is None:
                    return
                continue
            pagination = body["pagination"]
            if pagination["current_page"] >= (pagination["total_pages"] or 0):
                return
            query["page"] = pagination["current_page"] + 1

    def _fetch(self, query: Mapping[str, Any]) -> Mapping[str, Any]:
        body: Mapping[str, Any] = self._transport.json(Operation("GET", self._path, query=query))
        if not isinstance(body.get("data"), list) or not isinstance(body.get("pagination"), dict):
            raise ConnectionError("The response is no page of a list: base_url points to another server")
        return body


def plain_pages(transport: Transport, path: str, query: Mapping[str, Any]) -> Pages[Any, Any]:
    """A list without further fields."""
    return Pages(transport, path, query, lambda body: Page(body["data"], body["pagination"]))


def _id_of(item: Mapping[str, Any]) -> Any:
    if "id" in item:
        return item["id"]
    return item["entry"]["id"] if "entry" in item else (item["prompt"]["id"], item["at"])
