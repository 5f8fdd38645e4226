"""A provider for OpenFeature. Needs the package `openfeature-sdk`, which only `create_provider` imports."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any, Mapping, Optional

from .client import Promptledger
from .signal_queue import SignalQueue

_close_seconds = 5.0
_fields = ("prompt", "version", "subject", "comment")


def create_provider(ledger: Promptledger) -> Any:
    """An OpenFeature provider: the flag key is a prompt, the value its text, the variant its commit, and the targeting key the unit of a
    trial. Shutting it down closes the client.

    >>> openfeature.api.set_provider(create_provider(Promptledger()))

    `client.track("thumbs", context, TrackingEventDetails(1, {"prompt": …, "version": …}))` records a vote on the output of a prompt by the
    targeting key of the context: positive if the value is greater than zero. Without a version, it counts for no trial.
    """
    error_code: Any = import_module("openfeature.exception").ErrorCode
    flags: Any = import_module("openfeature.flag_evaluation")
    providers: Any = import_module("openfeature.provider")

    class PromptledgerProvider(providers.AbstractProvider):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._lock = threading.Lock()
            self._votes: Optional[SignalQueue] = None

        def get_metadata(self) -> Any:
            return providers.Metadata(name="promptledger")

        def resolve_string_details(self, flag_key: str, default_value: str, evaluation_context: Any = None) -> Any:
            found = ledger.prompts.text(flag_key, unit=_unit_of(evaluation_context), fallback_text=default_value)
            if found.version is None:
                message = f"No live text for {flag_key}"
                return flags.FlagResolutionDetails(default_value, error_code.FLAG_NOT_FOUND, message, flags.Reason.ERROR)
            trial = {} if found.trial is None else {"trial": found.trial.id, "arm": found.trial.arm}
            return flags.FlagResolutionDetails(
                found.text,
                reason=flags.Reason.STATIC if found.trial is None else flags.Reason.SPLIT,
                variant=found.version,
                flag_metadata={"prompt": found.prompt, **trial},
            )

        def _no_text(self, flag_key: str, default_value: Any, evaluation_context: Any = None) -> Any:
            message = f"{flag_key} is a prompt: ask for a string"
            return flags.FlagResolutionDetails(default_value, error_code.TYPE_MISMATCH, message, flags.Reason.ERROR)

        resolve_boolean_details = resolve_integer_details = resolve_float_details = resolve_object_details = _no_text

        def track(self, tracking_event_name: str, evaluation_context: Any = None, tracking_event_details: Any = None) -> None:
            if tracking_event_name != "thumbs" or tracking_event_details is None:
                return
            attributes: Mapping[str, Any] = tracking_event_details.attributes
            named = {field: attributes.get(field) for field in _fields}
            metadata = {name: value for name, value in attributes.items() if name not in _fields}
            with self._lock:
                if self._votes is None:
                    self._votes = ledger.signals.queue()
            self._votes.add(
                str(named.pop("prompt")),
                value="positive" if (tracking_event_details.value or 0) > 0 else "negative",
                voter=_unit_of(evaluation_context),
                metadata=metadata or None,
                **named,
            )

        def shutdown(self) -> None:
            if self._votes is not None:
                self._votes.close(_close_seconds)
            ledger.close(_close_seconds)

    return PromptledgerProvider()


def _unit_of(context: Any) -> Optional[str]:
    return None if context is None else context.targeting_key
