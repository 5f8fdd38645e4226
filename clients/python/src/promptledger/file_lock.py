"""Prevents two processes from overwriting each other's file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Optional

_locked_paths: set[Path] = set()


class FileLock:
    """A lock that the operating system releases when the process ends, however it ends.

    It belongs to the process: a fork does not inherit it.
    """

    def __init__(self, path: Path, mode: int) -> None:
        self._path = path
        self._mode = mode
        self._file: Optional[int] = None

    def acquire(self) -> None:
        """Raises a `RuntimeError` if the lock is taken."""
        # A process does not exclude itself, and closing a second copy of the file would release its lock.
        if self._path in _locked_paths:
            raise RuntimeError(f"{self._path} is in use by another queue of this process")
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, self._mode)
        try:
            _lock(file)
        except OSError as error:
            os.close(file)
            raise RuntimeError(
                f"{self._path} is in use by another process: give each process its own spool file"
            ) from error
        self._file = file
        _locked_paths.add(self._path)

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
            _locked_paths.discard(self._path)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
