"""The resources that are not generated, for asyncio: the same methods, as coroutine functions."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Callable, Union

from . import async_generated
from .async_queue import AsyncSignalQueue
from .client import Promptledger
from .prompt_text import PromptText
from .signal_queue import SignalQueue
from .threads import Threads

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    Parameters = ParamSpec("Parameters")


class AsyncPrompts(async_generated.AsyncPrompts):
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        super().__init__(ledger, threads)
        self._ledger = ledger
        self._threads = threads

    async def text(
        self,
        prompt: str,
        *,
        unit: Union[str, int, None] = None,
        fallback: Union[str, "os.PathLike[str]", None] = None,
        fallback_text: str = "",
    ) -> PromptText:
        """The same as in `Promptledger`. Only the first call waits, in a thread."""
        call = functools.partial(
            self._ledger.prompts.text, prompt, unit=unit, fallback=fallback, fallback_text=fallback_text
        )
        return call() if self._ledger._delivery.is_ready else await self._threads.run(call)


class AsyncSignals(async_generated.AsyncSignals):
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        super().__init__(ledger, threads)
        self.create = threads.awaitable(ledger.signals.create)
        self.create_many = threads.awaitable(ledger.signals.create_many)
        self.withdraw = threads.awaitable(ledger.signals.withdraw)
        self.queue = _queue(ledger.signals.queue)
        self.list = threads.pages(ledger.signals.list)
        self.export = threads.stream(ledger.signals.export)
        self.export_csv = threads.stream(ledger.signals.export_csv)
        self.summary = threads.awaitable(ledger.signals.summary)


class AsyncTokens:
    def __init__(self, ledger: Promptledger) -> None:
        # Sends no request, so it is no coroutine function.
        self.sign = ledger.tokens.sign


class AsyncTimeline(async_generated.AsyncTimeline):
    def __init__(self, ledger: Promptledger, threads: Threads) -> None:
        super().__init__(ledger, threads)
        self.list = threads.pages(ledger.timeline.list)
        self.export = threads.stream(ledger.timeline.export)
        self.export_csv = threads.stream(ledger.timeline.export_csv)


def _queue(function: Callable[Parameters, SignalQueue]) -> Callable[Parameters, AsyncSignalQueue]:
    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AsyncSignalQueue:
        return AsyncSignalQueue(function(*args, **kwargs))

    return call
