"""How long a call may take."""

from __future__ import annotations

import builtins
import socket
import threading
import time

import pytest

from ledger_service import LedgerService, eventually
from promptledger import Promptledger, TimeoutError


def test_an_attempt_without_a_response_times_out_and_is_retried(service: LedgerService) -> None:
    tenant = service.tenant()
    # On a busy machine, further attempts may time out, too.
    ledger = service.ledger(tenant, timeout=1, max_retries=100)
    service.first({"do": "hold"})
    ledger.signals.create(tenant.prompt, value="positive")
    assert len(service.requests) >= 2
    # The service still gets the first attempt, which must not count again.
    service.release()
    assert eventually(lambda: service.in_flight == 0)
    assert service.used(tenant) == 1


def test_an_attempt_whose_response_never_ends_times_out_and_is_retried(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), timeout=1, max_retries=100)
    sqlite_service.first({"do": "stall", "after": 10})
    ledger.usage.get()
    assert len(sqlite_service.requests) >= 2


def test_a_call_fails_with_a_timeout_error_after_its_last_retry() -> None:
    # Accepts connections, and never responds.
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        ledger = Promptledger(api_key="plk_x", base_url=url, timeout=60)
        with pytest.raises(TimeoutError) as failure:
            ledger.with_options(timeout=1, max_retries=1).usage.get()
        for _ in range(2):
            server.accept()[0].close()
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert isinstance(failure.value, builtins.TimeoutError)
    assert (failure.value.code, failure.value.status) == ("timeout", None)
    assert str(failure.value) == "No response within 1 s"


def test_no_timeout_waits_for_the_response(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(), timeout=None)
    sqlite_service.first({"do": "delay", "milliseconds": 300})
    assert ledger.usage.get()["used"] == 0
    assert len(sqlite_service.requests) == 1


@pytest.mark.parametrize("part", [b"HTTP/1.1 200 OK\r\n", b"X-Header: a\r\n", b"x"])
def test_a_server_that_sends_one_byte_after_the_other_does_not_extend_the_timeout(part: bytes) -> None:
    """Each byte arrives in time for a timeout of the socket, but the response as a whole does not."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                if part != b"HTTP/1.1 200 OK\r\n":
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                if part == b"x":
                    connection.sendall(b"Content-Length: 1000\r\n\r\n")
                try:
                    # Without the timeout, the call would fail after 30 s with another error.
                    for byte in (part * 600)[:600]:
                        connection.sendall(bytes([byte]))
                        time.sleep(0.05)
                except OSError:
                    pass

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            Promptledger(api_key="plk_x", base_url=url, timeout=1, max_retries=0).usage.get()
        thread.join()


def test_a_slow_operation_has_its_own_timeout_unless_the_call_sets_one(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.tenant(role="admin"), timeout=0.2, max_retries=0)
    sqlite_service.fates({"do": "delay", "milliseconds": 600})
    assert ledger.signals.erase(voter="unknown") == {"erased": 0}
    with pytest.raises(TimeoutError):
        ledger.with_options(timeout=0.2).signals.erase(voter="unknown")
