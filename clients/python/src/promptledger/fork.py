"""Resets objects in a child process, whose threads and locks are not those of its parent."""

from __future__ import annotations

import os
import weakref
from typing import Protocol


class Forked(Protocol):
    """An object with threads, locks or sockets."""

    def after_fork(self) -> None:
        """Called in the child process."""


_objects: weakref.WeakSet[Forked] = weakref.WeakSet()


def reset_after_fork(forked: Forked) -> None:
    """Calls `after_fork` in every child process."""
    _objects.add(forked)


def _after_fork() -> None:
    for each in list(_objects):
        each.after_fork()


# Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
