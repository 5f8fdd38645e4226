"""How a client gets its settings."""

from __future__ import annotations

import pytest

from ledger_service import LedgerService
from promptledger import Promptledger


def test_without_options_the_key_and_the_url_come_from_the_environment(
    sqlite_service: LedgerService, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = sqlite_service.tenant()
    # As read from a file.
    monkeypatch.setenv("PROMPTLEDGER_KEY", f"{tenant.key}\n")
    monkeypatch.setenv("PROMPTLEDGER_URL", f"{sqlite_service.proxy}/")
    Promptledger().usage.get()
    assert sqlite_service.requests[0]["headers"]["authorization"] == f"Bearer {tenant.key}"
    assert sqlite_service.requests[0]["headers"]["user-agent"].startswith("promptledger-python/")


def test_options_win_over_the_environment(sqlite_service: LedgerService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPTLEDGER_KEY", "plk_none")
    monkeypatch.setenv("PROMPTLEDGER_URL", "https://elsewhere.example")
    sqlite_service.ledger(sqlite_service.tenant()).usage.get()
    assert len(sqlite_service.requests) == 1


def test_without_a_key_or_a_url_creating_a_client_fails_and_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="No API key: set PROMPTLEDGER_KEY to one, or pass api_key"):
        Promptledger(base_url="https://ledger.example.com")
    with pytest.raises(ValueError, match="No base_url: set PROMPTLEDGER_URL to the URL of your Promptledger"):
        Promptledger(api_key="plk_x")
    # A key that the caller meant to pass is never replaced by another one.
    monkeypatch.setenv("PROMPTLEDGER_KEY", "plk_x")
    with pytest.raises(ValueError, match="No API key"):
        Promptledger(api_key="", base_url="https://ledger.example.com")


@pytest.mark.parametrize(
    "url",
    ["ledger.example.com", "ftp://a", "https://", "https://a b", "https://a:x", "https://[::1"]
    + ["https://u:secret@a", "https://secret@a"]
    + ["https://a?b", "https://a#b", "https://" + "ä" * 200],
)
def test_an_invalid_url_is_rejected_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match="Invalid base_url") as failure:
        Promptledger(api_key="plk_x", base_url=url)
    assert "secret" not in str(failure.value)


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"max_retries": -1}]
)
def test_an_invalid_option_is_rejected(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="Invalid"):
        Promptledger(api_key="plk_x", base_url="https://a", **options)  # type: ignore[arg-type]


def test_the_base_url_may_have_a_path_and_a_trailing_slash(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()
    for path in ("", "/", "/ledger/", "/größe"):
        ledger = Promptledger(api_key=tenant.key, base_url=sqlite_service.proxy + path, max_retries=0)
        sqlite_service.fates({"do": "respond", "status": 200, "body": '{"data":{}}'})
        ledger.usage.get()
        prefix = {"/ledger/": "/ledger", "/größe": "/gr%C3%B6%C3%9Fe"}.get(path, "")
        assert [request["url"] for request in sqlite_service.requests] == [f"{prefix}/api/v1/usage"]


def test_the_headers_of_a_call_replace_those_of_the_client_whatever_their_case(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant, headers={"X-One": "client", "X-Two": "client"}, api_key="plk_none")
    ledger.with_options(headers={"x-two": "call", "AUTHORIZATION": f"Bearer {tenant.key}"}).usage.get()
    headers = sqlite_service.requests[0]["headers"]
    assert (headers["x-one"], headers["x-two"]) == ("client", "call")


def test_a_client_closes_its_connections_at_the_end_of_a_with_block(sqlite_service: LedgerService) -> None:
    with sqlite_service.ledger(sqlite_service.tenant()) as ledger:
        ledger.usage.get()
        idle = list(ledger._transport._connections._idle)
    assert [connection.socket.fileno() for connection in idle] == [-1]
