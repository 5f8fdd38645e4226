"""The queue of signals, for asyncio."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Mapping, Optional, Union

from .models import SignalValue
from .prompt_text import PromptText
from .signal_queue import SignalQueue
from .threads import Threads
from .times import Time


class AsyncSignalQueue:
    """Sends signals in the background, so that users never wait for the service."""

    def __init__(self, queue: SignalQueue) -> None:
        self._queue = queue
        # Threads of its own: flush() may wait for minutes.
        self._threads = Threads(2)

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
        """Queues a signal to be sent in the background. Never waits for the service, so there is nothing to await.

        Returns False if it drops the signal, after a call of `on_error`. The `value` None withdraws the vote on
        `subject`.
        """
        return self._queue.add(
            prompt,
            value=value,
            metadata=metadata,
            version=version,
            subject=subject,
            voter=voter,
            comment=comment,
            occurred_at=occurred_at,
            idempotency_key=idempotency_key,
            traceparent=traceparent,
        )

    @property
    def size(self) -> int:
        """How many signals are not recorded yet."""
        return self._queue.size

    async def flush(self, timeout: Optional[float] = None) -> bool:
        """Waits until every signal added before is recorded, dropped, or in the spool until it can be sent.

        Before it waits for the service, all of them are in the spool and survive a power failure. Returns False if the
        rest takes longer than `timeout` seconds.
        """
        return await self._threads.run(lambda: self._queue.flush(timeout))

    async def close(self, timeout: Optional[float] = None) -> None:
        """Flushes and accepts no more signals. After `timeout` seconds the rest stays in the spool, or is dropped
        without one.
        """
        await self._threads.run(lambda: self._queue.close(timeout))
        self._threads.close()

    async def __aenter__(self) -> AsyncSignalQueue:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()
