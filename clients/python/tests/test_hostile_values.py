"""Values that are hard to store, send or read back."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.request import Request, urlopen

import pytest

from ledger_service import LedgerService
from promptledger import NotFoundError, ValidationError
from promptledger.json_text import decode_json, encode_json

values: dict[str, Any] = {
    "unicode": "日本語 🙂 é \u202e\u2028\ufeff",
    "lone surrogates": "\ud800 and \udfff",
    "control characters": "\x00\x01\x1f\x7f",
    "large integers": [2**53 + 1, 2**200, -(2**63)],
    "numbers": [0.1, 1e-300, -0.0, 1.5],
    "prototype": {"__proto__": 1, "constructor": 2, "": 3},
    "injection": "'; drop table signals; -- ${x} {{x}} <script>",
    "nested": [[[[{"a": [None, True, False]}]]]],
    "empty": [{}, [], "", None],
}


@pytest.mark.parametrize("name", values)
def test_metadata_is_read_back_equal(service: LedgerService, name: str) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    ledger.signals.create(tenant.prompt, value="positive", metadata={"value": values[name]})
    with ledger.signals.queue() as queue:
        queue.add(tenant.prompt, value="positive", metadata={"value": values[name]})
    listed = [signal["metadata"] for signal in ledger.signals.list(tenant.prompt)]
    assert listed == [{"value": values[name]}] * 2
    assert [signal["metadata"] for signal in ledger.signals.export(tenant.prompt)] == listed


def test_text_in_other_scripts_has_the_limit_of_the_service_and_not_a_third_of_it(service: LedgerService) -> None:
    tenant = service.tenant()
    # 15,000 bytes in UTF-8, and 30,000 with escapes.
    signal = {"value": "positive", "metadata": {"text": "日" * 5_000}}
    assert service.ledger(tenant).signals.create(tenant.prompt, **signal)["id"] > 0  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="metadata"):
        service.ledger(tenant).signals.create(tenant.prompt, value="positive", metadata={"text": "日" * 6_000})


def test_a_number_with_thousands_of_digits_does_not_make_the_other_signals_unreadable(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    ledger.signals.create(tenant.prompt, value="positive", metadata={"number": 1})
    # As a client in another language can send it.
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {tenant.key}"}
    body = b'{"value":"positive","metadata":{"number":' + b"9" * 5_000 + b"}}"
    url = f"{service.address}/api/v1/prompts/{tenant.prompt}/signals"
    with urlopen(Request(url, body, headers, method="POST")) as response:
        assert response.status == 201
    for signals in (list(ledger.signals.list(tenant.prompt)), list(ledger.signals.export(tenant.prompt))):
        numbers = [(signal["metadata"] or {})["number"] for signal in signals]
        assert len(numbers) == 2 and 1 in numbers and max(numbers) > 2**53


@pytest.mark.parametrize("name", ["prompts/Größe & co.md", "a/b?c#d%2F", "🙂", "'\"; --", "..%2f..", "x" * 200])
def test_a_prompt_is_found_by_a_name_that_needs_to_be_encoded(service: LedgerService, name: str) -> None:
    tenant = service.tenant(role="admin")
    ledger = service.ledger(tenant)
    ledger.prompts.rename(tenant.prompt, name=name)
    assert ledger.prompts.get(name)["id"] == tenant.prompt
    ledger.signals.create(name, value="positive")
    assert service.used(tenant) == 1
    with pytest.raises(NotFoundError):
        ledger.prompts.get(name + "x")


def test_times_of_any_zone_are_sent_as_utc(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    local = datetime(2026, 11, 15, 13, 30, 0, 123_999, timezone(timedelta(hours=2)))
    ledger.signals.create(tenant.prompt, value="positive", occurred_at=local)
    (signal,) = ledger.signals.list(tenant.prompt, since=local, until=local + timedelta(seconds=1))
    assert signal["occurred_at"] == "2026-11-15T11:30:00.123Z"


def test_comments_and_filters_may_contain_anything(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    comment = "50% & +1 = 日本? #x"
    ledger.signals.create(tenant.prompt, value="negative", comment=comment, metadata={"a b&c": "d=e+f"})
    assert [signal["comment"] for signal in ledger.signals.list(tenant.prompt, q="% & +1 = 日本?")] == [comment]
    assert len(list(ledger.signals.list(tenant.prompt, metadata={"a b&c": "d=e+f"}))) == 1


@pytest.mark.parametrize("text", [b"", b"{", b"nul", b"\xff", b'{"a":1} x', b"[" * 200_000])
def test_a_text_that_is_no_json_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError):
        decode_json(text)


def test_json_text_is_compact_and_escapes_only_what_utf_8_cannot_hold() -> None:
    assert encode_json({"a": ["ü", "\ud83d", None]}) == '{"a":["ü","\\ud83d",null]}'.encode()
