"""Positive and negative votes on a prompt's output."""

from __future__ import annotations

import os
from typing import Any, List, Literal, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from .. import generated
from ..batch import SignalResult, send_batch
from ..errors import ConnectionError
from ..models import BatchSignal, RecordedSignal, Signal, SignalValue, Summary
from ..page import Pages, SignalPage
from ..prompt_text import PromptText, signal_on
from ..queued_signal import QueuedSignal
from ..signal_body import create_idempotency_key, signal_body
from ..signal_queue import OnError, Sender, SignalQueue
from ..stream import Stream, stream_csv, stream_items
from ..times import Time
from ..transport import Operation

Side = Literal["before", "after"]
"""The signals that count for a change, or for the one that was live before it."""

# About a minute of retries: no caller waits for a queued signal.
_queue_max_retries = 10


class Signals(generated.Signals):
    """Positive and negative votes on a prompt's output."""

    def create(
        self,
        prompt: Union[str, PromptText],
        *,
        value: Optional[SignalValue],
        metadata: Optional[Mapping[str, Any]] = None,
        version: Union[str, int, None] = None,
        subject: Optional[str] = None,
        voter: Optional[str] = None,
        comment: Optional[str] = None,
        occurred_at: Optional[Time] = None,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> RecordedSignal:
        """Records a signal. Returns when it is stored durably. Retries never count it twice.

        A prompt has one vote per `subject`: a further one replaces it, and the `value` None withdraws it. `version` is
        the commit or the history entry that produced the output. Of the `voter`, only a hash is stored. Calls with the
        same `idempotency_key`, prompt and signal count once; by default each call has a random key. For a text from
        `prompts.text`, its version and unit are recorded too.
        """
        prompt, version, voter = signal_on(prompt, version, voter)
        body = signal_body(value, metadata, version, subject, voter, comment, occurred_at)
        return self._create(prompt, body, idempotency_key, traceparent)

    def create_many(self, signals: Sequence[BatchSignal]) -> List[SignalResult]:
        """Records up to 1,000 signals, of any prompts, in one request, and returns the result of each, in order.

        Retries never count a signal twice.
        """
        return send_batch(self._transport, signals)

    def withdraw(
        self,
        prompt: str,
        subject: str,
        *,
        idempotency_key: Optional[str] = None,
        traceparent: Optional[str] = None,
    ) -> RecordedSignal:
        """Withdraws the vote on a subject. Not found if there is none."""
        return self._create(prompt, {"value": None, "subject": subject}, idempotency_key, traceparent)

    def queue(
        self,
        *,
        max_size: int = 10_000,
        concurrency: int = 5,
        spool: Union[None, str, "os.PathLike[str]"] = None,
        retry_delay: float = 30.0,
        max_retries: int = _queue_max_retries,
        exit_timeout: Optional[float] = 5.0,
        on_error: Optional[OnError] = None,
    ) -> SignalQueue:
        """Creates a queue that sends signals in the background.

        It holds up to `max_size` signals, and has up to `concurrency` requests in flight. The file `spool` holds
        signals that cannot be sent now: while offline, over the monthly limit, or when the process ends. They are sent
        again after `retry_delay` seconds. `on_error` is called with each dropped signal, and with None when the spool
        fails; by default the queue logs a warning. When the interpreter exits, the queue closes within `exit_timeout` seconds.
        """
        # A client that only signs has no key. The queue would drop every signal, even those of the spool.
        self._transport.require_key()
        transport = self._transport.with_options(max_retries=max_retries)
        signals = Signals(transport)

        def create(queued: QueuedSignal) -> None:
            signals._create(queued.prompt, queued.body(), queued.key, queued.traceparent)

        return SignalQueue(
            Sender(create, lambda bodies: send_batch(transport, bodies)),
            max_size=max_size,
            concurrency=concurrency,
            spool=spool,
            retry_delay=retry_delay,
            exit_timeout=exit_timeout,
            on_error=on_error,
        )

    def list(
        self,
        prompt: str,
        *,
        value: Optional[SignalValue] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        version: Optional[str] = None,
        comment: Optional[Literal["any"]] = None,
        q: Optional[str] = None,
        change: Optional[int] = None,
        side: Optional[Side] = None,
        metadata: Optional[Mapping[str, str]] = None,
        cursor: Optional[str] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Signal, SignalPage]:
        """Lists signals, newest first.

        Deleting signals while you iterate can hide others; `export` returns all of them.

        `comment="any"` leaves only signals with a comment, `q` those whose comment contains it, and `metadata` those
        with these members. Iterating such a search continues it to its end. `change`, the ID of a history entry, with
        `side="after"` leaves only the signals that its impact counts for it, with `side="before"` those that it
        compares them with.
        """
        query = {
            **_filter(value, since, until, version, comment, q, change, side, metadata),
            "cursor": cursor,
            "page": page,
            "limit": limit,
        }
        return Pages(
            self._transport,
            _path_of(prompt),
            query,
            lambda body: SignalPage(body["data"], body["pagination"], body.get("search"), body.get("change")),
        )

    def export(
        self,
        prompt: str,
        *,
        value: Optional[SignalValue] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        version: Optional[str] = None,
        comment: Optional[Literal["any"]] = None,
        q: Optional[str] = None,
        change: Optional[int] = None,
        side: Optional[Side] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> Stream[Signal]:
        """Streams all signals, oldest first. The timeout limits the wait for each part of the response.

        An export that breaks off raises a `ConnectionError`, and is not retried.
        """
        query = _filter(value, since, until, version, comment, q, change, side, metadata)
        return stream_items(self._transport, f"{_path_of(prompt)}/export", query)

    def export_csv(
        self,
        prompt: str,
        *,
        value: Optional[SignalValue] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        version: Optional[str] = None,
        comment: Optional[Literal["any"]] = None,
        q: Optional[str] = None,
        change: Optional[int] = None,
        side: Optional[Side] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> Stream[str]:
        """The same as the text of a CSV file, in chunks."""
        query = _filter(value, since, until, version, comment, q, change, side, metadata)
        return stream_csv(self._transport, f"{_path_of(prompt)}/export", query)

    def summary(
        self,
        prompt: str,
        *,
        from_: Optional[Time] = None,
        to: Optional[Time] = None,
        interval: Optional[Literal["hour", "day", "week", "auto"]] = None,
        split: Optional[Literal["changes"]] = None,
        by: Optional[str] = None,
    ) -> Summary:
        """Counts signals by hour, day or week, or with the `interval` `auto` by the one that suits the range.

        `split="changes"` splits intervals where changes went live, and says which version was live in each part.
        `by="metadata.model"` adds the five largest segments by this declared key.
        """
        query = {"from": from_, "to": to, "interval": interval, "split": split, "by": by}
        summary: Summary = self._transport.json(Operation("GET", f"{_path_of(prompt)}/summary", query=query))
        if not isinstance(summary.get("total"), dict):
            raise ConnectionError("The response is no summary: base_url points to another server")
        return summary

    def _create(
        self, prompt: str, body: Mapping[str, Any], idempotency_key: Optional[str], traceparent: Optional[str]
    ) -> RecordedSignal:
        key = create_idempotency_key() if idempotency_key is None else idempotency_key
        headers = {"Idempotency-Key": key, **({} if traceparent is None else {"traceparent": traceparent})}
        operation = Operation("POST", _path_of(prompt), body=body, headers=headers, is_idempotent=True)
        recorded: RecordedSignal = self._transport.data(operation)
        return recorded


def _path_of(prompt: str) -> str:
    return f"/prompts/{quote(prompt, safe='')}/signals"


def _filter(
    value: Optional[SignalValue],
    since: Optional[Time],
    until: Optional[Time],
    version: Optional[str],
    comment: Optional[Literal["any"]],
    q: Optional[str],
    change: Optional[int],
    side: Optional[Side],
    metadata: Optional[Mapping[str, str]],
) -> dict[str, Any]:
    """Each member of `metadata` is a parameter of its own."""
    members = {f"metadata.{name}": text for name, text in (metadata or {}).items()}
    return {
        "value": value,
        "since": since,
        "until": until,
        "version": version,
        "comment": comment,
        "q": q,
        "change": change,
        "side": side,
        **members,
    }
