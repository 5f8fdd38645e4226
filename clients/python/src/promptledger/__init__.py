"""Typed client for Promptledger, without dependencies.

>>> from promptledger import Promptledger
>>> ledger = Promptledger()  # reads PROMPTLEDGER_URL and PROMPTLEDGER_KEY
>>> ledger.signals.create("prompts/support.md", value="positive")

`AsyncPromptledger` is the same for asyncio. `promptledger.models` has the types of everything that the API returns.
"""

from __future__ import annotations

from . import models
from .async_client import AsyncPromptledger
from .async_page import AsyncPages
from .async_queue import AsyncSignalQueue
from .batch import SignalResult
from .client import Promptledger
from .errors import (
    ConflictError,
    ConnectionError,
    ForbiddenError,
    NotFoundError,
    PromptledgerError,
    RateLimitedError,
    TimeoutError,
    UnauthorizedError,
    ValidationError,
)
from .page import AttributedPage, Page, Pages, SignalPage, VersionPage
from .prompt_text import AssignedTrial, DeliveryOptions, PromptText
from .queued_signal import QueuedSignal
from .signal_queue import SignalQueue
from .stream import Stream
from .version import __version__

__all__ = [
    "AssignedTrial",
    "AsyncPages",
    "AsyncPromptledger",
    "AsyncSignalQueue",
    "AttributedPage",
    "ConflictError",
    "ConnectionError",
    "DeliveryOptions",
    "ForbiddenError",
    "NotFoundError",
    "Page",
    "Pages",
    "PromptText",
    "Promptledger",
    "PromptledgerError",
    "QueuedSignal",
    "RateLimitedError",
    "SignalPage",
    "SignalQueue",
    "SignalResult",
    "Stream",
    "TimeoutError",
    "UnauthorizedError",
    "ValidationError",
    "VersionPage",
    "__version__",
    "models",
]
