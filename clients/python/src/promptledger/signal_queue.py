"""Sends signals in the background."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from types import TracebackType
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Optional, Sequence, Union

from .batch import SignalResult
from .cancellation import CallCancelled, Cancellation, use_cancellation
from .errors import PromptledgerError, RateLimitedError, TimeoutError, UnauthorizedError
from .fork import reset_after_fork
from .json_text import decode_json, encode_json
from .models import SignalValue
from .prompt_text import PromptText, signal_on
from .queued_signal import QueuedSignal
from .retry import is_transient
from .signal_body import create_idempotency_key, signal_body
from .spool import Spool
from .times import Time

OnError = Callable[[Exception, Optional[QueuedSignal]], None]

_log = logging.getLogger("promptledger")
_max_batch_size = 500
# Below the limit of a request.
_max_batch_bytes = 750_000
# How long close() waits for requests that it has just cancelled.
_cancel_seconds = 1.0


class Sender(NamedTuple):
    """How the queue sends."""

    create: Callable[[QueuedSignal], Any]
    create_many: Callable[[Sequence[Mapping[str, Any]]], list[SignalResult]]


class _Pending:
    """A signal in the queue."""

    __slots__ = ("queued", "subject", "size", "is_alone")

    def __init__(self, queued: QueuedSignal) -> None:
        self.queued = queued
        subject = queued.signal.get("subject")
        # As text, because callers without types may pass a value that no set can hold.
        self.subject = None if subject is None else str(subject)
        self.size = len(encode_json(queued.body()))
        self.is_alone = False


class _SendAlone(Exception):
    """For a signal of a batch that failed: in a request of its own it is recorded, retried, or gets its own error."""


class SignalQueue:
    """Sends signals in the background, so that users never wait for the service.

    Create it with `ledger.signals.queue()`. It closes when the interpreter exits, and at the end of a `with` block.
    """

    def __init__(
        self,
        sender: Sender,
        *,
        max_size: int,
        concurrency: int,
        spool: Union[None, str, os.PathLike[str]],
        retry_delay: float,
        exit_timeout: Optional[float],
        on_error: Optional[OnError],
    ) -> None:
        if concurrency < 1 or max_size < 1:
            raise ValueError("max_size and concurrency must be greater than zero")
        self._sender = sender
        self._max_size = max_size
        self._concurrency = concurrency
        self._retry_delay = retry_delay
        self._exit_timeout = exit_timeout
        self._on_error = on_error
        self._spool: Optional[Spool] = None
        self._lost_spool: Optional[Exception] = None
        self._start()
        if spool is not None:
            self._open_spool(Spool(spool))
        atexit.register(self._close_at_exit)
        reset_after_fork(self)

    def _start(self) -> None:
        self._changed = threading.Condition()
        self._pending: list[_Pending] = []
        self._size = 0
        # Signals that flush() waits for.
        self._unsettled: set[_Pending] = set()
        self._subjects_in_flight: set[str] = set()
        self._requests_in_flight = 0
        self._workers = 0
        self._idle_workers = 0
        self._paused_until: Optional[float] = None
        self._can_batch = True
        self._stop = Cancellation()
        self._is_closing = False
        self._closed = threading.Event()
        self._close_timeout = 0.0

    def add(
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
    ) -> bool:
        """Queues a signal to be sent in the background. Never waits for the service and never raises.

        Returns False if it drops the signal, after a call of `on_error`. The `value` None withdraws the vote on
        `subject`. With a spool, the signal is in the file when this returns.
        """
        key = create_idempotency_key() if idempotency_key is None else idempotency_key
        prompt, version, voter = signal_on(prompt, version, voter)
        queued = QueuedSignal(key, prompt, {"value": value}, traceparent)
        spool_error: Optional[Exception] = None
        try:
            body = signal_body(value, metadata, version, subject, voter, comment, occurred_at)
            queued = QueuedSignal(key, prompt, body, traceparent)
            # A copy, so that later changes by the caller have no effect.
            queued = QueuedSignal(key, prompt, decode_json(encode_json(body)), traceparent)
            pending = _Pending(queued)
            with self._changed:
                if self._is_closing:
                    raise PromptledgerError("The queue is closed", code="queue_closed")
                if self._size >= self._max_size:
                    raise PromptledgerError(f"The queue is full: {self._max_size} signals wait", code="queue_full")
                spool_error, self._lost_spool = self._lost_spool, None
                if self._spool is not None:
                    spool_error = self._spool.add(queued)
                self._enqueue([pending])
        except Exception as error:
            self._report(error, queued)
            return False
        if spool_error is not None:
            self._report(spool_error, None)
        return True

    @property
    def size(self) -> int:
        """How many signals are not recorded yet."""
        return self._size

    def flush(self, timeout: Optional[float] = None) -> bool:
        """Waits until every signal added before is recorded, dropped, or in the spool until it can be sent.

        Before it waits for the service, all of them are in the spool and survive a power failure. Returns False if the
        rest takes longer than `timeout` seconds.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            added = set(self._unsettled)
        # First, because the service may take minutes to fail.
        self._flush_spool()
        return self._wait_for(added, end)

    def close(self, timeout: Optional[float] = None) -> None:
        """Flushes and accepts no more signals. After `timeout` seconds the rest stays in the spool, or is dropped
        without one.
        """
        with self._changed:
            is_first = not self._is_closing
            self._is_closing = True
            added = set(self._unsettled)
        if not is_first:
            self._closed.wait(timeout)
            return
        atexit.unregister(self._close_at_exit)
        self._flush_spool()
        if not self._wait_for(added, None if timeout is None else time.monotonic() + timeout):
            self._close_timeout = timeout or 0.0
            self._stop.cancel()
            with self._changed:
                self._settle_pending()
                self._changed.notify_all()
            self._wait_for(added, time.monotonic() + _cancel_seconds)
        with self._changed:
            # Ends the workers, whose requests have no effect on the queue from here on.
            self._stop.cancel()
            rest, self._pending = self._pending, []
            self._changed.notify_all()
        if self._spool is None:
            for pending in rest:
                self._size -= 1
                self._report(TimeoutError(self._close_timeout), pending.queued)
        else:
            self._report_spool(self._spool.close())
        self._closed.set()

    def __enter__(self) -> SignalQueue:
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def after_fork(self) -> None:
        """The parent process sends its own signals. The child starts with an empty queue, and without the spool file,
        which belongs to the parent.
        """
        self._start()
        if self._spool is not None:
            self._spool.after_fork()
            self._spool = None
            message = "The spool file belongs to the parent process: create the queue after the fork, with its own file"
            self._lost_spool = RuntimeError(message)

    def _close_at_exit(self) -> None:
        self.close(self._exit_timeout)

    def _open_spool(self, spool: Spool) -> None:
        try:
            leftovers = spool.open()
        except Exception as error:
            self._report(error, None)
            return
        self._spool = spool
        with self._changed:
            self._enqueue([_Pending(queued) for queued in leftovers])

    def _enqueue(self, signals: Iterable[_Pending]) -> None:
        """Called with the lock held."""
        for pending in signals:
            self._pending.append(pending)
            self._size += 1
            self._unsettled.add(pending)
        if self._is_paused():
            # flush() must not wait for signals that only the spool can hold now.
            self._settle_pending()
        else:
            self._wake_worker()

    def _wake_worker(self) -> None:
        """Called with the lock held."""
        if not self._pending:
            return
        if self._idle_workers > 0:
            self._changed.notify_all()
        elif self._workers < self._concurrency:
            try:
                threading.Thread(target=self._work, name="promptledger-queue", daemon=True).start()
                self._workers += 1
            except RuntimeError:
                # No threads can be started while the interpreter exits: close() sends what is left.
                pass

    def _work(self) -> None:
        use_cancellation(self._stop)
        stop, changed = self._stop, self._changed
        while True:
            with changed:
                batch = self._take_batch()
                while not batch:
                    if stop.is_cancelled:
                        return
                    self._idle_workers += 1
                    changed.wait(self._pause_left())
                    self._idle_workers -= 1
                    batch = self._take_batch()
                self._wake_worker()
            self._send(batch)

    def _wait_for(self, added: set[_Pending], end: Optional[float]) -> bool:
        """Whether the signals were settled before the end."""
        while True:
            with self._changed:
                while not added.isdisjoint(self._unsettled) and self._workers > 0:
                    left = None if end is None else end - time.monotonic()
                    if left is not None and left <= 0:
                        return False
                    self._changed.wait(left)
                if added.isdisjoint(self._unsettled):
                    return True
                if end is not None and end <= time.monotonic():
                    return False
                batch = self._take_batch()
            # Without a worker, because the interpreter exits.
            self._send(batch)

    def _is_paused(self) -> bool:
        """Called with the lock held."""
        if self._paused_until is not None and time.monotonic() >= self._paused_until:
            self._paused_until = None
            self._can_batch = True
        return self._paused_until is not None

    def _pause_left(self) -> Optional[float]:
        if self._paused_until is None or self._is_closing:
            return None
        return max(0.0, self._paused_until - time.monotonic())

    def _take_batch(self) -> list[_Pending]:
        """The signals of the next request. A vote waits while an earlier one on its subject is in flight.

        Called with the lock held.
        """
        if self._is_paused() or self._stop.is_cancelled:
            return []
        batch: list[_Pending] = []
        waiting: list[_Pending] = []
        max_count = _max_batch_size if self._can_batch else 1
        size = index = 0
        while index < len(self._pending) and len(batch) < max_count:
            item = self._pending[index]
            if item.subject is not None and item.subject in self._subjects_in_flight:
                waiting.append(item)
                index += 1
                continue
            size += item.size
            # Not past it: a signal behind it that still fits could be a later vote on its subject.
            if batch and (item.is_alone or size > _max_batch_bytes):
                break
            if item.is_alone:
                max_count = 1
            if item.subject is not None:
                self._subjects_in_flight.add(item.subject)
            batch.append(item)
            index += 1
        self._pending = waiting + self._pending[index:]
        self._requests_in_flight += 1 if batch else 0
        return batch

    def _send(self, batch: list[_Pending]) -> None:
        if not batch:
            return
        errors = self._send_request(batch)
        kept: list[_Pending] = []
        done: list[_Pending] = []
        pause = False
        for item, error in zip(batch, errors):
            if isinstance(error, _SendAlone):
                item.is_alone = True
                kept.append(item)
            elif error is None:
                done.append(item)
            elif self._spool is not None and _may_still_succeed(error):
                pause = True
                kept.append(item)
            else:
                done.append(item)
                # Before flush() returns.
                is_cancelled = isinstance(error, CallCancelled)
                self._report(TimeoutError(self._close_timeout) if is_cancelled else error, item.queued)
        spool_error = None
        with self._changed:
            for item in done:
                self._size -= 1
                self._unsettled.discard(item)
                if self._spool is not None:
                    spool_error = self._spool.remove(item.queued.key) or spool_error
            self._pending = kept + self._pending
            if pause and not self._is_paused():
                # The other signals would fail for the same reason.
                self._paused_until = time.monotonic() + (float("inf") if self._is_closing else self._retry_delay)
            if self._is_paused() or self._stop.is_cancelled:
                self._settle_pending()
            self._requests_in_flight -= 1
            self._subjects_in_flight.difference_update(item.subject for item in batch if item.subject is not None)
            self._changed.notify_all()
        self._report_spool(spool_error)
        if pause:
            self._flush_spool()

    def _send_request(self, batch: list[_Pending]) -> list[Optional[Exception]]:
        """The error of each signal; None for one that is recorded."""
        try:
            if len(batch) == 1:
                self._sender.create(batch[0].queued)
                return [None]
            results = self._sender.create_many([item.queued.body() for item in batch])
            return [_SendAlone() if is_transient(result.error) else result.error for result in results]
        except Exception as error:
            if len(batch) == 1 or not _is_rejection(error):
                return [error] * len(batch)
            if isinstance(error, PromptledgerError) and error.status == 404:
                # An older service, or a gateway that does not know the endpoint.
                self._can_batch = False
            return [_SendAlone() for _ in batch]

    def _settle_pending(self) -> None:
        """Called with the lock held."""
        self._unsettled.difference_update(self._pending)

    def _flush_spool(self) -> None:
        if self._spool is not None:
            self._report_spool(self._spool.flush())

    def _report_spool(self, error: Optional[Exception]) -> None:
        if error is not None:
            self._report(error, None)

    def _report(self, error: Exception, dropped: Optional[QueuedSignal]) -> None:
        try:
            if self._on_error is not None:
                self._on_error(error, dropped)
            elif dropped is None:
                _log.warning("The spool failed: %s", error)
            else:
                _log.warning("A signal was dropped: %s", error)
        except (Exception, SystemExit):
            # It must affect no other signal, nor end the thread that sends them.
            _log.exception("on_error failed")


def _is_rejection(error: Exception) -> bool:
    """Whether the service or a gateway rejected a request as such, so that other requests with the same signals may
    succeed.
    """
    if isinstance(error, (UnauthorizedError, RateLimitedError)):
        return False
    return isinstance(error, PromptledgerError) and error.status is not None and 400 <= error.status < 500


def _may_still_succeed(error: Exception) -> bool:
    """Whether the signal may be accepted later as it is."""
    if is_transient(error) or isinstance(error, (RateLimitedError, CallCancelled)):
        return True
    # The next start may come with a valid key or the right base URL.
    if isinstance(error, UnauthorizedError):
        return True
    return isinstance(error, PromptledgerError) and error.code == "unexpected_response"
