"""The client of one Promptledger service, for asyncio."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Mapping, Optional, Union

from .async_generated import (
    AsyncAlerts,
    AsyncAudit,
    AsyncDeployments,
    AsyncHistory,
    AsyncImpact,
    AsyncInvitations,
    AsyncKeys,
    AsyncOrganisation,
    AsyncPeople,
    AsyncRegressions,
    AsyncRepositories,
    AsyncSegments,
    AsyncSession,
    AsyncSessions,
    AsyncShares,
    AsyncShifts,
    AsyncSources,
    AsyncTelemetry,
    AsyncTexts,
    AsyncTrials,
    AsyncUsage,
    AsyncVersions,
    AsyncVotes,
)
from .async_resources import AsyncPrompts, AsyncSignals, AsyncTimeline, AsyncTokens
from .client import Promptledger
from .not_given import NOT_GIVEN, NotGiven
from .prompt_text import DeliveryOptions
from .threads import Threads


class AsyncPromptledger:
    """Client of one Promptledger service for asyncio, with the same resources and methods as `Promptledger`.

    >>> ledger = AsyncPromptledger()  # reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY
    >>> await ledger.signals.create("prompts/support.md", value="positive")

    Requests run in up to `max_concurrency` threads; further calls wait for one. Cancelling a task ends its request.
    """

    prompts: AsyncPrompts
    history: AsyncHistory
    deployments: AsyncDeployments
    signals: AsyncSignals
    tokens: AsyncTokens
    votes: AsyncVotes
    impact: AsyncImpact
    timeline: AsyncTimeline
    versions: AsyncVersions
    segments: AsyncSegments
    regressions: AsyncRegressions
    shifts: AsyncShifts
    shares: AsyncShares
    trials: AsyncTrials
    texts: AsyncTexts
    telemetry: AsyncTelemetry
    alerts: AsyncAlerts
    sources: AsyncSources
    organisation: AsyncOrganisation
    usage: AsyncUsage
    keys: AsyncKeys
    people: AsyncPeople
    invitations: AsyncInvitations
    repositories: AsyncRepositories
    audit: AsyncAudit
    session: AsyncSession
    sessions: AsyncSessions

    def __init__(
        self,
        *,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        timeout: Optional[float] = 10.0,
        max_retries: int = 3,
        headers: Optional[Mapping[str, str]] = None,
        proxy: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        signing_key: Optional[str] = None,
        delivery: Optional[DeliveryOptions] = None,
        max_concurrency: int = 10,
    ) -> None:
        """Creates a client.

        Args:
            api_key: Defaults to the environment variable `PROMPTLEDGER_KEY`.
            base_url: URL of the service, such as `https://ledger.example.com`. Defaults to `PROMPTLEDGER_URL`.
            timeout: Seconds that one attempt may take. None disables the timeout.
            max_retries: How often to retry a failed attempt.
            headers: Additional request headers.
            proxy: URL of an HTTP proxy. Defaults to `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`; "" for none.
            ssl_context: Replaces `ssl.create_default_context()`, for example to trust an own authority.
            signing_key: Signs tokens for votes from browsers. Defaults to `PROMPTLEDGER_SIGNING_KEY`. A client that only signs
                needs neither `api_key` nor `base_url`.
            delivery: How `prompts.text` fetches and keeps texts.
            max_concurrency: Requests at the same time.
        """
        ledger = Promptledger(
            api_key=api_key,
            base_url=base_url,
            timeout=timeout,
            max_retries=max_retries,
            headers=headers,
            proxy=proxy,
            ssl_context=ssl_context,
            signing_key=signing_key,
            delivery=delivery,
        )
        self._use(ledger, Threads(max_concurrency))

    def _use(self, ledger: Promptledger, threads: Threads) -> None:
        self._ledger = ledger
        self._threads = threads
        self.prompts = AsyncPrompts(ledger, threads)
        self.history = AsyncHistory(ledger, threads)
        self.deployments = AsyncDeployments(ledger, threads)
        self.signals = AsyncSignals(ledger, threads)
        self.tokens = AsyncTokens(ledger)
        self.votes = AsyncVotes(ledger, threads)
        self.impact = AsyncImpact(ledger, threads)
        self.timeline = AsyncTimeline(ledger, threads)
        self.versions = AsyncVersions(ledger, threads)
        self.segments = AsyncSegments(ledger, threads)
        self.regressions = AsyncRegressions(ledger, threads)
        self.shifts = AsyncShifts(ledger, threads)
        self.shares = AsyncShares(ledger, threads)
        self.trials = AsyncTrials(ledger, threads)
        self.texts = AsyncTexts(ledger, threads)
        self.telemetry = AsyncTelemetry(ledger, threads)
        self.alerts = AsyncAlerts(ledger, threads)
        self.sources = AsyncSources(ledger, threads)
        self.organisation = AsyncOrganisation(ledger, threads)
        self.usage = AsyncUsage(ledger, threads)
        self.keys = AsyncKeys(ledger, threads)
        self.people = AsyncPeople(ledger, threads)
        self.invitations = AsyncInvitations(ledger, threads)
        self.repositories = AsyncRepositories(ledger, threads)
        self.audit = AsyncAudit(ledger, threads)
        self.session = AsyncSession(ledger, threads)
        self.sessions = AsyncSessions(ledger, threads)

    def with_options(
        self,
        *,
        timeout: Union[float, None, NotGiven] = NOT_GIVEN,
        max_retries: Union[int, NotGiven] = NOT_GIVEN,
        headers: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
    ) -> AsyncPromptledger:
        """Returns a client with other options and the same connections, for example for one call:

        >>> await ledger.with_options(timeout=2).usage.get()
        """
        client = AsyncPromptledger.__new__(AsyncPromptledger)
        client._use(
            self._ledger.with_options(timeout=timeout, max_retries=max_retries, headers=headers), self._threads
        )
        return client

    async def close(self, timeout: float = 5.0) -> None:
        """Closes the idle connections and ends the threads. Before, it sends what `prompts.text` has counted, for up to `timeout`
        seconds, and stops its requests. Queues close on their own.
        """
        await self._threads.run(lambda: self._ledger.close(timeout))
        self._threads.close()

    async def __aenter__(self) -> AsyncPromptledger:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncPromptledger {self._ledger._transport.base_url}>"
