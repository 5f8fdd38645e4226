"""The client for asyncio."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, AsyncIterator, Awaitable, Callable, TypeVar

import pytest

from ledger_service import LedgerService, Tenant, eventually, patience
from promptledger import AsyncPromptledger, NotFoundError, PromptledgerError, TimeoutError

Result = TypeVar("Result")


async def in_thread(function: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(None, function)


def ledger_of(service: LedgerService, tenant: Tenant, **options: Any) -> AsyncPromptledger:
    service.fates({"do": "pass"})
    settings: dict[str, Any] = {"api_key": tenant.key, "base_url": service.proxy, "timeout": patience, **options}
    return AsyncPromptledger(**settings)


def run(body: Callable[[], Awaitable[None]]) -> None:
    async def main() -> None:
        await asyncio.wait_for(body(), patience)

    asyncio.run(main())


def test_signals_are_recorded_listed_exported_and_withdrawn(service: LedgerService) -> None:
    tenant = service.tenant()

    async def body() -> None:
        async with ledger_of(service, tenant) as ledger:
            recorded = await ledger.signals.create(tenant.prompt, value="positive", subject="s-1", comment="日本 🙂")
            (result,) = await ledger.signals.create_many([{"prompt": tenant.prompt, "value": "negative"}])
            assert result.error is None
            page = await ledger.signals.list(tenant.prompt)
            assert page == await ledger.signals.list(tenant.prompt).page()
            assert page.pagination["total_count"] == 2
            listed = [signal async for signal in ledger.signals.list(tenant.prompt, limit=1)]
            assert listed == page.data and listed[1]["id"] == recorded["id"]
            assert [signal["id"] async for signal in ledger.signals.export(tenant.prompt)] == [
                signal["id"] for signal in reversed(listed)
            ]
            csv = "".join([text async for text in ledger.signals.export_csv(tenant.prompt)])
            assert "日本 🙂" in csv
            await ledger.signals.withdraw(tenant.prompt, "s-1")
            assert (await ledger.usage.get())["used"] == 2

    run(body)


def test_errors_and_retries_are_those_of_the_client(service: LedgerService) -> None:
    tenant = service.tenant()

    async def body() -> None:
        ledger = ledger_of(service, tenant)
        service.first({"do": "cut"}, {"do": "respond", "status": 503})
        await ledger.signals.create(tenant.prompt, value="positive")
        assert len(service.requests) == 3 and service.used(tenant) == 1
        with pytest.raises(NotFoundError):
            await ledger.prompts.get("pmt_none")
        with pytest.raises(NotFoundError):
            async for _ in ledger.history.list("pmt_none"):
                pass
        service.fates({"do": "delay", "milliseconds": 500})
        with pytest.raises(TimeoutError):
            await ledger.with_options(timeout=0.1, max_retries=0).usage.get()
        await ledger.close()

    run(body)


def test_calls_do_not_block_the_event_loop_and_at_most_max_concurrency_run_at_a_time(
    sqlite_service: LedgerService,
) -> None:
    tenant = sqlite_service.tenant()

    async def body() -> None:
        ledger = ledger_of(sqlite_service, tenant, max_concurrency=3)
        sqlite_service.fates({"do": "hold"})
        calls = [asyncio.ensure_future(ledger.usage.get()) for _ in range(9)]
        # The loop continues while the service holds them.
        assert await in_thread(lambda: eventually(lambda: sqlite_service.in_flight == 3))
        done, _ = await asyncio.wait(calls, timeout=0.2)
        assert (done, len(sqlite_service.requests)) == (set(), 3)
        sqlite_service.fates({"do": "pass"})
        await asyncio.gather(*calls)
        assert len(sqlite_service.requests) == 6
        await ledger.close()

    run(body)


def test_a_cancelled_call_ends_its_request_at_once_and_is_not_retried(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()

    async def body() -> None:
        ledger = ledger_of(sqlite_service, tenant, max_concurrency=1, timeout=None)
        sqlite_service.fates({"do": "hold"}, {"do": "pass"})
        call = asyncio.ensure_future(ledger.usage.get())
        assert await in_thread(lambda: eventually(lambda: len(sqlite_service.requests) == 1))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        # Its thread is free for the next call.
        assert (await ledger.usage.get())["used"] == 0
        assert len(sqlite_service.requests) == 2
        # Between two attempts.
        sqlite_service.fates({"do": "respond", "status": 503, "headers": {"Retry-After": "59"}}, {"do": "pass"})
        call = asyncio.ensure_future(ledger.usage.get())
        assert await in_thread(
            lambda: eventually(lambda: len(sqlite_service.requests) == 1 and sqlite_service.in_flight == 0)
        )
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await ledger.usage.get())["used"] == 0
        # The cancelled call sent no second request.
        assert len(sqlite_service.requests) == 2
        await ledger.close()

    run(body)


def test_an_export_ends_when_its_reader_stops_or_is_cancelled(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()
    sqlite_service.fill_month(tenant, 10_000)

    async def body() -> None:
        ledger = ledger_of(sqlite_service, tenant)
        sqlite_service.fates({"do": "stall", "after": 100_000})
        export: AsyncIterator[Any] = ledger.signals.export(tenant.prompt)
        assert (await export.__anext__())["value"] == "positive"
        await export.aclose()  # type: ignore[attr-defined]
        assert eventually(lambda: sqlite_service.in_flight == 0)

        async def read() -> None:
            async for _ in ledger.signals.export(tenant.prompt):
                pass

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(read(), 1)
        assert eventually(lambda: sqlite_service.in_flight == 0)
        await ledger.close()

    run(body)


def test_a_queue_is_added_to_without_waiting_and_flushed_without_blocking(
    service: LedgerService, tmp_path: Path
) -> None:
    tenant = service.tenant()
    errors: list[Any] = []

    async def body() -> None:
        ledger = ledger_of(service, tenant)
        service.fates({"do": "hold"})
        options: Any = {"spool": tmp_path / "votes.spool", "on_error": lambda *call: errors.append(call)}
        async with ledger.signals.queue(**options) as queue:
            for number in range(20):
                assert queue.add(tenant.prompt, value="positive", metadata={"number": number})
            assert queue.size == 20
            service.fates({"do": "pass"})
            assert await queue.flush()
            assert queue.size == 0
            queue.add(tenant.prompt, value="positive", metadata={"number": 20})
        await ledger.close()

    run(body)
    assert errors == []
    assert service.recorded_numbers(tenant) == list(range(21))


def test_a_client_can_be_used_in_one_event_loop_after_another(sqlite_service: LedgerService) -> None:
    ledger = ledger_of(sqlite_service, sqlite_service.tenant())

    async def body() -> None:
        assert (await ledger.usage.get())["used"] == 0

    run(body)
    run(body)
    assert "plk_" not in repr(ledger) and sqlite_service.proxy in repr(ledger)
    assert issubclass(NotFoundError, PromptledgerError)
