"""Counts the units that a process has served in trials."""

from __future__ import annotations

import secrets
import threading
from typing import Optional

from .deadline import Deadline
from .transport import Operation, Transport

# Of a request, whatever the timeout of the client: one that never ended would be the last.
_timeout_seconds = 30.0
# Further units are served, but not counted. Each takes about 100 bytes.
_max_units_of_trial = 100_000
_max_units = 500_000
_max_trials = 100
_max_items = 100

_Share = tuple[str, float]


class Exposures:
    """Counts each unit once, and reports totals, so that a request can be repeated or lost without harm."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport.with_options(max_retries=0, own_timeout=_timeout_seconds)
        self.reset()

    def reset(self) -> None:
        """Starts again, with another ID of the process."""
        self._lock = threading.Lock()
        self._source = secrets.token_hex(16)
        # Where the counted units lie: these numbers tell them apart as well as their names do, and take less memory.
        self._units: dict[str, set[float]] = {}
        self._unit_count = 0
        self._totals: dict[_Share, dict[str, int]] = {}
        # Also those of trials that were forgotten since.
        self._unsent: dict[_Share, dict[str, int]] = {}

    def count(self, trial: str, share: float, position: float, arm: str) -> None:
        with self._lock:
            units = self._units.get(trial)
            if units is None:
                if len(self._units) >= _max_trials:
                    self._forget(next(iter(self._units)))
                units = self._units[trial] = set()
            if position in units or len(units) >= _max_units_of_trial or self._unit_count >= _max_units:
                return
            units.add(position)
            self._unit_count += 1
            totals = self._totals.setdefault((trial, share), {"control": 0, "candidate": 0})
            totals[arm] += 1
            self._unsent[(trial, share)] = totals

    def send(self, timeout: Optional[float] = None) -> None:
        """Sends the totals that changed. Raises if a request fails; the next one reports them again."""
        deadline = Deadline(timeout)
        while True:
            with self._lock:
                sent = dict(list(self._unsent.items())[:_max_items])
                for key in sent:
                    del self._unsent[key]
                exposures = [{"trial": trial, "share": share, **totals} for (trial, share), totals in sent.items()]
            if not exposures:
                return
            body = {"source": self._source, "exposures": exposures}
            transport = self._transport if timeout is None else self._transport.with_options(own_timeout=deadline.remaining())
            try:
                transport.json(Operation("POST", "/trials/exposures", body=body, is_idempotent=True))
            except BaseException:
                with self._lock:
                    self._unsent = {**sent, **self._unsent}
                raise

    def _forget(self, trial: str) -> None:
        """Trials that ended long ago go first. Called with the lock held."""
        self._unit_count -= len(self._units.pop(trial))
        for key in [key for key in self._totals if key[0] == trial]:
            del self._totals[key]
