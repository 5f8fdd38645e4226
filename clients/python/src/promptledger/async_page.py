"""Lists of the API, for asyncio."""

from __future__ import annotations

from typing import Any, AsyncIterator, Callable, Coroutine, Generator, Generic, TypeVar

Item = TypeVar("Item")
OnePage = TypeVar("OnePage")


class AsyncPages(Generic[Item, OnePage]):
    """The result of a list call. Iterate over it with `async for` for every item, or await it for one page.

    No request is sent before you do either. Iterating without a `page` fetches pages of 100, unless `limit` is set.
    """

    def __init__(
        self,
        fetch_page: Callable[[], Coroutine[Any, Any, OnePage]],
        iterate: Callable[[], AsyncIterator[Item]],
    ) -> None:
        self._fetch_page = fetch_page
        self._iterate = iterate

    async def page(self) -> OnePage:
        """Fetches one page, with its position in the list."""
        return await self._fetch_page()

    def __await__(self) -> Generator[Any, None, OnePage]:
        return self._fetch_page().__await__()

    def __aiter__(self) -> AsyncIterator[Item]:
        return self._iterate()
