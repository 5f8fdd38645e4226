"""Connected git repositories."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from ..models import (
    ConnectedRepository,
    Delivery,
    Forge,
    Repository,
    RotatedSecret,
    UpdatedRepository,
)
from ..not_given import NOT_GIVEN, NotGiven, given, not_none
from ..page import Page, Pages, plain_pages
from ..transport import Operation, Transport

# The service reads the repository from the forge before it responds.
_connect_timeout = 60.0
# It also compares the history there with the known one.
_update_timeout = 180.0


class Repositories:
    """Connected git repositories. Needs a key with the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page: Optional[int] = None, limit: Optional[int] = None) -> Pages[Repository, Page[Repository]]:
        """Lists the repositories."""
        return plain_pages(self._transport, "/repositories", {"page": page, "limit": limit})

    def get(self, repository_id: int) -> Repository:
        """Returns a repository, with the state of its syncs."""
        repository: Repository = self._transport.data(Operation("GET", _path_of(repository_id)))
        return repository

    def connect(
        self,
        *,
        forge: Forge,
        url: str,
        path: str,
        token: Optional[str] = None,
        ssh_key: Optional[str] = None,
        generate_ssh_key: Optional[bool] = None,
        ssh_host_key: Optional[str] = None,
        similarity: Optional[int] = None,
        production_environments: Optional[Sequence[str]] = None,
        reports_on_pulls: Optional[bool] = None,
    ) -> ConnectedRepository:
        """Connects a repository. Only this response contains the webhook secret. The timeout defaults to 60 s.

        `path` is a glob of the prompt files, such as `prompts/**`.
        """
        optional = {
            "token": token,
            "ssh_key": ssh_key,
            "generate_ssh_key": generate_ssh_key,
            "ssh_host_key": ssh_host_key,
            "similarity": similarity,
            "production_environments": production_environments,
            "reports_on_pulls": reports_on_pulls,
        }
        body = {"forge": forge, "url": url, "path": path, **not_none(optional)}
        operation = Operation("POST", "/repositories", body=body, timeout=_connect_timeout)
        connected: ConnectedRepository = self._transport.data(operation)
        return connected

    def update(
        self,
        repository_id: int,
        *,
        url: Union[str, NotGiven] = NOT_GIVEN,
        token: Union[str, None, NotGiven] = NOT_GIVEN,
        ssh_key: Union[str, NotGiven] = NOT_GIVEN,
        ssh_host_key: Union[str, NotGiven] = NOT_GIVEN,
        production_environments: Union[Sequence[str], None, NotGiven] = NOT_GIVEN,
        reports_on_pulls: Union[bool, NotGiven] = NOT_GIVEN,
    ) -> UpdatedRepository:
        """Changes what is given. Webhook, secret, prompts and history stay.

        The `token` None removes it, and `production_environments` None stands for the default. The timeout defaults to
        180 s.
        """
        fields = {
            "url": url,
            "token": token,
            "ssh_key": ssh_key,
            "ssh_host_key": ssh_host_key,
            "production_environments": production_environments,
            "reports_on_pulls": reports_on_pulls,
        }
        operation = Operation("PATCH", _path_of(repository_id), body=given(fields), timeout=_update_timeout)
        updated: UpdatedRepository = self._transport.data(operation)
        return updated

    def disconnect(self, repository_id: int) -> None:
        """Stops syncing a repository. Its prompts and their history stay."""
        self._transport.json(Operation("DELETE", _path_of(repository_id)))

    def sync(self, repository_id: int) -> Repository:
        """Starts a sync. Its result appears in `last_sync_at` and `last_error`."""
        operation = Operation("POST", f"{_path_of(repository_id)}/sync", is_idempotent=True)
        repository: Repository = self._transport.data(operation)
        return repository

    def rotate_secret(self, repository_id: int, *, overlap_hours: Optional[float] = None) -> RotatedSecret:
        """Creates a new webhook secret. Only this response contains it. The old one stays valid for `overlap_hours`."""
        body = not_none({"overlap_hours": overlap_hours})
        rotated: RotatedSecret = self._transport.data(
            Operation("POST", f"{_path_of(repository_id)}/rotate-secret", body=body)
        )
        return rotated

    def deliveries(
        self, repository_id: int, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[Delivery, Page[Delivery]]:
        """Lists the newest 1,000 webhook deliveries."""
        return plain_pages(self._transport, f"{_path_of(repository_id)}/deliveries", {"page": page, "limit": limit})

    def redeliver(self, repository_id: int, delivery_id: int) -> Delivery:
        """Processes a delivery again."""
        path = f"{_path_of(repository_id)}/deliveries/{int(delivery_id)}/redeliver"
        delivery: Delivery = self._transport.data(Operation("POST", path, is_idempotent=True))
        return delivery


def _path_of(repository_id: int) -> str:
    return f"/repositories/{int(repository_id)}"
