"""Starts the service from the checkout."""

from __future__ import annotations

import os
from typing import Callable, Iterator

import pytest

from ledger_service import LedgerService

# As in the tests of the service: "all" runs them on both engines.
engines = {"sqlite": ["sqlite"], "all": ["sqlite", "postgres"]}.get(os.environ.get("TEST_ENGINES", ""), ["postgres"])


@pytest.fixture(scope="session")
def services() -> Iterator[Callable[[str], LedgerService]]:
    """The service on an engine, started when the first test needs it."""
    running: dict[str, LedgerService] = {}

    def start(engine: str) -> LedgerService:
        if engine not in running:
            running[engine] = LedgerService(engine)
        running[engine].fates({"do": "pass"})
        return running[engine]

    yield start
    for service in running.values():
        service.close()


@pytest.fixture(params=engines)
def service(request: pytest.FixtureRequest, services: Callable[[str], LedgerService]) -> LedgerService:
    """For guarantees that depend on the service."""
    return services(request.param)


@pytest.fixture
def sqlite_service(services: Callable[[str], LedgerService]) -> LedgerService:
    """For what only the client decides."""
    return services("sqlite")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the developer's shell must not change a result."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("PROMPTLEDGER_") and name != "PROMPTLEDGER_TEST_NODE":
            monkeypatch.delenv(name)
