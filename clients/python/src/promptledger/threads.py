"""Runs blocking calls in threads, for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Iterator, List, Optional, TypeVar

from .async_page import AsyncPages
from .cancellation import Cancellation, use_cancellation
from .page import Pages
from .stream import Stream

if TYPE_CHECKING:
    # Part of every type checker. Python itself has it since 3.10.
    from typing_extensions import ParamSpec

    Parameters = ParamSpec("Parameters")

Result = TypeVar("Result")
Item = TypeVar("Item")
OnePage = TypeVar("OnePage")


class Threads:
    """Runs up to a number of calls at the same time. Further calls wait."""

    def __init__(self, max_concurrency: int) -> None:
        if max_concurrency < 1:
            raise ValueError("max_concurrency must be greater than zero")
        self._max_concurrency = max_concurrency
        self._executor: Optional[ThreadPoolExecutor] = None
        self._process = 0

    def awaitable(
        self, function: Callable[Parameters, Result]
    ) -> Callable[Parameters, Coroutine[Any, Any, Result]]:
        """The function as a coroutine function."""

        @functools.wraps(function)
        async def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            return await self.run(functools.partial(function, *args, **kwargs))

        return call

    def pages(
        self, function: Callable[Parameters, Pages[Item, OnePage]]
    ) -> Callable[Parameters, AsyncPages[Item, OnePage]]:
        """A list call whose result is awaited or iterated asynchronously."""

        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AsyncPages[Item, OnePage]:
            pages = function(*args, **kwargs)
            return AsyncPages(lambda: self.run(pages.page), lambda: self.iterate(pages.batches()))

        return call

    def stream(
        self, function: Callable[Parameters, Stream[Item]]
    ) -> Callable[Parameters, AsyncIterator[Item]]:
        """A call whose response is iterated asynchronously."""

        @functools.wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> AsyncIterator[Item]:
            return self.iterate(function(*args, **kwargs).batches)

        return call

    async def run(self, function: Callable[[], Result]) -> Result:
        """Calls the function in a thread. Cancelling the task ends its request at once."""
        cancellation = Cancellation()

        def call() -> Result:
            use_cancellation(cancellation)
            return function()

        context = contextvars.copy_context()
        future = self._pool().submit(lambda: context.run(call))
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    async def iterate(self, batches: Iterator[List[Item]]) -> AsyncIterator[Item]:
        """The items of an iterator, which runs in threads."""
        try:
            while True:
                batch = await self.run(lambda: next(batches, None))
                if batch is None:
                    return
                for item in batch:
                    yield item
        finally:
            close = getattr(batches, "close", lambda: None)
            try:
                close()
            except ValueError:
                # A cancelled step still runs in its thread. It ends with an error, which closes its connection.
                pass

    def close(self) -> None:
        if self._executor is not None and self._process == os.getpid():
            self._executor.shutdown(wait=False)
        self._executor = None

    def _pool(self) -> ThreadPoolExecutor:
        # A child process has none of the threads.
        if self._executor is None or self._process != os.getpid():
            self._process = os.getpid()
            self._executor = ThreadPoolExecutor(self._max_concurrency, thread_name_prefix="promptledger")
        return self._executor
