"""The client of one Promptledger service."""

from __future__ import annotations

import ssl
from types import TracebackType
from typing import Mapping, Optional, Union

from .api_key import read_api_key
from .base_url import NO_URL, read_base_url
from .connection import Connections
from .delivery import Delivery
from .generated import (
    Alerts,
    Audit,
    Deployments,
    History,
    Impact,
    Invitations,
    Keys,
    Organisation,
    People,
    Regressions,
    Repositories,
    Segments,
    Session,
    Sessions,
    Shares,
    Shifts,
    Sources,
    Telemetry,
    Texts,
    Trials,
    Usage,
    Versions,
    Votes,
)
from .not_given import NOT_GIVEN, NotGiven, given
from .prompt_text import DeliveryOptions
from .proxy import find_proxy
from .resources.prompts import Prompts
from .resources.signals import Signals
from .resources.timeline import Timeline
from .resources.tokens import Tokens
from .signing_key import SigningKey, read_signing_key
from .transport import RequestOptions, Transport


class Promptledger:
    """Client of one Promptledger service, with one attribute per resource.

    >>> ledger = Promptledger()  # reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY
    >>> ledger.signals.create("prompts/support.md", value="positive")

    Safe for use by several threads. Connections are kept open for later calls; `close()`, or the end of a `with` block,
    closes them.
    """

    prompts: Prompts
    history: History
    deployments: Deployments
    signals: Signals
    tokens: Tokens
    votes: Votes
    impact: Impact
    timeline: Timeline
    versions: Versions
    segments: Segments
    regressions: Regressions
    shifts: Shifts
    shares: Shares
    trials: Trials
    texts: Texts
    telemetry: Telemetry
    alerts: Alerts
    sources: Sources
    organisation: Organisation
    usage: Usage
    keys: Keys
    people: People
    invitations: Invitations
    repositories: Repositories
    audit: Audit
    session: Session
    sessions: Sessions

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
        """
        signer = read_signing_key(signing_key)
        key = read_api_key(api_key, may_be_missing=signer is not None)
        url = NO_URL if key.is_missing and not base_url else read_base_url(base_url)
        connections = Connections(url, find_proxy(url, proxy), ssl_context)
        options = RequestOptions(timeout=timeout, max_retries=max_retries, headers=dict(headers or {}))
        transport = Transport(url, key, connections, options)
        self._use(transport, signer, Delivery(transport, delivery or DeliveryOptions()))

    def _use(self, transport: Transport, signing_key: Optional[SigningKey], delivery: Delivery) -> None:
        self._transport = transport
        self._signing_key = signing_key
        self._delivery = delivery
        self.prompts = Prompts(transport, delivery)
        self.history = History(transport)
        self.deployments = Deployments(transport)
        self.signals = Signals(transport)
        self.tokens = Tokens(signing_key)
        self.votes = Votes(transport)
        self.impact = Impact(transport)
        self.timeline = Timeline(transport)
        self.versions = Versions(transport)
        self.segments = Segments(transport)
        self.regressions = Regressions(transport)
        self.shifts = Shifts(transport)
        self.shares = Shares(transport)
        self.trials = Trials(transport)
        self.texts = Texts(transport)
        self.telemetry = Telemetry(transport)
        self.alerts = Alerts(transport)
        self.sources = Sources(transport)
        self.organisation = Organisation(transport)
        self.usage = Usage(transport)
        self.keys = Keys(transport)
        self.people = People(transport)
        self.invitations = Invitations(transport)
        self.repositories = Repositories(transport)
        self.audit = Audit(transport)
        self.session = Session(transport)
        self.sessions = Sessions(transport)

    def with_options(
        self,
        *,
        timeout: Union[float, None, NotGiven] = NOT_GIVEN,
        max_retries: Union[int, NotGiven] = NOT_GIVEN,
        headers: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
    ) -> Promptledger:
        """Returns a client with other options and the same connections, for example for one call:

        >>> ledger.with_options(timeout=2).usage.get()

        `headers` are sent in addition to those of this client.
        """
        options = given({"own_timeout": timeout, "max_retries": max_retries})
        if not isinstance(headers, NotGiven):
            names = {name.lower() for name in headers}
            kept = {name: text for name, text in self._transport.options.headers.items() if name.lower() not in names}
            options["headers"] = {**kept, **headers}
        client = Promptledger.__new__(Promptledger)
        client._use(self._transport.with_options(**options), self._signing_key, self._delivery)
        return client

    def close(self, timeout: float = 5.0) -> None:
        """Closes the idle connections. Before, it sends what `prompts.text` has counted, for up to `timeout` seconds, and stops its
        requests. Queues close on their own.
        """
        self._delivery.close(timeout)
        self._transport.close()

    def __enter__(self) -> Promptledger:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Promptledger {self._transport.base_url}>"
