"""The URL of the service."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Optional
from urllib.parse import quote, urlsplit


@dataclass(frozen=True)
class BaseUrl:
    """The parts of the URL that requests need."""

    scheme: str
    host: str
    port: int
    path: str
    """Without a slash at its end."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


# Of a client without an API key, which only signs: it never gets as far as a connection.
NO_URL = BaseUrl("https", "no-base-url.invalid", 443, "")


def read_base_url(given: Optional[str]) -> BaseUrl:
    """The given URL, or that of the environment."""
    url = os.environ.get("PROMPTLEDGER_URL", "") if given is None else given
    if not url:
        raise ValueError("No base_url: set PROMPTLEDGER_URL to the URL of your Promptledger, or pass base_url")
    try:
        parts = urlsplit(url.strip())
        scheme, host, port = parts.scheme, parts.hostname, parts.port
        if host is not None:
            host = host.encode("idna").decode("ascii") if not host.isascii() else host
    except (ValueError, UnicodeError):
        scheme, host, port = "", None, None
    # The messages leave out the URL: it may contain a password.
    if scheme not in ("http", "https") or not host or not host.isprintable() or " " in host:
        raise ValueError("Invalid base_url: it must be a URL such as https://ledger.example.com")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError("Invalid base_url: it must have no user name, password, query or fragment")
    path = quote(parts.path, safe="/%").rstrip("/")
    return BaseUrl(scheme, host, port or (443 if scheme == "https" else 80), path)
