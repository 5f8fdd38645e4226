"""The monthly limit of signals."""

from __future__ import annotations

from ..models import UsageReport
from ..transport import Operation, Transport


class Usage:
    """The signals that the organisation recorded each month."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> UsageReport:
        """Returns how much of this month's limit is used, and the usage of earlier months."""
        usage: UsageReport = self._transport.data(Operation("GET", "/usage"))
        return usage
