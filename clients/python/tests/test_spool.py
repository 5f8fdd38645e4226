"""A queue whose signals survive: in a file, across restarts, crashes and outages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Iterator, Optional

import pytest

from ledger_service import LedgerService, Tenant, eventually, patience, root
from promptledger import QueuedSignal, SignalQueue
from promptledger.spool import Spool


class Voter:
    """A queue as a new process would open it, and the errors it reported."""

    def __init__(self, service: LedgerService, tenant: Tenant, path: Path, **options: Any) -> None:
        self.tenant = tenant
        self.errors: list[tuple[Exception, Optional[QueuedSignal]]] = []
        ledger = options.pop("ledger", None) or service.ledger(tenant)
        settings: dict[str, Any] = {"spool": path, "max_retries": 0, "on_error": lambda *call: self.errors.append(call), **options}
        self.queue: SignalQueue = ledger.signals.queue(**settings)

    def add(self, *numbers: int, **fields: Any) -> None:
        for number in numbers:
            vote: dict[str, Any] = {"value": "positive", "metadata": {"number": number}, **fields}
            assert self.queue.add(self.tenant.prompt, **vote)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "votes.spool"


def test_signals_that_could_not_be_sent_are_sent_by_the_next_process(service: LedgerService, path: Path) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path)
    service.fates({"do": "cut"})
    first.add(*range(20))
    first.queue.flush()
    assert first.queue.size == 20
    first.queue.close()
    second = Voter(service, tenant, path)
    second.add(20)
    second.queue.close()
    assert first.errors == second.errors == []
    assert service.recorded_numbers(tenant) == list(range(21))
    assert service.used(tenant) == 21
    assert path.read_bytes() == b""


@pytest.mark.parametrize("reason", ["unavailable", "rate_limited"])
def test_when_signals_cannot_be_sent_now_the_queue_does_not_try_each_of_them(
    service: LedgerService, path: Path, reason: str
) -> None:
    voter = Voter(service, service.tenant(), path, retry_delay=3_600)
    resets_at = (datetime.now(timezone.utc) + timedelta(hours=1)).isoformat()
    limited = {"code": "rate_limited", "message": "…", "limit": 1, "used": 1, "resets_at": resets_at}
    body = json.dumps({"error": limited} if reason == "rate_limited" else {})
    service.fates({"do": "respond", "status": 429 if reason == "rate_limited" else 503, "body": body})
    voter.add(*range(10))
    voter.queue.flush()
    assert (voter.queue.size, len(service.requests) <= 5) == (10, True)
    voter.queue.close()
    assert voter.errors == []


def test_spooled_signals_are_sent_once_the_service_is_back(service: LedgerService, path: Path) -> None:
    tenant = service.tenant()
    voter = Voter(service, tenant, path, retry_delay=0.3)
    service.fates({"do": "respond", "status": 503})
    voter.add(*range(10))
    voter.queue.flush()
    service.fates({"do": "pass"})
    assert eventually(lambda: voter.queue.size == 0)
    assert service.recorded_numbers(tenant) == list(range(10))
    voter.queue.close()
    assert voter.errors == []


def test_signals_over_the_monthly_limit_are_sent_after_retry_delay_because_a_larger_plan_takes_effect_at_once(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    voter = Voter(service, tenant, path, retry_delay=0.3)
    resets_at = (datetime.now(timezone.utc) + timedelta(days=1)).isoformat()
    error = {"code": "rate_limited", "message": "…", "limit": 1, "used": 1, "resets_at": resets_at}
    service.fates({"do": "respond", "status": 429, "body": json.dumps({"error": error})})
    voter.add(*range(10))
    voter.queue.flush()
    assert voter.queue.size == 10
    service.fates({"do": "pass"})
    assert eventually(lambda: voter.queue.size == 0)
    assert service.recorded_numbers(tenant) == list(range(10))
    voter.queue.close()
    assert voter.errors == []


@pytest.mark.parametrize("end", ["flush", "close"])
def test_the_spool_is_on_disk_before_flush_and_close_wait_for_the_service(
    sqlite_service: LedgerService, path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    voter = Voter(sqlite_service, sqlite_service.tenant(), path)
    sqlite_service.fates({"do": "hold"})
    voter.add(1)
    assert eventually(lambda: len(sqlite_service.requests) == 1)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    waiting = threading.Thread(target=getattr(voter.queue, end))
    waiting.start()
    assert eventually(lambda: len(synced) > 0)
    assert waiting.is_alive()
    sqlite_service.release()
    waiting.join(patience)
    assert not waiting.is_alive()
    voter.queue.close()


def test_of_a_batch_over_the_monthly_limit_the_first_signals_are_recorded_and_the_spool_has_the_rest(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    service.fill_month(tenant, 990)
    first = Voter(service, tenant, path)
    first.add(*range(30))
    first.queue.close()
    assert (first.queue.size, first.errors) == (20, [])
    service.set_plan(tenant, "team")
    second = Voter(service, tenant, path)
    second.queue.close()
    assert service.recorded_numbers(tenant) == list(range(30))
    assert service.used(tenant) == 1_020


def test_signals_sent_with_a_wrong_key_or_to_a_wrong_address_stay_in_the_spool_until_both_are_right(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path, ledger=service.ledger(tenant, api_key="plk_none"))
    first.add(0)
    first.queue.close()
    second = Voter(service, tenant, path)
    service.fates({"do": "respond", "status": 404, "body": "no such page"})
    second.add(1)
    second.queue.close()
    third = Voter(service, tenant, path)
    third.queue.close()
    assert service.recorded_numbers(tenant) == [0, 1]
    assert first.errors == second.errors == third.errors == []


def test_a_signal_that_the_service_rejects_is_dropped_and_never_sent_again(service: LedgerService, path: Path) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path)
    first.queue.add("pmt_none", value="positive")
    first.queue.close()
    assert len(first.errors) == 1
    second = Voter(service, tenant, path)
    second.queue.close()
    assert (second.errors, service.requests) == ([], [])


def test_close_stops_at_its_timeout_and_leaves_the_rest_in_the_spool(service: LedgerService, path: Path) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path)
    service.fates({"do": "hold"})
    first.add(*range(10))
    assert eventually(lambda: len(service.requests) >= 1)
    first.queue.close(timeout=0.1)
    assert first.queue.size == 10
    # The service gets the held requests as well, which must not count again.
    second = Voter(service, tenant, path)
    second.queue.close()
    assert eventually(lambda: service.in_flight == 0)
    assert service.recorded_numbers(tenant) == list(range(10))
    assert service.used(tenant) == 10
    assert first.errors == second.errors == []


def test_a_vote_of_this_run_is_never_replaced_by_an_older_one_that_the_last_run_left(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path)
    service.fates({"do": "refuse"})
    first.add(0, subject="s-1")
    first.queue.close()
    second = Voter(service, tenant, path)
    second.add(1, value="negative", subject="s-1")
    second.queue.close()
    assert [vote["value"] for vote in service.ledger(tenant).signals.list(tenant.prompt)] == ["negative"]
    assert service.used(tenant) == 1


def test_a_signal_that_was_recorded_in_a_batch_counts_once_when_it_is_sent_again_alone(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    first = Voter(service, tenant, path, concurrency=1)
    service.fates({"do": "hold"}, {"do": "cut"})
    first.add(0)
    assert eventually(lambda: len(service.requests) == 1)
    first.add(1, 2, voter="user-1", metadata={"number": 1.5, "text": "日本\ud800", "big": 2**80})
    service.release()
    first.queue.close()
    assert service.used(tenant) == 3
    second = Voter(service, tenant, path)
    service.fates({"do": "respond", "status": 413}, path="/api/v1/signals")
    second.queue.close()
    assert service.used(tenant) == 3
    assert first.errors == second.errors == []


def run_voter(script: str, service: LedgerService, tenant: Tenant, path: Path) -> subprocess.Popen[str]:
    """A process that runs a script with a queue."""
    start = f"""
import os, signal, sys, time
from promptledger import Promptledger
ledger = Promptledger(api_key={tenant.key!r}, base_url={service.proxy!r}, timeout={patience})
prompt, path = {tenant.prompt!r}, {str(path)!r}
"""
    environment = {**os.environ, "PYTHONPATH": str(root / "clients/python/src")}
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", start + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


def output_of(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate(timeout=patience)
    assert (process.returncode, errors) == (0, "")
    return output


def test_killing_the_process_again_and_again_loses_no_signal_and_counts_none_twice(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    for run in range(3):
        # Every third response is lost, and the last process records nothing.
        fates = [{"do": "refuse"}] if run == 2 else [{"do": "cut"}, {"do": "pass"}, {"do": "pass"}]
        service.fates(*fates, every=True)
        script = f"""
queue = ledger.signals.queue(spool=path, concurrency=1)
for number in range({run * 100}, {run * 100 + 100}):
    assert queue.add(prompt, value="positive", metadata={{"number": number}})
    time.sleep(0.002)
print("added", flush=True)
sys.stdin.read()
"""
        process = run_voter(script, service, tenant, path)
        assert process.stdout is not None and process.stdout.readline() == "added\n"
        # Its first response is lost, so it sends at least two requests.
        assert eventually(lambda: len(service.requests) >= 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    recorded = len(service.recorded_numbers(tenant))
    assert 0 < recorded < 300
    last = Voter(service, tenant, path)
    last.queue.close()
    assert last.errors == []
    assert service.recorded_numbers(tenant) == list(range(300))
    assert service.used(tenant) == 300


def test_a_signal_is_in_the_file_when_add_returns(sqlite_service: LedgerService, path: Path) -> None:
    tenant = sqlite_service.tenant()
    sqlite_service.fates({"do": "refuse"})
    script = """
queue = ledger.signals.queue(spool=path)
queue.add(prompt, value="positive", metadata={"number": 1})
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = run_voter(script, sqlite_service, tenant, path)
    process.communicate(timeout=patience)
    next_process = Voter(sqlite_service, tenant, path)
    next_process.queue.close()
    assert sqlite_service.recorded_numbers(tenant) == [1]


def test_a_process_that_ends_sends_its_signals_first(service: LedgerService, path: Path) -> None:
    tenant = service.tenant()
    service.fates({"do": "delay", "milliseconds": 200})
    script = """
queue = ledger.signals.queue(exit_timeout=200)
for number in range(20):
    queue.add(prompt, value="positive", metadata={"number": number})
"""
    output_of(run_voter(script, service, tenant, path))
    assert service.recorded_numbers(tenant) == list(range(20))


def test_a_process_that_ends_without_a_service_ends_in_time_and_leaves_its_signals_in_the_spool(
    sqlite_service: LedgerService, path: Path
) -> None:
    tenant = sqlite_service.tenant()
    sqlite_service.fates({"do": "hold"})
    script = """
queue = ledger.signals.queue(spool=path, exit_timeout=0.5)
queue.add(prompt, value="positive", metadata={"number": 1})
"""
    output_of(run_voter(script, sqlite_service, tenant, path))
    next_process = Voter(sqlite_service, tenant, path)
    next_process.queue.close()
    assert sqlite_service.recorded_numbers(tenant) == [1]


def test_a_signal_that_is_added_while_the_interpreter_exits_is_sent(
    sqlite_service: LedgerService, path: Path
) -> None:
    tenant = sqlite_service.tenant()
    script = """
import atexit
queue = ledger.signals.queue(exit_timeout=200)
atexit.register(lambda: queue.add(prompt, value="positive", metadata={"number": 1}))
"""
    output_of(run_voter(script, sqlite_service, tenant, path))
    assert sqlite_service.recorded_numbers(tenant) == [1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork_parent_and_child_send_their_own_signals_and_the_parent_has_the_spool(
    service: LedgerService, path: Path
) -> None:
    tenant = service.tenant()
    service.fates({"do": "delay", "milliseconds": 200})
    script = """
errors = []
queue = ledger.signals.queue(spool=path, on_error=lambda error, dropped: errors.append(str(error)))
ledger.usage.get()
for number in range(5):
    queue.add(prompt, value="positive", metadata={"number": number})
child = os.fork()
for number in range(10, 15) if child == 0 else range(5, 10):
    queue.add(prompt, value="positive", metadata={"number": number})
ledger.usage.get()
queue.close()
if child == 0:
    print(queue.size, errors)
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(queue.size, errors)
"""
    lines = output_of(run_voter(script, service, tenant, path)).splitlines()
    assert sorted(lines) == [
        "0 ['The spool file belongs to the parent process: create the queue after the fork, with its own file']",
        "0 []",
    ]
    assert service.recorded_numbers(tenant) == list(range(15))
    assert service.used(tenant) == 15


def queued(number: int) -> QueuedSignal:
    return QueuedSignal(f"key-{number}", "pmt_x", {"value": "positive", "metadata": {"number": number}})


def keys_in(path: Path) -> list[str]:
    return [json.loads(line)["key"] for line in path.read_text().splitlines()]


def test_damaged_lines_do_not_affect_the_other_signals(path: Path) -> None:
    path.parent.mkdir()
    lines = [
        {"key": "key-1", "promptId": "pmt_x", "signal": {}},
        {"key": "key-2", "promptId": "pmt_x", "signal": {"value": "positive", "metadata": {"number": 2}}},
        {"done": "key-1"},
        {"done": ["key-2"]},
        {"key": 7, "promptId": "pmt_x", "signal": {}},
        {"key": "key-8", "promptId": "pmt_x", "signal": "x"},
        None,
        [1],
    ]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    path.write_bytes(text + b"\xff\xfe\n\n" + b"[" * 100_000 + b"\n" + b'{"key":"key-9","pro')
    spool = Spool(path)
    assert spool.open() == [queued(2)]
    assert spool.add(queued(3)) is None
    assert spool.close() is None
    assert Spool(path).open() == [queued(2), queued(3)]


@pytest.fixture
def spool(path: Path) -> Iterator[Spool]:
    spool = Spool(path)
    assert spool.open() == []
    yield spool
    spool.close()


def test_the_file_stays_small_however_many_signals_pass_through_it(spool: Spool, path: Path) -> None:
    spool.add(queued(-1))
    largest = 0
    for number in range(30_000):
        assert spool.add(queued(number)) is None
        assert spool.remove(f"key-{number}") is None
        if number % 1_000 == 0:
            largest = max(largest, path.stat().st_size)
    assert largest < 2_000_000
    spool.close()
    assert keys_in(path) == ["key--1"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_only_the_owner_can_read_the_file_whatever_was_there_before(path: Path) -> None:
    path.parent.mkdir()
    for name in (path, Path(f"{path}.new")):
        name.write_text("")
        name.chmod(0o644)
    spool = Spool(path)
    spool.open()
    spool.add(queued(1))
    for name in (path, Path(f"{path}.lock")):
        assert oct(name.stat().st_mode & 0o777) == "0o600"
    spool.close()
    assert oct(path.stat().st_mode & 0o777) == "0o600"


def test_after_a_failed_write_the_next_write_stores_every_signal(spool: Spool, path: Path) -> None:
    spool.add(queued(1))
    # A folder in place of the new file makes the rewrite fail.
    Path(f"{path}.new").mkdir()
    errors = []
    for _ in range(5_001):
        errors += [spool.add(queued(2)), spool.remove("key-2")]
    assert any(isinstance(error, OSError) for error in errors)
    spool.add(queued(3))
    Path(f"{path}.new").rmdir()
    assert spool.add(queued(4)) is None
    assert keys_in(path) == ["key-1", "key-3", "key-4"]


def test_the_file_belongs_to_one_queue_until_it_closes_or_its_process_ends(
    spool: Spool, path: Path, sqlite_service: LedgerService
) -> None:
    with pytest.raises(RuntimeError, match="in use by another queue of this process"):
        Spool(path).open()
    tenant = sqlite_service.tenant()
    script = """
errors = []
queue = ledger.signals.queue(spool=path, on_error=lambda error, dropped: errors.append(str(error)))
queue.add(prompt, value="positive", metadata={"number": 1})
queue.close()
print(errors)
"""
    output = output_of(run_voter(script, sqlite_service, tenant, path))
    assert "is in use by another process: give each process its own spool file" in output
    # It was sent without the spool.
    assert sqlite_service.recorded_numbers(tenant) == [1]
    spool.close()
    assert output_of(run_voter(script, sqlite_service, tenant, path)) == "[]\n"
    crash = run_voter(script.replace("queue.close()", "os.kill(os.getpid(), signal.SIGKILL)"), sqlite_service, tenant, path)
    crash.communicate(timeout=patience)
    assert output_of(run_voter(script, sqlite_service, tenant, path)) == "[]\n"


def test_a_spool_that_cannot_be_opened_is_reported_and_signals_are_sent_without_it(
    sqlite_service: LedgerService, path: Path
) -> None:
    tenant = sqlite_service.tenant()
    # A file in place of the folder.
    path.parent.write_text("")
    voter = Voter(sqlite_service, tenant, path)
    voter.add(1)
    voter.queue.close()
    assert [(isinstance(error, OSError), dropped) for error, dropped in voter.errors] == [(True, None)]
    assert sqlite_service.recorded_numbers(tenant) == [1]
