"""Lists, page by page and as a whole."""

from __future__ import annotations

import pytest

from ledger_service import LedgerService, Tenant
from promptledger import ConnectionError, NotFoundError


def tenant_with(service: LedgerService, count: int) -> Tenant:
    tenant = service.tenant()
    service.add_entries(tenant, 0, count)
    return tenant


def branches(newest: int, oldest: int) -> list[str]:
    return [f"b{number}" for number in range(newest, oldest - 1, -1)]


def test_a_page_has_the_items_and_the_position_in_the_list(service: LedgerService) -> None:
    tenant = tenant_with(service, 60)
    ledger = service.ledger(tenant)
    first = ledger.history.list(tenant.prompt).page()
    assert [entry["branch_name"] for entry in first.data] == branches(59, 35)
    assert first.pagination == {"current_page": 1, "total_pages": 3, "total_count": 60, "per_page": 25}
    last = ledger.history.list(tenant.prompt, page=6, limit=11).page()
    assert [entry["branch_name"] for entry in last.data] == branches(4, 0)
    assert len(service.requests) == 2


def test_iterating_over_a_list_returns_every_item_in_order(service: LedgerService) -> None:
    tenant = tenant_with(service, 205)
    ledger = service.ledger(tenant)
    assert [entry["branch_name"] for entry in ledger.history.list(tenant.prompt)] == branches(204, 0)
    # Pages of 100, the largest that the API serves.
    assert len(service.requests) == 3
    some = [entry["branch_name"] for entry in ledger.history.list(tenant.prompt, page=3, limit=90)]
    assert some == branches(24, 0)
    assert [entry["branch_name"] for entry in ledger.history.list(tenant.prompt, page=8)] == branches(29, 0)


def test_iterating_over_an_empty_list_returns_no_items(sqlite_service: LedgerService) -> None:
    tenant = sqlite_service.tenant()
    ledger = sqlite_service.ledger(tenant)
    assert list(ledger.history.list(tenant.prompt)) == []
    assert list(ledger.impact.list(tenant.prompt)) == []
    assert len(sqlite_service.requests) == 2


def test_a_list_sends_no_request_before_it_is_used_and_can_be_iterated_again(sqlite_service: LedgerService) -> None:
    tenant = tenant_with(sqlite_service, 3)
    pages = sqlite_service.ledger(tenant).history.list(tenant.prompt)
    assert sqlite_service.requests == []
    assert list(pages) == list(pages) == pages.page().data


def test_items_added_during_an_iteration_do_not_make_it_repeat_any(service: LedgerService) -> None:
    tenant = tenant_with(service, 50)
    seen = []
    for entry in service.ledger(tenant).history.list(tenant.prompt, limit=10):
        seen.append(entry["branch_name"])
        if len(seen) == 5:
            service.add_entries(tenant, 50, 3)
        if len(seen) == 25:
            service.add_entries(tenant, 53, 25)
    assert seen == branches(49, 0)


def test_iterating_over_the_impact_returns_each_change_once(service: LedgerService) -> None:
    tenant = tenant_with(service, 25)
    changes = service.ledger(tenant).impact.list(tenant.prompt, limit=10)
    assert [change["entry"]["branch_name"] for change in changes] == branches(24, 0)


def test_a_failed_request_raises_from_the_page_and_from_the_iteration(sqlite_service: LedgerService) -> None:
    tenant = tenant_with(sqlite_service, 30)
    ledger = sqlite_service.ledger(tenant, max_retries=0)
    with pytest.raises(NotFoundError):
        ledger.history.list("pmt_none").page()
    with pytest.raises(NotFoundError):
        list(ledger.history.list("pmt_none"))
    sqlite_service.first({"do": "pass"}, {"do": "cut"})
    seen = []
    with pytest.raises(ConnectionError):
        for entry in ledger.history.list(tenant.prompt, limit=20):
            seen.append(entry["branch_name"])
    assert len(seen) == 20
