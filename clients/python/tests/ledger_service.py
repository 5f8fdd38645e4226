"""The service that the tests run against, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional, TypeVar

from promptledger import Promptledger

Result = TypeVar("Result")

# Seconds until something that must happen counts as failed. Long, because machines that run tests can be busy.
patience = 300.0

root = Path(__file__).parents[3]
node = os.environ.get("PROMPTLEDGER_TEST_NODE", str(root / "node_modules/.bin/node"))


@dataclass(frozen=True)
class Tenant:
    """An organisation with a key and a prompt."""

    key: str
    prompt: str


@dataclass(frozen=True)
class Delivering(Tenant):
    """An organisation with delivered texts, and the trial on `prompts/p.md`, if any."""

    live: str
    trial: Optional[str]
    candidate: Optional[str]


class LedgerService:
    """The real service on a database of its own, behind a proxy that breaks requests as a test tells it to."""

    def __init__(self, engine: str) -> None:
        script = str(root / "clients/test/service.ts")
        self._process = subprocess.Popen([node, script, engine], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lock = threading.Lock()
        addresses = self._call("address")
        self.proxy: str = addresses["proxy"]
        self.address: str = addresses["service"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(patience)

    def _call(self, command: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps({"command": command, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        assert line, "the service ended"
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def tenant(self, plan: str = "free", role: str = "standard") -> Tenant:
        return Tenant(**self._call("tenant", plan=plan, role=role))

    def delivering(self, share: Optional[float] = None) -> Delivering:
        return Delivering(**self._call("delivering", share=share))

    def exposures(self, tenant: Delivering) -> list[dict[str, Any]]:
        exposures: list[dict[str, Any]] = self._call("exposures", key=tenant.key, trial=tenant.trial)
        return exposures

    def key(self, tenant: Tenant, role: str) -> str:
        key: str = self._call("key", key=tenant.key, role=role)
        return key

    def ledger(self, tenant: Tenant, **options: Any) -> Promptledger:
        """A client that reaches the service through the proxy, which passes every request on until a test says
        otherwise. Without a short timeout: a busy machine would cause retries that a test does not expect.
        """
        self.fates({"do": "pass"})
        settings: dict[str, Any] = {"api_key": tenant.key, "base_url": self.proxy, "timeout": patience, **options}
        return Promptledger(**settings)

    def first(self, *fates: dict[str, Any]) -> None:
        """Applies these fates to the next requests and passes all later ones on."""
        self.fates(*fates, {"do": "pass"})

    def fates(self, *fates: dict[str, Any], every: bool = False, path: Optional[str] = None) -> None:
        """Applies these fates to the next requests, and the last one to all later ones. Forgets earlier requests."""
        self._call("fates", fates=fates, every=every, path=path)

    def release(self) -> None:
        """Passes on the requests whose fate is `hold`."""
        self._call("release")

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The requests since the last call of `fates`."""
        requests: list[dict[str, Any]] = self._call("requests")["requests"]
        return requests

    @property
    def in_flight(self) -> int:
        in_flight: int = self._call("requests")["inFlight"]
        return in_flight

    def close_proxy(self) -> None:
        self._call("closeProxy")

    def open_proxy(self) -> None:
        self._call("openProxy")

    def use_real_clock(self) -> None:
        self._call("clock")

    def use_clock(self, now: str) -> None:
        self._call("clock", now=now)

    def fill_month(self, tenant: Tenant, count: int) -> None:
        """Imports signals of the current month, which no limit applies to."""
        self._call("fillMonth", key=tenant.key, count=count)

    def used(self, tenant: Tenant) -> int:
        used: int = self._call("used", key=tenant.key)
        return used

    def set_plan(self, tenant: Tenant, plan: str) -> None:
        self._call("setPlan", key=tenant.key, plan=plan)

    def add_entries(self, tenant: Tenant, first: int, count: int) -> None:
        """Records history entries on the branches `b<number>`, one second after the other."""
        self._call("entries", key=tenant.key, first=first, count=count)

    def open_regression(self, tenant: Tenant) -> int:
        """Stores a regression and a shift, and returns the ID of the change that is their cause."""
        entry_id: int = self._call("regression", key=tenant.key)
        return entry_id

    def receiver(self) -> str:
        """Starts a server that accepts every message, and returns its URL."""
        url: str = self._call("receiver")
        return url

    def failed_delivery(self, tenant: Tenant) -> str:
        """Stores a delivery of the tenant's only alert that failed, and returns its ID."""
        delivery_id: str = self._call("failedDelivery", key=tenant.key)
        return delivery_id

    def git_repository(self) -> dict[str, str]:
        repository: dict[str, str] = self._call("repository")
        return repository

    def rename_repository(self, url: str) -> str:
        renamed: str = self._call("rename", url=url)
        return renamed

    def deliver(self, url: str, secret: str, repository_id: int) -> None:
        self._call("deliver", url=url, secret=secret, repositoryId=repository_id)

    def recorded_numbers(self, tenant: Tenant) -> list[int]:
        """The `number` in the metadata of each recorded signal, in ascending order."""
        ledger = Promptledger(api_key=tenant.key, base_url=self.address)
        signals = list(ledger.signals.export(tenant.prompt))
        return sorted(signal["metadata"]["number"] for signal in signals if signal["metadata"])


def eventually(check: Callable[[], Result]) -> Result:
    """Repeats `check` until it returns something true."""
    end = time.monotonic() + patience
    while True:
        result = check()
        if result:
            return result
        assert time.monotonic() < end, f"still {result!r} after {patience} s"
        time.sleep(0.02)
