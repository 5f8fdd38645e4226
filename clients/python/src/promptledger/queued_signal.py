"""A signal that waits to be sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from .json_text import encode_json


@dataclass(frozen=True)
class QueuedSignal:
    """A signal that waits to be sent."""

    key: str
    """The idempotency key: the signal counts once, however often it is sent."""
    prompt: str
    signal: Mapping[str, Any]
    """The fields of the signal, under the names that the API gives them."""
    traceparent: Optional[str] = None

    def body(self) -> dict[str, Any]:
        """The same in a batch and alone, because an idempotency key belongs to one text."""
        body = {**self.signal, "prompt": self.prompt, "idempotency_key": self.key}
        return body if self.traceparent is None else {**body, "traceparent": self.traceparent}


def to_line(queued: QueuedSignal) -> bytes:
    """One line of a spool file."""
    line = {"key": queued.key, "promptId": queued.prompt, "signal": queued.signal}
    if queued.traceparent is not None:
        line["traceparent"] = queued.traceparent
    return encode_json(line) + b"\n"


def from_line(line: Any) -> Optional[QueuedSignal]:
    """None for a line that describes no signal."""
    if not isinstance(line, dict):
        return None
    key, prompt, signal, traceparent = (line.get(name) for name in ("key", "promptId", "signal", "traceparent"))
    if not isinstance(key, str) or not isinstance(prompt, str) or not isinstance(signal, dict):
        return None
    return QueuedSignal(key, prompt, signal, traceparent if isinstance(traceparent, str) else None)
