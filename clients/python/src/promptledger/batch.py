"""Many signals in one request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from .errors import ConnectionError, PromptledgerError, error_from_body
from .models import RecordedSignal
from .signal_body import create_idempotency_key
from .times import iso_time
from .transport import Operation, Transport


@dataclass(frozen=True)
class SignalResult:
    """What became of one signal of a batch: the recorded signal, or the error that it was rejected with."""

    signal: Optional[RecordedSignal]
    error: Optional[PromptledgerError]


def send_batch(transport: Transport, signals: Sequence[Mapping[str, Any]]) -> list[SignalResult]:
    """Records the signals, and returns the result of each, in order."""
    body = {"signals": [_with_key(signal) for signal in signals]}
    results = transport.data(Operation("POST", "/signals", body=body, is_idempotent=True))
    if not isinstance(results, list) or len(results) != len(signals):
        raise ConnectionError(f"The response has no result for each of the {len(signals)} signals")
    try:
        return [_result_of(result) for result in results]
    except (KeyError, TypeError, AttributeError):
        raise ConnectionError("The response has no result for each signal: base_url points to another server") from None


def _with_key(signal: Mapping[str, Any]) -> Mapping[str, Any]:
    key = signal.get("idempotency_key")
    changes = {"idempotency_key": create_idempotency_key() if key is None else key}
    if signal.get("occurred_at") is not None:
        changes["occurred_at"] = iso_time(signal["occurred_at"])
    return {**signal, **changes}


def _result_of(result: Mapping[str, Any]) -> SignalResult:
    error = result.get("error")
    if error is None:
        return SignalResult(result["data"], None)
    return SignalResult(None, error_from_body(error, result["status"]))
