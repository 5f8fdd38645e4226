"""Which arm of a trial a unit has."""

from __future__ import annotations

import hashlib


def position_of(trial: str, unit: str) -> float:
    """Where a unit lies between 0 and 1: the first 53 bits of SHA-256 of `trial:unit`, all that a float holds exactly.

    Every client and the service compute the same number, so a unit gets the same arm everywhere.
    """
    digest = hashlib.sha256(_utf8(f"{trial}:{unit}")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # As in other languages, half of a surrogate pair becomes the replacement character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
