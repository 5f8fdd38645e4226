"""The organisation that the key belongs to."""

from __future__ import annotations

from .. import models
from ..transport import Operation, Transport


class Organisation:
    """The organisation that the key belongs to."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> models.Organisation:
        """Returns the organisation of the key, with its plan and its limits."""
        organisation: models.Organisation = self._transport.data(Operation("GET", "/organisation"))
        return organisation

    def rename(self, *, name: str) -> models.Organisation:
        """Renames the organisation and returns it. Needs a key with the role `admin`."""
        renamed: models.Organisation = self._transport.data(Operation("PATCH", "/organisation", body={"name": name}))
        return renamed
