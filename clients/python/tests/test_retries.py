"""When the client sends a request again, and what that changes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

from ledger_service import LedgerService, eventually
from promptledger import ConnectionError, NotFoundError, Promptledger, PromptledgerError
from promptledger.retry import retry_delay

busy: dict[str, Any] = {"do": "respond", "status": 503, "body": "busy"}

failures: dict[str, dict[str, Any]] = {
    "the connection breaks before the request arrives": {"do": "refuse"},
    "the response is lost": {"do": "cut"},
    "the response is cut off": {"do": "truncate", "after": 20},
    "the network duplicates the request": {"do": "duplicate"},
    "a proxy times out": {"do": "respond", "status": 504, "body": "<h1>Gateway Timeout</h1>"},
}


@pytest.mark.parametrize("failure", failures)
def test_a_signal_counts_once_when(service: LedgerService, failure: str) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    service.first(failures[failure], failures[failure])
    signal = ledger.signals.create(tenant.prompt, value="positive")
    assert service.used(tenant) == 1
    assert [listed["id"] for listed in ledger.signals.list(tenant.prompt)] == [signal["id"]]


def test_deleting_a_signal_succeeds_on_a_retry_when_the_first_response_was_lost(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    signal = ledger.signals.create(tenant.prompt, value="positive")
    service.first({"do": "cut"})
    ledger.signals.delete(tenant.prompt, signal["id"])
    assert len(service.requests) == 2
    with pytest.raises(NotFoundError):
        ledger.signals.delete(tenant.prompt, signal["id"])


def test_a_key_is_never_created_twice(service: LedgerService) -> None:
    ledger = service.ledger(service.tenant(role="admin"))
    for fate in ("cut", "refuse"):
        service.first({"do": fate})
        with pytest.raises(ConnectionError):
            ledger.keys.create(name=fate)
        assert len(service.requests) == 1
    service.first({"do": "respond", "status": 503})
    with pytest.raises(PromptledgerError):
        ledger.keys.create()
    assert len(service.requests) == 1
    assert [key["name"] for key in ledger.keys.list()] == ["test", "cut"]


def test_a_failed_call_is_retried_three_times_with_exponential_backoff_and_jitter(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    sqlite_service.fates(busy)

    def fail(run: int) -> None:
        with pytest.raises(PromptledgerError) as failure:
            ledger.with_options(headers={"Run": str(run)}).usage.get()
        assert failure.value.status == 503

    with ThreadPoolExecutor(10) as threads:
        list(threads.map(fail, range(10)))
    first_gaps = []
    requests = sqlite_service.requests
    for run in range(10):
        times = [each["at"] for each in requests if each["headers"]["run"] == str(run)]
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        assert len(gaps) == 3
        first_gaps.append(gaps[0])
        for retries, (gap, max_delay) in enumerate(zip(gaps, (500, 1_000, 2_000))):
            # A slow machine adds to the delay, but never shortens it.
            assert max_delay / 2 - 5 <= gap
            assert max_delay / 2 <= retry_delay(retries, None) * 1_000 <= max_delay
    # Jitter spreads them over 250 ms.
    assert max(first_gaps) - min(first_gaps) > 50


def test_max_retries_can_be_set_for_a_client_and_for_a_call(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), max_retries=1)
    for client, attempts in ((ledger, 2), (ledger.with_options(max_retries=0), 1)):
        sqlite_service.fates(busy)
        with pytest.raises(PromptledgerError):
            client.usage.get()
        assert len(sqlite_service.requests) == attempts


def test_a_retry_waits_for_retry_after_in_seconds_or_as_a_date(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    sqlite_service.first({**busy, "headers": {"Retry-After": "1"}})
    ledger.usage.get()
    first, second = (request["at"] for request in sqlite_service.requests if "usage" in request["url"])
    assert second - first >= 990
    # HTTP dates have a resolution of one second.
    date = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(seconds=3)
    sqlite_service.first({**busy, "headers": {"Retry-After": format_datetime(date, usegmt=True)}})
    ledger.usage.get()
    assert datetime.now(timezone.utc) >= date
    assert len(sqlite_service.requests) == 2
    # Shorter than any backoff.
    assert retry_delay(0, "0") == 0


@pytest.mark.parametrize("retry_after", ["soon", "", "9" * 6_000, "-1", "Wed, 99 Foo 2026 99:99:99 GMT"])
def test_a_retry_after_that_means_nothing_does_not_break_the_retry(
    sqlite_service: LedgerService, retry_after: str
) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    sqlite_service.first({**busy, "headers": {"Retry-After": retry_after}})
    assert ledger.usage.get()["used"] == 0


def test_a_call_fails_at_once_when_retry_after_is_more_than_a_minute(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    sqlite_service.first({**busy, "headers": {"Retry-After": "3600"}})
    with pytest.raises(PromptledgerError) as failure:
        ledger.usage.get()
    assert failure.value.status == 503
    assert len(sqlite_service.requests) == 1


def test_a_4xx_response_is_never_retried(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    for status in (400, 401, 403, 404, 408, 409, 413, 422, 429):
        sqlite_service.first({"do": "respond", "status": status, "headers": {"Retry-After": "0"}})
        with pytest.raises(PromptledgerError) as failure:
            ledger.usage.get()
        assert (failure.value.status, len(sqlite_service.requests)) == (status, 1)


def test_retries_send_the_same_body_under_the_same_idempotency_key_and_each_call_has_its_own(
    service: LedgerService,
) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    service.first({"do": "cut"}, {"do": "cut"})
    for _ in range(2):
        ledger.signals.create(tenant.prompt, value="positive", metadata={"text": "ü"})
    requests = service.requests
    keys = [request["headers"]["idempotency-key"] for request in requests]
    assert len(keys) == 4 and len(keys[0]) == 32
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert len({request["body"] for request in requests}) == 1
    assert service.used(tenant) == 2


def test_two_calls_with_the_same_idempotency_key_count_once(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    first, second = (
        ledger.signals.create(tenant.prompt, value="positive", idempotency_key="vote-1") for _ in range(2)
    )
    assert first == second
    assert service.used(tenant) == 1


def test_every_call_is_retried_when_no_connection_was_established(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant(role="admin")
    ledger = sqlite_service.ledger(tenant, max_retries=100)
    opened = count_connections(ledger)
    sqlite_service.close_proxy()
    names: list[str] = []
    thread = threading.Thread(target=lambda: names.append(ledger.keys.create(name="retried")["name"]))
    thread.start()
    try:
        with pytest.raises(ConnectionError):
            ledger.with_options(max_retries=0).keys.create(name="not retried")
        assert eventually(lambda: len(opened) >= 2)
    finally:
        sqlite_service.open_proxy()
    thread.join()
    assert names == ["retried"]
    assert [request["method"] for request in sqlite_service.requests] == ["POST"]


def count_connections(ledger: Promptledger) -> list[object]:
    """A list that grows with each attempt to open a connection."""
    connections = ledger._transport._connections
    opened: list[object] = []
    open_connection = connections.open

    def counting(deadline: Any) -> Any:
        opened.append(deadline)
        return open_connection(deadline)

    setattr(connections, "open", counting)
    return opened


def test_requests_share_a_connection_and_one_that_the_service_closed_costs_no_retry(
    sqlite_service: LedgerService,
) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant, max_retries=0)
    connections = ledger._transport._connections
    opened = count_connections(ledger)
    for _ in range(5):
        ledger.usage.get()
    with pytest.raises(NotFoundError):
        ledger.prompts.get("pmt_none")
    assert len(opened) == 1
    # A call that must not run twice never uses a connection that could be closed just now.
    count = len(opened)
    with pytest.raises(PromptledgerError):
        ledger.keys.create()
    assert len(opened) == count + 1
    ledger.usage.get()
    assert len(connections._idle) > 0
    # Closes its connections.
    sqlite_service.close_proxy()
    sqlite_service.open_proxy()
    assert ledger.usage.get()["used"] == 0


def test_a_history_entry_is_recorded_once_when_the_first_response_was_lost(service: LedgerService) -> None:
    tenant = service.tenant(role="admin")
    ledger: Promptledger = service.ledger(tenant)
    service.first({"do": "cut"})
    ledger.history.record(
        tenant.prompt,
        action="deployed",
        user={"name": "Ada Lovelace", "email": "ada@example.com"},
        commit_sha="a1" * 20,
        branch_name="main",
        created_at="2026-11-15T12:00:00.000Z",
    )
    assert ledger.history.list(tenant.prompt).page().pagination["total_count"] == 1
    assert eventually(lambda: service.in_flight == 0)
