"""Marks an argument that was left out, where None means something else."""

from __future__ import annotations

from enum import Enum
from typing import Any, Mapping


class NotGiven(Enum):
    """The type of `NOT_GIVEN`."""

    NOT_GIVEN = "not given"


NOT_GIVEN = NotGiven.NOT_GIVEN


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that the caller set."""
    return {name: value for name, value in fields.items() if value is not NOT_GIVEN}


def not_none(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with a value, where None stands for the default of the API."""
    return {name: value for name, value in fields.items() if value is not None}
