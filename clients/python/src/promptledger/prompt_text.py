"""The text of a prompt, as applications use it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable, Literal, Optional, Union


@dataclass(frozen=True)
class DeliveryOptions:
    """How `prompts.text` fetches and keeps texts."""

    prompts: Optional[str] = None
    """A glob: fetch only prompts whose name or path matches."""
    folder: Union[str, "os.PathLike[str]", None, Literal[False]] = None
    """The folder for the copy that is used while the service is down. Only its owner can read it. Defaults to `promptledger` in the
    user's cache folder; False for no copy."""
    refresh_interval: Optional[float] = None
    """Seconds between requests. Defaults to what the service asks for: 15."""
    on_error: Optional[Callable[[Exception], None]] = None
    """Called once for each problem, from any thread: a wrong key, a missing fallback, a service that is down. Defaults to a warning in the
    log `promptledger`."""


@dataclass(frozen=True)
class AssignedTrial:
    """The trial that chose a text, and the arm of the unit."""

    id: str
    arm: Literal["control", "candidate"]


@dataclass(frozen=True)
class PromptText:
    """The text of a prompt for a unit. Pass it to `signals.create` to vote on what came of it."""

    text: str
    version: Optional[str]
    """The commit that brought the text. None for the fallback."""
    trial: Optional[AssignedTrial]
    """The trial that chose the text. None without one, and without a unit."""
    prompt: str
    """The ID of the prompt. For the fallback, what the caller named."""
    unit: Optional[str]


Version = Union[str, int, None]


def signal_on(
    prompt: Union[str, PromptText], version: Version, voter: Optional[str]
) -> tuple[str, Version, Optional[str]]:
    """The ID, version and voter of a signal on a prompt, or on a text: then those that it names, unless the caller names others."""
    if isinstance(prompt, str):
        return prompt, version, voter
    return prompt.prompt, prompt.version if version is None else version, prompt.unit if voter is None else voter
