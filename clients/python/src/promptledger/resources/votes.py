"""Votes with the tokens of pages."""

from __future__ import annotations

from typing import Optional

from ..models import SignalValue, Vote
from ..not_given import not_none
from ..transport import Operation, Transport


class Votes:
    """Votes with tokens, as pages send them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, *, token: str, value: Optional[SignalValue], comment: Optional[str] = None) -> Vote:
        """Sends a vote; None withdraws it. The last vote on the subject counts, so retries are safe."""
        body = {"token": token, "value": value, **not_none({"comment": comment})}
        vote: Vote = self._transport.data(Operation("POST", "/votes", body=body, is_idempotent=True))
        return vote
