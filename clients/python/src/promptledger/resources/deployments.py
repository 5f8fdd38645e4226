"""Which commit was brought to which environment, and when."""

from __future__ import annotations

from typing import Any, Optional

from ..models import Deployment, DeploymentState, PromptDeployment
from ..not_given import not_none
from ..page import Page, Pages, plain_pages
from ..times import Time, iso_time
from ..transport import Operation, Transport
from .prompts import prompt_path


class Deployments:
    """Commits that were brought to an environment, of a repository or of one prompt."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, prompt: str, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[PromptDeployment, Page[PromptDeployment]]:
        """Lists the deployments of a prompt and of its repository, newest first."""
        return plain_pages(self._transport, _of_prompt(prompt), {"page": page, "limit": limit})

    def record(
        self,
        prompt: str,
        *,
        environment: str,
        commit_sha: str,
        state: DeploymentState,
        share: Optional[float] = None,
        at: Optional[Time] = None,
    ) -> PromptDeployment:
        """Records a deployment of one prompt. The same deployment is recorded once.

        Needs a key with the role `recorder` or `admin`.
        """
        body = _body(environment, commit_sha, state, share, at)
        operation = Operation("POST", _of_prompt(prompt), body=body, is_idempotent=True)
        deployment: PromptDeployment = self._transport.data(operation)
        return deployment

    def list_of_repository(
        self, repository_id: int, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[Deployment, Page[Deployment]]:
        """Lists the deployments of a repository, newest first."""
        return plain_pages(self._transport, _of_repository(repository_id), {"page": page, "limit": limit})

    def record_of_repository(
        self,
        repository_id: int,
        *,
        environment: str,
        commit_sha: str,
        state: DeploymentState,
        share: Optional[float] = None,
        at: Optional[Time] = None,
    ) -> Deployment:
        """Records a deployment of all prompts of a repository. Needs a key with the role `recorder` or `admin`."""
        body = _body(environment, commit_sha, state, share, at)
        operation = Operation("POST", _of_repository(repository_id), body=body, is_idempotent=True)
        deployment: Deployment = self._transport.data(operation)
        return deployment


def _of_prompt(prompt: str) -> str:
    return f"{prompt_path(prompt)}/deployments"


def _of_repository(repository_id: int) -> str:
    return f"/repositories/{int(repository_id)}/deployments"


def _body(
    environment: str, commit_sha: str, state: DeploymentState, share: Optional[float], at: Optional[Time]
) -> dict[str, Any]:
    optional = {"share": share, "at": None if at is None else iso_time(at)}
    return {"environment": environment, "commit_sha": commit_sha, "state": state, **not_none(optional)}
