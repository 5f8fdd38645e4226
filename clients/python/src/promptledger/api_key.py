"""The API key, in an object that never shows it."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Optional


class ApiKey:
    """Holds the key, so that no representation, log line or traceback with local variables contains it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    @property
    def is_missing(self) -> bool:
        return not self._secret

    def require(self) -> None:
        """Raises if the key is missing."""
        if self.is_missing:
            raise _missing()

    def authorization(self) -> str:
        """The value of the header."""
        return f"Bearer {self._secret}"

    def fingerprint(self, purpose: str) -> str:
        """Differs for each key and purpose, and reveals nothing about the key."""
        return hashlib.sha256(f"{self._secret}\n{purpose}".encode("utf-8", "replace")).hexdigest()

    def __repr__(self) -> str:
        return "ApiKey(…)"

    def __reduce__(self) -> str:
        raise TypeError("An API key cannot be pickled: create the client in each process")


def _missing() -> ValueError:
    return ValueError("No API key: set PROMPTLEDGER_KEY to one, or pass api_key")


def read_api_key(given: Optional[str], may_be_missing: bool = False) -> ApiKey:
    """The given key, or that of the environment. Where it may be missing, the first request fails instead."""
    # A key that the caller meant to pass is never replaced by another one.
    key = os.environ.get("PROMPTLEDGER_KEY", "") if given is None else given
    # Files with secrets often end with a line break.
    key = key.strip()
    if not key and may_be_missing and given is None:
        return ApiKey("")
    if not key:
        raise _missing()
    if re.fullmatch(r"[\x21-\x7e]+", key) is None:
        raise ValueError("Invalid API key: it contains spaces, line breaks or characters that are not ASCII")
    return ApiKey(key)
