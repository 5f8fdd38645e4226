"""The proxy between client and service."""

from __future__ import annotations

import os
from base64 import b64encode
from dataclasses import dataclass, field
from typing import Optional
from urllib.parse import unquote, urlsplit

from .base_url import BaseUrl


@dataclass(frozen=True)
class Proxy:
    """An HTTP proxy: it forwards requests to http URLs, and tunnels the connections of https URLs."""

    host: str
    port: int
    authorization: Optional[str] = field(repr=False)


def find_proxy(base_url: BaseUrl, given: Optional[str]) -> Optional[Proxy]:
    """The given proxy, or that of the environment. None with an empty text, and for hosts in `NO_PROXY`."""
    url = _from_environment(base_url) if given is None else given
    if not url:
        return None
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    # The messages leave out the URL: it may contain a password.
    if not host:
        raise ValueError("Invalid proxy: it must be a URL such as http://proxy.example.com:3128")
    if parts.scheme != "http":
        raise ValueError("Unsupported proxy: only proxies with an http:// URL are supported, also for https requests")
    authorization = None
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(credentials.encode()).decode()}"
    return Proxy(host, port or 80, authorization)


def _from_environment(base_url: BaseUrl) -> Optional[str]:
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    # Imported only where it is needed, because it takes longer than the rest of this package together.
    from urllib.request import getproxies, proxy_bypass

    # The standard library knows the rules: lower case wins, and a CGI script ignores HTTP_PROXY, which a request can
    # set there.
    if proxy_bypass(f"{base_url.host}:{base_url.port}"):
        return None
    proxies = getproxies()
    return proxies.get(base_url.scheme) or proxies.get("all")
