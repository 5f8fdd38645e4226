"""The queue that sends signals in the background."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any, Iterator, Optional

import pytest

from ledger_service import LedgerService, Tenant, eventually, patience
from promptledger import (
    ConnectionError,
    NotFoundError,
    PromptledgerError,
    QueuedSignal,
    RateLimitedError,
    SignalQueue,
    TimeoutError,
    ValidationError,
)

batch_path = "/api/v1/signals"


class Errors:
    """An error handler, and the calls it received."""

    def __init__(self) -> None:
        self.calls: list[tuple[Exception, Optional[QueuedSignal]]] = []

    def __call__(self, error: Exception, dropped: Optional[QueuedSignal]) -> None:
        self.calls.append((error, dropped))

    def numbers(self) -> list[tuple[type, Any]]:
        return [(type(error), dropped and dropped.signal["metadata"]["number"]) for error, dropped in self.calls]


@pytest.fixture
def queues() -> Iterator[list[SignalQueue]]:
    queues: list[SignalQueue] = []
    yield queues
    for queue in queues:
        queue.close(timeout=0)


class Voting:
    """A queue of a tenant that closes with the test."""

    def __init__(self, service: LedgerService, queues: list[SignalQueue], plan: str = "free", **options: Any) -> None:
        self.tenant: Tenant = service.tenant(plan)
        self.errors = Errors()
        ledger = service.ledger(self.tenant)
        settings: dict[str, Any] = {"on_error": self.errors, **options}
        self.queue = ledger.signals.queue(**settings)
        queues.append(self.queue)

    def add(self, number: int, **fields: Any) -> bool:
        fields = {"value": "positive", "metadata": {"number": number}, **fields}
        return self.queue.add(fields.pop("prompt", self.tenant.prompt), **fields)


def test_adding_a_signal_returns_at_once_and_the_queue_sends_it_in_the_background(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues)
    service.fates({"do": "hold"})
    assert all(voting.add(number) for number in range(50))
    # None has got a response yet.
    assert voting.queue.size == 50
    service.fates({"do": "pass"})
    assert voting.queue.flush()
    assert voting.queue.size == 0
    assert service.recorded_numbers(voting.tenant) == list(range(50))
    assert voting.errors.calls == []


def test_signals_that_wait_share_requests_of_up_to_500(service: LedgerService, queues: list[SignalQueue]) -> None:
    voting = Voting(service, queues, plan="team", concurrency=1)
    service.first({"do": "hold"})
    for number in range(1_234):
        voting.add(number)
    assert eventually(lambda: len(service.requests) == 1)
    service.release()
    voting.queue.close()
    sizes = [len(json.loads(request["body"]).get("signals", [None])) for request in service.requests]
    # The first finds the queue idle; how many are with it depends on the machine.
    assert sum(sizes) == 1_234 and len(sizes) <= 4 and max(sizes) <= 500
    assert service.recorded_numbers(voting.tenant) == list(range(1_234))


def test_a_request_stays_small_however_large_the_signals_in_it_are(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues)
    for number in range(120):
        # Three bytes for each character.
        voting.add(number, metadata={"number": number, "text": "日" * 5_000})
    voting.queue.close()
    requests = service.requests
    assert len(requests) > 1
    assert max(len(request["body"].encode()) for request in requests) < 800_000
    assert service.recorded_numbers(voting.tenant) == list(range(120))


def test_a_queue_has_at_most_concurrency_requests_in_flight(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues, concurrency=3)
    sqlite_service.fates({"do": "hold"})
    for number in range(3):
        voting.add(number)
        assert eventually(lambda: len(sqlite_service.requests) == number + 1)
    for number in range(3, 30):
        voting.add(number)
    assert voting.queue.flush(timeout=0.2) is False
    assert (len(sqlite_service.requests), sqlite_service.in_flight) == (3, 3)
    sqlite_service.fates({"do": "pass"})
    voting.queue.close()
    assert sqlite_service.recorded_numbers(voting.tenant) == list(range(30))


def test_a_full_queue_drops_further_signals_and_reports_them(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues, max_size=3)
    sqlite_service.fates({"do": "hold"})
    assert [voting.add(number) for number in range(5)] == [True, True, True, False, False]
    codes = [(error.code, dropped and dropped.prompt) for error, dropped in voting.errors.calls]  # type: ignore[attr-defined]
    assert codes == [("queue_full", voting.tenant.prompt)] * 2
    assert voting.errors.numbers() == [(PromptledgerError, 3), (PromptledgerError, 4)]
    sqlite_service.fates({"do": "pass"})
    voting.queue.flush()
    assert voting.add(5)
    voting.queue.close()
    assert sqlite_service.recorded_numbers(voting.tenant) == [0, 1, 2, 5]


def test_a_queue_reports_a_signal_that_failed_and_sends_the_others(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, max_retries=0)
    voting.queue.add("pmt_none", value="positive", idempotency_key="mine")
    voting.queue.flush()
    error, dropped = voting.errors.calls[0]
    assert isinstance(error, NotFoundError)
    assert dropped == QueuedSignal("mine", "pmt_none", {"value": "positive"})
    service.first({"do": "cut"})
    for number in range(3):
        voting.add(number)
        voting.queue.flush()
    assert [type(error) for error, _ in voting.errors.calls] == [NotFoundError, ConnectionError]
    assert service.recorded_numbers(voting.tenant) == [0, 1, 2]


def test_each_rejected_signal_of_a_batch_is_dropped_with_its_own_error_and_the_others_are_recorded(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, concurrency=1)
    service.first({"do": "hold"})
    voting.add(0)
    assert eventually(lambda: len(service.requests) == 1)
    voting.add(1, prompt="pmt_none")
    voting.add(2, value="so-so")
    voting.add(3, value="negative")
    service.release()
    voting.queue.close()
    assert len(service.requests) == 2
    assert sorted(voting.errors.numbers(), key=lambda call: int(call[1])) == [(NotFoundError, 1), (ValidationError, 2)]
    assert service.recorded_numbers(voting.tenant) == [0, 3]


def test_adding_never_raises_whatever_the_caller_passes(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues)
    circular: dict[str, Any] = {}
    circular["itself"] = circular
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    hostile: list[Any] = [circular, {"a": float("inf")}, {"a": object()}, {"a": {1}}, {"a": deep}, {1j: 1}]
    for metadata in hostile:
        assert voting.queue.add(voting.tenant.prompt, value="positive", metadata=metadata) is False
    assert len(voting.errors.calls) == len(hostile)
    # The service rejects these, and the workers survive them.
    voting.queue.add(voting.tenant.prompt, value="positive", subject=["x"])  # type: ignore[arg-type]
    voting.queue.add("", value="positive")
    voting.queue.add("\ud800", value="positive")
    voting.queue.add(voting.tenant.prompt, value="positive", idempotency_key="a\nb")
    voting.add(1)
    voting.queue.close()
    assert len(voting.errors.calls) == len(hostile) + 4
    assert sqlite_service.recorded_numbers(voting.tenant) == [1]


def test_changing_a_signal_after_adding_it_does_not_change_what_the_queue_sends(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues)
    metadata = {"number": 1}
    voting.queue.add(voting.tenant.prompt, value="positive", metadata=metadata)
    metadata["number"] = 2
    voting.queue.close()
    assert sqlite_service.recorded_numbers(voting.tenant) == [1]


def test_a_queue_records_each_signal_once_when_requests_fail(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, concurrency=20)
    ok = [{"do": "pass"}]
    truncated = {"do": "truncate", "after": 30}
    service.fates({"do": "refuse"}, *ok * 2, {"do": "cut"}, *ok * 2, truncated, *ok, {"do": "duplicate"}, every=True)
    for number in range(300):
        voting.add(number)
    voting.queue.close()
    assert voting.errors.calls == []
    assert service.recorded_numbers(voting.tenant) == list(range(300))
    assert service.used(voting.tenant) == 300


def test_the_last_vote_on_each_subject_wins_in_the_order_of_adding_when_requests_fail(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, plan="team", concurrency=10)
    ok = [{"do": "pass"}] * 3
    service.fates({"do": "refuse"}, *ok, {"do": "cut"}, *ok, {"do": "duplicate"}, *ok, every=True)
    last: dict[str, Optional[str]] = {}
    for round in range(6):
        earlier = len(service.requests)
        for number in range(30):
            subject = f"s-{number}"
            value = (None, "positive", "negative")[(number + round) % 3]
            if value is None and subject not in last:
                continue
            voting.queue.add(voting.tenant.prompt, value=value, subject=subject)  # type: ignore[arg-type]
            last[subject] = value
        # Later votes meet earlier ones in flight.
        assert eventually(lambda: len(service.requests) > earlier)
    voting.queue.close()
    assert voting.errors.calls == []
    recorded = {
        signal["subject"]: signal["value"]
        for signal in service.ledger(voting.tenant).signals.export(voting.tenant.prompt)
    }
    assert {subject: recorded.get(subject) for subject in last} == last
    assert service.used(voting.tenant) == 30


def test_a_service_without_the_batch_endpoint_gets_the_signals_one_by_one(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, concurrency=3)
    body = '{"error":{"code":"not_found","message":"Not found."}}'
    service.fates({"do": "respond", "status": 404, "body": body}, path=batch_path)
    for number in range(60):
        voting.add(number)
    voting.queue.close()
    # Batches that were already in flight when the first one failed may fail too.
    assert len([request for request in service.requests if request["url"] == batch_path]) <= 3
    assert service.recorded_numbers(voting.tenant) == list(range(60))
    assert voting.errors.calls == []


def test_the_signals_of_a_batch_that_is_rejected_as_a_whole_are_sent_one_by_one(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, concurrency=1)
    service.fates({"do": "respond", "status": 413, "body": "too large"}, path=batch_path)
    for number in range(20):
        voting.add(number, prompt="pmt_none" if number == 7 else voting.tenant.prompt, subject=f"s-{number}")
    voting.queue.flush()
    assert voting.errors.numbers() == [(NotFoundError, 7)]
    assert len(service.recorded_numbers(voting.tenant)) == 19
    # Votes on the same subjects are not stuck.
    service.fates({"do": "pass"})
    for number in range(20):
        voting.add(number, value="negative", subject=f"s-{number}")
    voting.queue.close()
    assert voting.queue.size == 0


def test_votes_that_are_sent_again_alone_are_sent_before_later_ones_on_their_subjects(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues, concurrency=1)
    service.fates({"do": "respond", "status": 413, "body": "too large"}, {"do": "pass"}, path=batch_path)
    for value in ("positive", "negative"):
        for number in range(10):
            voting.add(number, value=value, subject=f"s-{number}")
    voting.queue.close()
    assert any(request["url"] == batch_path for request in service.requests)
    votes = list(service.ledger(voting.tenant).signals.list(voting.tenant.prompt))
    assert [vote["value"] for vote in votes] == ["negative"] * 10


def test_a_signal_that_the_service_failed_to_store_is_sent_again_alone(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues, concurrency=1)
    recorded = {"status": 201, "data": {"id": 1, "value": "positive", "created_at": "2026-11-15T12:00:00.000Z"}}
    failed = {"status": 500, "error": {"code": "internal_error", "message": "The service failed."}}
    answer = {"do": "respond", "status": 200, "body": json.dumps({"data": [recorded, failed]})}
    sqlite_service.first({"do": "hold"}, answer)
    voting.add(0)
    assert eventually(lambda: len(sqlite_service.requests) == 1)
    voting.add(1)
    voting.add(2)
    sqlite_service.release()
    voting.queue.close()
    assert (len(sqlite_service.requests), voting.errors.calls) == (3, [])
    assert sqlite_service.recorded_numbers(voting.tenant) == [0, 2]


def test_signals_over_the_monthly_limit_are_dropped_without_a_spool(
    service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(service, queues)
    service.fill_month(voting.tenant, 999)
    for number in range(3):
        voting.add(number)
        voting.queue.flush()
    assert voting.errors.numbers() == [(RateLimitedError, 1), (RateLimitedError, 2)]


def test_close_stops_at_its_timeout_and_reports_the_rest(
    sqlite_service: LedgerService, queues: list[SignalQueue]
) -> None:
    voting = Voting(sqlite_service, queues, concurrency=2)
    sqlite_service.fates({"do": "hold"})
    for number in range(10):
        voting.add(number)
    assert eventually(lambda: len(sqlite_service.requests) >= 1)
    voting.queue.close(timeout=0.1)
    assert {number for _, number in voting.errors.numbers()} == set(range(10))
    assert {kind for kind, _ in voting.errors.numbers()} == {TimeoutError}
    assert voting.queue.size == 0
    assert voting.add(11) is False
    assert voting.errors.calls[-1][0].code == "queue_closed"  # type: ignore[attr-defined]


def test_flush_says_whether_it_was_in_time(sqlite_service: LedgerService, queues: list[SignalQueue]) -> None:
    voting = Voting(sqlite_service, queues)
    sqlite_service.fates({"do": "hold"})
    voting.add(0)
    assert voting.queue.flush(timeout=0.05) is False
    sqlite_service.fates({"do": "pass"})
    assert voting.queue.flush(timeout=patience) is True


def test_threads_may_add_flush_and_close_at_the_same_time(service: LedgerService, queues: list[SignalQueue]) -> None:
    voting = Voting(service, queues)

    def vote(thread: int) -> None:
        for number in range(50):
            voting.add(thread * 50 + number)
        voting.queue.flush()

    threads = [threading.Thread(target=vote, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    closing = [threading.Thread(target=voting.queue.close) for _ in range(3)]
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join()
    assert service.recorded_numbers(voting.tenant) == list(range(400))


@pytest.mark.parametrize("failure", [RuntimeError, SystemExit])
def test_an_error_handler_that_raises_affects_no_other_signal(
    sqlite_service: LedgerService,
    queues: list[SignalQueue],
    caplog: pytest.LogCaptureFixture,
    failure: type[BaseException],
) -> None:
    def fail(error: Exception, dropped: Optional[QueuedSignal]) -> None:
        raise failure("broken handler")

    voting = Voting(sqlite_service, queues, on_error=fail)
    voting.queue.add("pmt_none", value="positive")
    voting.add(1)
    voting.queue.close()
    assert sqlite_service.recorded_numbers(voting.tenant) == [1]
    assert "broken handler" in caplog.text


def test_without_an_error_handler_a_dropped_signal_is_logged_without_its_contents(
    sqlite_service: LedgerService, queues: list[SignalQueue], caplog: pytest.LogCaptureFixture
) -> None:
    voting = Voting(sqlite_service, queues, on_error=None)
    with caplog.at_level(logging.WARNING, "promptledger"):
        voting.queue.add("pmt_none", value="positive", comment="private")
        voting.queue.close()
    assert "A signal was dropped" in caplog.text
    assert "private" not in caplog.text and voting.tenant.key not in caplog.text
