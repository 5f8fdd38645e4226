"""Texts of prompts: fetched in the background, kept on disk, and chosen without a request."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ledger_service import Delivering, LedgerService, eventually, root
from promptledger import AsyncPromptledger, DeliveryOptions, Promptledger
from promptledger.assignment import position_of
from promptledger.openfeature import create_provider
from promptledger.transport import Operation

P = "prompts/p.md"
vectors: list[dict[str, Any]] = json.loads((root / "examples/assignment-vectors.json").read_text())


opened: list[Promptledger] = []


@pytest.fixture(autouse=True)
def closed_clients() -> Iterator[None]:
    """The requests of a client that still polls would be among those of later tests."""
    yield
    while opened:
        opened.pop().close(timeout=0)


class Reader:
    """A client with a folder for copies, and the errors that it reported."""

    def __init__(self, service: LedgerService, tenant: Delivering, folder: Path, **options: Any) -> None:
        self.errors: list[str] = []
        options = {"folder": folder, "on_error": lambda error: self.errors.append(str(error)), **options}
        self.ledger: Promptledger = service.ledger(tenant, delivery=DeliveryOptions(**options))
        opened.append(self.ledger)

    def text(self, prompt: str = P, **options: Any) -> str:
        return self.ledger.prompts.text(prompt, **{"fallback_text": "Fallback.", **options}).text


def documents(service: LedgerService) -> list[dict[str, Any]]:
    return [request for request in service.requests if request["url"].startswith("/api/v1/delivery")]


def test_each_unit_has_the_arm_that_the_shared_vectors_say() -> None:
    for vector in vectors:
        assert position_of(vector["trial"], vector["unit"]) == vector["position"]
        arm = "candidate" if vector["position"] < vector["share"] else "control"
        assert arm == vector["arm"]
    # As JavaScript encodes half of a surrogate pair.
    assert position_of("trl_1", "\ud800") == position_of("trl_1", "\ufffd")


def test_a_unit_has_one_arm_and_counts_once(service: LedgerService, tmp_path: Path) -> None:
    tenant = service.delivering(share=0.3)
    assert tenant.trial is not None
    reader = Reader(service, tenant, tmp_path)
    eventually(lambda: reader.ledger.prompts.text(P).version)
    expected = {"control": 0, "candidate": 0}
    for number in range(100):
        unit = f"user-{number}"
        is_candidate = position_of(tenant.trial, unit) < 0.3
        expected["candidate" if is_candidate else "control"] += 1
        for prompt in (P, tenant.prompt, P):
            found = reader.ledger.prompts.text(prompt, unit=unit)
            assert found.text == ("Be very kind.\n" if is_candidate else "Be kind.\n")
            assert found.version == (tenant.candidate if is_candidate else tenant.live)
            assert found.trial is not None and found.trial.id == tenant.trial
            assert (found.prompt, found.unit) == (tenant.prompt, unit)
    without = reader.ledger.prompts.text(P, unit="")
    assert (without.version, without.trial, without.unit) == (tenant.live, None, None)
    assert len(documents(service)) == 1
    reader.ledger.close()
    assert service.exposures(tenant) == [{"share": 0.3, **expected, "sources": 1}]
    assert reader.errors == []


def test_totals_whose_response_was_lost_count_once_when_they_are_sent_again(
    service: LedgerService, tmp_path: Path
) -> None:
    tenant = service.delivering(share=1)
    reader = Reader(service, tenant, tmp_path)
    eventually(lambda: reader.ledger.prompts.text(P).version)
    reader.text(unit=1)
    service.fates({"do": "cut"}, path="/api/v1/trials/exposures")
    reader.ledger._delivery._send_exposures()
    reader.text(unit=2)
    service.fates({"do": "pass"})
    reader.ledger.close()
    assert service.exposures(tenant) == [{"share": 1, "control": 0, "candidate": 2, "sources": 1}]


def test_without_the_service_texts_come_from_memory_then_from_disk_then_from_the_fallback(
    sqlite_service: LedgerService, tmp_path: Path
) -> None:
    tenant = sqlite_service.delivering()
    first = Reader(sqlite_service, tenant, tmp_path / "texts", refresh_interval=0.02)
    eventually(lambda: first.text() == "Be kind.\n")
    [copy] = eventually(lambda: list((tmp_path / "texts").iterdir()))
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert tenant.key not in copy.name
    eventually(lambda: any("if-none-match" in request["headers"] for request in documents(sqlite_service)))
    # Requests that are never passed on: a call that waited for them would never return.
    sqlite_service.fates({"do": "hold"})
    assert first.text() == "Be kind.\n"
    first.ledger.close(0)
    os.utime(copy, (0, 0))
    second = Reader(sqlite_service, tenant, tmp_path / "texts")
    sqlite_service.fates({"do": "hold"})
    assert second.text() == "Be kind.\n"
    second.ledger.close(0)
    third = Reader(sqlite_service, tenant, tmp_path / "others")
    sqlite_service.fates({"do": "hold"})
    assert third.text() == "Fallback."
    (tmp_path / "fallback.md").write_text("From a file.")
    assert third.text(fallback=tmp_path / "fallback.md") == "From a file."
    assert third.text(fallback=tmp_path / "missing.md") == ""
    assert len(third.errors) == 1 and "missing.md" in third.errors[0]
    sqlite_service.fates({"do": "pass"})
    eventually(lambda: third.text() == "Be kind.\n")
    third.ledger.close(0)
    assert first.errors == second.errors == []


@pytest.mark.parametrize("broken", ["", "{", "null", '{"document":{}}'])
def test_what_is_no_copy_is_reported_and_replaced(
    sqlite_service: LedgerService, tmp_path: Path, broken: str
) -> None:
    tenant = sqlite_service.delivering()
    first = Reader(sqlite_service, tenant, tmp_path)
    eventually(lambda: first.text() == "Be kind.\n")
    first.ledger.close()
    [copy] = eventually(lambda: list(tmp_path.iterdir()))
    copy.write_text(broken)
    second = Reader(sqlite_service, tenant, tmp_path)
    eventually(lambda: second.text() == "Be kind.\n")
    eventually(lambda: "Be kind" in copy.read_text())
    second.ledger.close()
    assert len(second.errors) == 1


def test_a_problem_is_reported_once_and_raised_never(sqlite_service: LedgerService, tmp_path: Path) -> None:
    tenant = sqlite_service.delivering()
    off = sqlite_service.tenant()
    reader = Reader(sqlite_service, Delivering(off.key, off.prompt, "", None, None), tmp_path, refresh_interval=0.01)
    assert reader.text() == "Fallback."
    eventually(lambda: len(documents(sqlite_service)) > 3)
    assert len(reader.errors) == 1 and "Text delivery is off" in reader.errors[0]
    reader.ledger.close()

    def fail(error: Exception) -> None:
        raise RuntimeError("from the application")

    other = Reader(sqlite_service, tenant, tmp_path, on_error=fail)
    sqlite_service.fates({"do": "refuse"})
    assert other.text() == "Fallback."
    other.ledger.close(0)


def test_no_argument_makes_a_call_raise(sqlite_service: LedgerService, tmp_path: Path) -> None:
    class Unnamable:
        def __str__(self) -> str:
            raise ValueError("from the application")

    reader = Reader(sqlite_service, sqlite_service.delivering(share=0.5), tmp_path)
    eventually(lambda: reader.ledger.prompts.text(P).version)
    text: Any = reader.ledger.prompts.text
    for options in ({"unit": Unnamable()}, {"fallback": 7}, {"fallback": tmp_path}, {"fallback": "a\0b"}):
        assert text(P, **options).text == "Be kind.\n"
        assert text("unknown", **options).text == ""
    prompts: list[Any] = [None, 7, [], {}]
    for prompt in prompts:
        assert text(prompt, fallback_text="Fallback.").text == "Fallback."


@pytest.mark.parametrize("interval", [float("nan"), -1, 0, float("inf"), 1e300])
def test_an_interval_that_cannot_be_waited_for_is_replaced(sqlite_service: LedgerService, interval: float) -> None:
    ledger = sqlite_service.ledger(sqlite_service.delivering(), delivery=DeliveryOptions(refresh_interval=interval))
    assert 15 <= ledger._delivery._interval() <= 86_400


def test_a_request_without_a_response_ends_also_without_a_timeout(sqlite_service: LedgerService) -> None:
    ledger = sqlite_service.ledger(sqlite_service.delivering(), timeout=None)
    delivery = ledger._delivery
    for transport in (delivery._transport, delivery._exposures._transport):
        assert transport.options.timeout_of(Operation("GET", "/delivery")) == 30


def test_a_vote_on_a_text_names_its_version_and_its_unit(service: LedgerService, tmp_path: Path) -> None:
    tenant = service.delivering(share=1)
    reader = Reader(service, tenant, tmp_path)
    ledger = reader.ledger
    eventually(lambda: ledger.prompts.text(P).version)
    ledger.signals.create(ledger.prompts.text(P, unit="user-1"), value="positive")
    with ledger.signals.queue() as votes:
        votes.add(ledger.prompts.text(P, unit="user-2"), value="negative", voter="user-3")
    recorded = list(ledger.signals.export(P))
    assert [(each["value"], each["version"]) for each in recorded] == [
        ("positive", tenant.candidate),
        ("negative", tenant.candidate),
    ]
    for voter, count in (("user-1", 1), ("user-2", 0), ("user-3", 1)):
        assert ledger.signals.preview_erasure(voter=voter)["matching"] == count
    ledger.close()


def test_a_coroutine_gets_a_text_without_a_thread_after_the_first_call(
    sqlite_service: LedgerService, tmp_path: Path
) -> None:
    tenant = sqlite_service.delivering(share=1)

    async def body() -> None:
        options = DeliveryOptions(folder=tmp_path)
        async with AsyncPromptledger(api_key=tenant.key, base_url=sqlite_service.proxy, delivery=options) as ledger:
            while (await ledger.prompts.text(P, unit="u", fallback_text="x")).version is None:
                await asyncio.sleep(0.01)
            ledger._threads.close()
            executor = ledger._threads._executor
            assert (await ledger.prompts.text(P, unit="u")).text == "Be very kind.\n"
            assert ledger._threads._executor is executor

    asyncio.run(body())
    assert sqlite_service.exposures(tenant)[0]["candidate"] == 1


def test_a_process_ends_without_close_and_sends_what_it_counted(sqlite_service: LedgerService, tmp_path: Path) -> None:
    tenant = sqlite_service.delivering(share=1)
    script = f"""
from promptledger import Promptledger
ledger = Promptledger()
while ledger.prompts.text({P!r}, unit="u").version is None: pass
import os
if os.fork() == 0:
    # A child counts for itself.
    ledger.prompts.text({P!r}, unit="u")
    raise SystemExit
os.wait()
"""
    env = {
        **os.environ,
        "PYTHONPATH": str(root / "clients/python/src"),
        "PROMPTLEDGER_KEY": tenant.key,
        "PROMPTLEDGER_URL": sqlite_service.address,
        "XDG_CACHE_HOME": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", script], env=env, check=True)
    assert sqlite_service.exposures(tenant) == [{"share": 1, "control": 0, "candidate": 2, "sources": 2}]
    assert len(list((tmp_path / "promptledger").iterdir())) == 1


def test_a_flag_of_openfeature_is_a_prompt_and_thumbs_are_votes(service: LedgerService, tmp_path: Path) -> None:
    pytest.importorskip("openfeature")
    api: Any = import_module("openfeature.api")
    context = import_module("openfeature.evaluation_context").EvaluationContext("user-1")
    event: Any = import_module("openfeature.track").TrackingEventDetails

    tenant = service.delivering(share=1)
    reader = Reader(service, tenant, tmp_path)
    eventually(lambda: reader.ledger.prompts.text(P).version)
    api.set_provider(create_provider(reader.ledger))
    client = api.get_client()
    details = client.get_string_details(P, "default", context)
    assert (details.value, details.variant, details.reason) == ("Be very kind.\n", tenant.candidate, "SPLIT")
    assert client.get_string_details("unknown", "default", context).value == "default"
    assert client.get_boolean_details(P, True, context).error_code == "TYPE_MISMATCH"
    vote = event(1, {"prompt": P, "version": details.variant, "model": "small"})
    client.track("thumbs", context, vote)
    client.track("purchase", context, vote)
    api.shutdown()
    [recorded] = reader.ledger.signals.export(P)
    assert (recorded["value"], recorded["version"], recorded["metadata"]) == (
        "positive",
        tenant.candidate,
        {"model": "small"},
    )
