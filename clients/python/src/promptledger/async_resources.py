"""The resources of the client, for asyncio: the same methods, as coroutine functions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Callable

from .async_queue import AsyncSignalQueue
from .client import Promptledger
from .signal_queue import SignalQueue
from .threads import Threads

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    Parameters = ParamSpec("Parameters")


class AsyncPrompts:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.prompts.list)
        self.get = threads.awaitable(ledger.prompts.get)
        self.create = threads.awaitable(ledger.prompts.create)
        self.rename = threads.awaitable(ledger.prompts.rename)
        self.delete = threads.awaitable(ledger.prompts.delete)


class AsyncHistory:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.history.list)
        self.get = threads.awaitable(ledger.history.get)
        self.find = threads.awaitable(ledger.history.find)
        self.record = threads.awaitable(ledger.history.record)
        self.live = threads.awaitable(ledger.history.live)


class AsyncDeployments:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.deployments.list)
        self.record = threads.awaitable(ledger.deployments.record)
        self.list_of_repository = threads.pages(ledger.deployments.list_of_repository)
        self.record_of_repository = threads.awaitable(ledger.deployments.record_of_repository)


class AsyncSignals:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.create = threads.awaitable(ledger.signals.create)
        self.create_many = threads.awaitable(ledger.signals.create_many)
        self.withdraw = threads.awaitable(ledger.signals.withdraw)
        self.queue = _queue(ledger.signals.queue)
        self.list = threads.pages(ledger.signals.list)
        self.export = threads.stream(ledger.signals.export)
        self.export_csv = threads.stream(ledger.signals.export_csv)
        self.summary = threads.awaitable(ledger.signals.summary)
        self.delete = threads.awaitable(ledger.signals.delete)
        self.erase = threads.awaitable(ledger.signals.erase)
        self.preview_erasure = threads.awaitable(ledger.signals.preview_erasure)


class AsyncTokens:
    def __init__(self, ledger: Promptledger) -> None:
        # Sends no request, so it is no coroutine function.
        self.sign = ledger.tokens.sign


class AsyncVotes:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.create = threads.awaitable(ledger.votes.create)


class AsyncImpact:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.impact.list)


class AsyncTimeline:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.timeline.list)
        self.get = threads.awaitable(ledger.timeline.get)
        self.export = threads.stream(ledger.timeline.export)
        self.export_csv = threads.stream(ledger.timeline.export_csv)


class AsyncVersions:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.versions.list)
        self.search = threads.pages(ledger.versions.search)
        self.blame = threads.awaitable(ledger.versions.blame)


class AsyncSegments:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.get = threads.awaitable(ledger.segments.get)
        self.declare = threads.awaitable(ledger.segments.declare)
        self.of_prompt = threads.awaitable(ledger.segments.of_prompt)
        self.declare_for_prompt = threads.awaitable(ledger.segments.declare_for_prompt)


class AsyncRegressions:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.regressions.list)
        self.list_of_prompt = threads.pages(ledger.regressions.list_of_prompt)
        self.get = threads.awaitable(ledger.regressions.get)
        self.dismiss = threads.awaitable(ledger.regressions.dismiss)


class AsyncShifts:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.shifts.list)
        self.list_of_prompt = threads.pages(ledger.shifts.list_of_prompt)


class AsyncShares:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.shares.list)
        self.list_of_prompt = threads.pages(ledger.shares.list_of_prompt)
        self.create = threads.awaitable(ledger.shares.create)
        self.revoke = threads.awaitable(ledger.shares.revoke)


class AsyncAlerts:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.alerts.list)
        self.get = threads.awaitable(ledger.alerts.get)
        self.add = threads.awaitable(ledger.alerts.add)
        self.update = threads.awaitable(ledger.alerts.update)
        self.remove = threads.awaitable(ledger.alerts.remove)
        self.test = threads.awaitable(ledger.alerts.test)
        self.rotate_secret = threads.awaitable(ledger.alerts.rotate_secret)
        self.deliveries = threads.pages(ledger.alerts.deliveries)
        self.deliveries_of = threads.pages(ledger.alerts.deliveries_of)
        self.retry = threads.awaitable(ledger.alerts.retry)


class AsyncOrganisation:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.get = threads.awaitable(ledger.organisation.get)
        self.rename = threads.awaitable(ledger.organisation.rename)


class AsyncUsage:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.get = threads.awaitable(ledger.usage.get)


class AsyncKeys:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.keys.list)
        self.create = threads.awaitable(ledger.keys.create)
        self.rotate = threads.awaitable(ledger.keys.rotate)
        self.revoke = threads.awaitable(ledger.keys.revoke)


class AsyncRepositories:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.repositories.list)
        self.get = threads.awaitable(ledger.repositories.get)
        self.connect = threads.awaitable(ledger.repositories.connect)
        self.update = threads.awaitable(ledger.repositories.update)
        self.disconnect = threads.awaitable(ledger.repositories.disconnect)
        self.sync = threads.awaitable(ledger.repositories.sync)
        self.rotate_secret = threads.awaitable(ledger.repositories.rotate_secret)
        self.deliveries = threads.pages(ledger.repositories.deliveries)
        self.redeliver = threads.awaitable(ledger.repositories.redeliver)


class AsyncAudit:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.list = threads.pages(ledger.audit.list)


class AsyncSession:
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        self.get = threads.awaitable(ledger.session.get)


def _queue(function: Callable[Parameters, SignalQueue]) -> Callable[Parameters, AsyncSignalQueue]:
    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AsyncSignalQueue:
        return AsyncSignalQueue(function(*args, **kwargs))

    return call
