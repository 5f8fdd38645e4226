"""Exports: one object per line, or the text of a file."""

from __future__ import annotations

from codecs import getincrementaldecoder
from contextlib import closing
from typing import Any, Generator

from .errors import ConnectionError
from .json_text import decode_json


def parse_lines(chunks: Generator[bytes, None, None]) -> Generator[list[Any], None, None]:
    """The objects of an NDJSON response."""
    rest = b""
    with closing(chunks):
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            yield [_parse_line(line) for line in lines]
    if rest:
        raise ConnectionError("The export was cut off in the middle of a line")


def decode_text(chunks: Generator[bytes, None, None]) -> Generator[list[str], None, None]:
    """The text of a response, in chunks."""
    decoder = getincrementaldecoder("utf-8")("replace")
    with closing(chunks):
        for chunk in chunks:
            yield [decoder.decode(chunk)]


def _parse_line(line: bytes) -> Any:
    try:
        return decode_json(line)
    except ValueError:
        raise ConnectionError("The export is not JSON: base_url points to another server") from None
