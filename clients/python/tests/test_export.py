"""Exports, which are read as they arrive."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from ledger_service import LedgerService, eventually, patience
from promptledger import ConnectionError, NotFoundError, Promptledger, TimeoutError


def test_an_export_returns_every_signal_as_recorded_oldest_first(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    texts = ["line\nbreak, \"quotes\" and 日本語 🙂", "\u2028 \x00 \ufeff", "plain"]
    for number, text in enumerate(texts):
        value = "positive" if number % 2 == 0 else "negative"
        ledger.signals.create(tenant.prompt, value=value, metadata={"text": text})  # type: ignore[arg-type]
    exported = [(signal["metadata"] or {})["text"] for signal in ledger.signals.export(tenant.prompt)]
    assert exported == texts
    assert len(list(ledger.signals.export(tenant.prompt, value="negative"))) == 1
    assert "日本語 🙂" in "".join(ledger.signals.export_csv(tenant.prompt))


def test_an_export_is_read_as_it_arrives_and_its_connection_closes_when_the_caller_stops(
    service: LedgerService,
) -> None:
    tenant = service.tenant()
    service.fill_month(tenant, 10_000)
    ledger = service.ledger(tenant)
    # The rest never arrives, which must not prevent the caller from reading the beginning.
    service.first({"do": "stall", "after": 200_000})
    export = ledger.signals.export(tenant.prompt)
    assert [next(export)["value"] for _ in range(500)] == ["positive"] * 500
    assert service.in_flight == 1
    export.close()
    assert eventually(lambda: service.in_flight == 0)


def test_an_export_that_is_cut_off_fails_instead_of_looking_complete(service: LedgerService) -> None:
    tenant = service.tenant()
    service.fill_month(tenant, 1_000)
    ledger = service.ledger(tenant)
    service.first({"do": "truncate", "after": 10_000})
    seen = []
    with pytest.raises(ConnectionError):
        for signal in ledger.signals.export(tenant.prompt):
            seen.append(signal)
    assert 20 < len(seen) < 1_000 and len(service.requests) == 1
    # A proxy may end the response cleanly: then only the incomplete line shows it.
    for body in ('{"id":1}\n{"id":2', "<html>\n"):
        service.first({"do": "respond", "status": 200, "body": body})
        with pytest.raises(ConnectionError):
            list(ledger.signals.export(tenant.prompt))


def test_an_export_times_out_when_no_data_arrives_but_not_while_its_caller_is_busy() -> None:
    lines = b"".join(b'{"id":%d}\n' % number for number in range(20_000))
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
    sent = threading.Event()
    ended: list[bytes] = []

    def respond() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(head % len(lines) + lines)
            sent.set()
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            # The rest never arrives.
            connection.sendall(head % len(lines) + lines[:100])
            ended.append(connection.recv(1))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=respond)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        ledger = Promptledger(api_key="plk_x", base_url=url, timeout=2, max_retries=0)
        count = 0
        for _ in ledger.signals.export("pmt_x"):
            if count == 10:
                # Everything has arrived, and the caller is busy for longer than the timeout.
                assert sent.wait(patience)
                time.sleep(2.1)
            count += 1
        assert count == 20_000
        seen = []
        with pytest.raises(TimeoutError):
            for signal in ledger.signals.export("pmt_x"):
                seen.append(signal)
        assert seen
        thread.join()
    # The client closed its connection.
    assert ended == [b""]


def test_an_export_that_fails_to_start_is_retried_and_an_unknown_prompt_is_not_found(service: LedgerService) -> None:
    tenant = service.tenant()
    ledger = service.ledger(tenant)
    ledger.signals.create(tenant.prompt, value="positive")
    service.first({"do": "cut"}, {"do": "respond", "status": 503})
    assert len(list(ledger.signals.export(tenant.prompt))) == 1
    with pytest.raises(NotFoundError):
        next(ledger.signals.export("pmt_none"))


def test_an_export_that_is_shorter_than_its_length_fails_although_its_last_line_is_complete() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def respond() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"id":1}\n')

        thread = threading.Thread(target=respond)
        thread.start()
        ledger = Promptledger(api_key="plk_x", base_url=f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(ConnectionError):
            list(ledger.signals.export("pmt_x"))
        thread.join()
