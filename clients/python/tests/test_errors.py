"""What a failed call raises."""

from __future__ import annotations

import builtins
import logging
import pickle
import re
import traceback
from datetime import datetime, timezone
from typing import Any, Callable

import pytest

from ledger_service import LedgerService
from promptledger import (
    ConflictError,
    ConnectionError,
    ForbiddenError,
    NotFoundError,
    Promptledger,
    PromptledgerError,
    RateLimitedError,
    TimeoutError,
    UnauthorizedError,
    ValidationError,
)


def error_of(call: Callable[[], Any]) -> PromptledgerError:
    with pytest.raises(PromptledgerError) as failure:
        call()
    return failure.value


def test_each_error_code_has_its_own_class_with_the_status_and_the_request_id(service: LedgerService) -> None:
    tenant = service.tenant(role="admin")
    ledger = service.ledger(tenant)
    unknown_key = service.ledger(tenant, api_key="plk_none")
    reader = service.ledger(tenant, api_key=service.key(tenant, "standard"))
    revoked = ledger.keys.create()["id"]
    ledger.keys.revoke(revoked)
    expected: list[tuple[Callable[[], Any], type[PromptledgerError], str, int]] = [
        (unknown_key.usage.get, UnauthorizedError, "unauthorized", 401),
        (reader.keys.list().page, ForbiddenError, "forbidden", 403),
        (lambda: ledger.prompts.get("pmt_none"), NotFoundError, "not_found", 404),
        (lambda: ledger.keys.rotate(revoked), ConflictError, "conflict", 409),
        (
            lambda: ledger.signals.create(tenant.prompt, value="so-so"),  # type: ignore[arg-type]
            ValidationError,
            "validation_error",
            422,
        ),
    ]
    for call, kind, code, status in expected:
        error = error_of(call)
        assert (type(error), error.code, error.status, error.details) == (kind, code, status, {})
        assert str(error) and re.fullmatch(r"[\w-]+", str(error.request_id))
    error = error_of(lambda: ledger.with_options(headers={"X-Request-Id": "mine"}).prompts.get("pmt_none"))
    assert error.request_id == "mine"


def test_a_signal_over_the_limit_fails_with_the_limit_the_usage_and_the_time_of_the_reset(
    service: LedgerService,
) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    service.fill_month(tenant, 1_000)
    error = error_of(lambda: ledger.signals.create(tenant.prompt, value="positive"))
    assert isinstance(error, RateLimitedError)
    assert (error.code, error.status, error.limit, error.used) == ("rate_limited", 429, 1_000, 1_000)
    assert error.resets_at == datetime(2026, 12, 1, tzinfo=timezone.utc)
    assert error.details["resets_at"] == "2026-12-01T00:00:00.000Z"
    assert len(service.requests) == 1


def test_an_internal_error_has_the_code_the_message_and_the_request_id_that_the_service_sent(
    sqlite_service: LedgerService,
) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), max_retries=0)
    body = '{"error":{"code":"internal_error","message":"The service failed."}}'
    sqlite_service.first({"do": "respond", "status": 500, "headers": {"X-Request-Id": "r1"}, "body": body})
    error = error_of(ledger.usage.get)
    assert (type(error), error.code, error.status) == (PromptledgerError, "internal_error", 500)
    assert (str(error), error.request_id) == ("The service failed.", "r1")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, "<h1>Bad Gateway</h1>"),
        (404, ""),
        (401, '{"error":"login"}'),
        (429, '{"error":{"code":429}}'),
        (403, "null"),
        (400, "[" * 100_000),
        (500, '{"error":{"code":' + "9" * 5_000 + "}}"),
    ],
)
def test_a_response_that_did_not_come_from_promptledger_is_never_read_as_one_of_its_errors(
    sqlite_service: LedgerService, status: int, body: str
) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), max_retries=0)
    sqlite_service.first({"do": "respond", "status": status, "body": body})
    error = error_of(ledger.usage.get)
    assert (type(error), error.code, error.status) == (PromptledgerError, "unexpected_response", status)
    assert "base_url" in str(error)


@pytest.mark.parametrize("body", ["<!doctype html>", "[]", "3", '{"data', "[" * 100_000, '{"other":1}', "\ud83d"[:0]])
def test_a_page_of_a_proxy_with_the_status_200_is_no_result(sqlite_service: LedgerService, body: str) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), max_retries=0)
    sqlite_service.first({"do": "respond", "status": 200, "headers": {"Content-Type": "text/html"}, "body": body})
    error = error_of(ledger.usage.get)
    assert isinstance(error, ConnectionError)
    assert "base_url" in str(error)


@pytest.mark.parametrize("body", ['{"data":{}}', '{"data":[]}', '{"data":[3]}', '{"data":[{"status":201}]}', ""])
def test_json_of_another_server_is_no_list_no_summary_and_no_result_of_a_batch(
    sqlite_service: LedgerService, body: str
) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant, max_retries=0)
    sqlite_service.fates({"do": "respond", "status": 200 if body else 204, "body": body})
    calls: list[Callable[[], Any]] = [
        lambda: ledger.history.list(tenant.prompt).page(),
        lambda: list(ledger.history.list(tenant.prompt)),
        lambda: ledger.signals.summary(tenant.prompt),
        lambda: ledger.signals.create_many([{"prompt": tenant.prompt, "value": "positive"}]),
    ]
    for call in calls:
        assert isinstance(error_of(call), ConnectionError)


@pytest.mark.parametrize("details", ["", ',"limit":"x","used":1,"resets_at":"2026-12-01"', ',"limit":1,"used":1'])
def test_an_error_over_the_limit_without_its_figures_is_no_rate_limited_error(
    sqlite_service: LedgerService, details: str
) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    body = f'{{"error":{{"code":"rate_limited","message":"Wait."{details}}}}}'
    sqlite_service.first({"do": "respond", "status": 429, "body": body})
    error = error_of(ledger.usage.get)
    assert (type(error), error.code, error.status) == (PromptledgerError, "rate_limited", 429)


def test_the_message_of_an_error_cannot_forge_lines_in_a_log_or_a_terminal(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    body = '{"error":{"code":"conflict\\n","message":"one\\ntwo\\u001b[31m\\u202e' + "x" * 9_000 + '"}}'
    sqlite_service.first({"do": "respond", "status": 409, "body": body})
    error = error_of(ledger.usage.get)
    assert str(error).startswith("one\ufffdtwo\ufffd[31m\ufffdxxx")
    assert len(str(error)) == 2_000 and str(error).isprintable() and error.code.isprintable()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_fails_the_call_instead_of_being_followed(sqlite_service: LedgerService, status: int) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant)
    location = f"{sqlite_service.address}/api/v1/prompts/{tenant.prompt}/signals"
    sqlite_service.first({"do": "respond", "status": status, "headers": {"Location": location}})
    error = error_of(lambda: ledger.signals.create(tenant.prompt, value="positive"))
    assert (error.status, error.code, len(sqlite_service.requests)) == (status, "unexpected_response", 1)
    assert sqlite_service.used(tenant) == 0


def test_a_failed_connection_says_why_and_keeps_its_cause() -> None:
    ledger = Promptledger(api_key="plk_x", base_url="http://127.0.0.1:1", max_retries=0)
    error = error_of(ledger.usage.get)
    assert isinstance(error, ConnectionError) and isinstance(error, builtins.ConnectionError)
    assert (error.code, error.status, error.is_connected) == ("connection_failed", None, False)
    assert "Connection refused" in str(error)
    assert isinstance(error.__cause__, ConnectionRefusedError)


def test_an_unknown_host_is_a_connection_error() -> None:
    ledger = Promptledger(api_key="plk_x", base_url="http://ledger.invalid", max_retries=0)
    error = error_of(ledger.usage.get)
    assert isinstance(error, ConnectionError) and not error.is_connected


def test_errors_can_be_pickled_for_other_processes() -> None:
    error = NotFoundError("gone", code="not_found", status=404, request_id="r1", details={"a": 1})
    for original in (error, ConnectionError("failed", is_connected=False), TimeoutError(1.5)):
        copy = pickle.loads(pickle.dumps(original))
        assert (type(copy), str(copy), vars(copy)) == (type(original), str(original), vars(original))


def test_the_key_never_appears_in_representations_errors_tracebacks_or_logs(
    sqlite_service: LedgerService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant, max_retries=0)
    printed = [repr(ledger), str(vars(ledger)), str(vars(ledger._transport))]
    fates: list[dict[str, Any]] = [
        {"do": "refuse"},
        {"do": "truncate", "after": 3},
        {"do": "respond", "status": 401, "body": '{"error":{"code":"unauthorized","message":"No."}}'},
        {"do": "respond", "status": 200, "body": "<html>"},
        {"do": "stall", "after": 1},
    ]
    for fate in fates:
        sqlite_service.fates(fate)
        error = error_of(ledger.with_options(timeout=0.3).usage.get)
        printed.append(repr(error))
        # As tools that report errors do.
        report = traceback.TracebackException.from_exception(error, capture_locals=True)
        printed.extend(report.format())
    for text in [*printed, caplog.text]:
        assert tenant.key not in text.replace(f"key='{tenant.key}'", "")
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(ledger._transport._key)


@pytest.mark.parametrize("key", ["plk_a\nb", "plk_a b", "plk_ü", "plk_\x00"])
def test_an_invalid_key_is_rejected_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="Invalid API key") as failure:
        Promptledger(api_key=key, base_url="https://ledger.example.com")
    assert key not in str(failure.value)


def test_invalid_arguments_raise_before_any_request_is_sent(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant)
    circular: dict[str, Any] = {}
    circular["itself"] = circular
    for metadata in (circular, {"a": float("nan")}):
        with pytest.raises(ValueError):
            ledger.signals.create(tenant.prompt, value="positive", metadata=metadata)
    with pytest.raises(TypeError):
        ledger.signals.create(tenant.prompt, value="positive", metadata={"a": {1, 2}})
    with pytest.raises(ValueError, match="time zone"):
        ledger.signals.list(tenant.prompt, since=datetime(2026, 11, 15)).page()
    for headers in ({"X-Name": "ā"}, {"X-Name": "a\r\nX-Other: b"}, {"X Name": "a"}):
        with pytest.raises(ValueError, match="Invalid (name|value) of"):
            ledger.with_options(headers=headers)
    with pytest.raises(ValueError, match="Idempotency-Key"):
        ledger.signals.create(tenant.prompt, value="positive", idempotency_key="a\nb")
    with pytest.raises(ValueError):
        ledger.keys.revoke("1/../2")  # type: ignore[arg-type]
    assert sqlite_service.requests == []


def test_a_prompt_id_cannot_change_the_path_of_a_request(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant())
    with pytest.raises(NotFoundError):
        ledger.prompts.get("x/../../usage?a=1#b\r\nHost: a")
    assert [request["url"] for request in sqlite_service.requests] == [
        "/api/v1/prompts/x%2F..%2F..%2Fusage%3Fa%3D1%23b%0D%0AHost%3A%20a"
    ]
    for name in ("", ".", ".."):
        with pytest.raises(ValueError, match="cannot name one"):
            ledger.prompts.delete(name)
    assert len(sqlite_service.requests) == 1
