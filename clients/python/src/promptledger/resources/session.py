"""The key that this client uses."""

from __future__ import annotations

from ..models import SessionInfo
from ..transport import Operation, Transport


class Session:
    """The key that this client uses, and its organisation. Signing in is for browsers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> SessionInfo:
        """Returns the organisation, and the role and the expiry of the key."""
        session: SessionInfo = self._transport.data(Operation("GET", "/session"))
        return session
