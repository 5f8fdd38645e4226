"""A response that is read as it arrives."""

from __future__ import annotations

from typing import Generator, Generic, Iterator, List, TypeVar

Item = TypeVar("Item")


class Stream(Generic[Item]):
    """Iterate over it for every item. The request is sent with the first one.

    `close()` ends the download early, as leaving the last reference to it does.
    """

    def __init__(self, batches: Generator[List[Item], None, None]) -> None:
        self.batches = batches
        self._items = (item for batch in batches for item in batch)

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        return next(self._items)

    def close(self) -> None:
        self._items.close()
        self.batches.close()
