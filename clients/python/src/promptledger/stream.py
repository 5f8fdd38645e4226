"""A response that is read as it arrives."""

from __future__ import annotations

from codecs import getincrementaldecoder
from contextlib import closing
from typing import Any, Generator, Generic, Iterator, List, Mapping, TypeVar

from .errors import ConnectionError
from .json_text import decode_json
from .transport import Operation, Transport

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


def stream_items(transport: Transport, path: str, query: Mapping[str, Any]) -> Stream[Any]:
    """An export as objects, one per line of the response."""
    return Stream(_parse_lines(transport.stream(Operation("GET", path, query={**query, "format": "ndjson"}))))


def stream_csv(transport: Transport, path: str, query: Mapping[str, Any]) -> Stream[str]:
    """An export as the text of a CSV file, in chunks."""
    return Stream(_decode_text(transport.stream(Operation("GET", path, query={**query, "format": "csv"}))))


def _parse_lines(chunks: Generator[bytes, None, None]) -> Generator[list[Any], None, None]:
    rest = b""
    with closing(chunks):
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            yield [_parse_line(line) for line in lines]
    if rest:
        raise ConnectionError("The export was cut off in the middle of a line")


def _decode_text(chunks: Generator[bytes, None, None]) -> Generator[list[str], None, None]:
    decoder = getincrementaldecoder("utf-8")("replace")
    with closing(chunks):
        for chunk in chunks:
            yield [decoder.decode(chunk)]


def _parse_line(line: bytes) -> Any:
    try:
        return decode_json(line)
    except ValueError:
        raise ConnectionError("The export is not JSON: base_url points to another server") from None
