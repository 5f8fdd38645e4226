"""A copy of the last document on disk."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import Optional

# Prompts can be confidential.
_file_mode = 0o600
_folder_mode = 0o700


def default_folder() -> Optional[Path]:
    """A folder of the user, because others can write to /tmp. None if there is none."""
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(cache) if cache else Path.home() / ".cache") / "promptledger"
    except RuntimeError:
        return None


class TextCopy:
    """The file. Several processes may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Optional[tuple[bytes, float]]:
        """What this user wrote, and its age in seconds. None without a file."""
        try:
            status = self._path.stat()
            if hasattr(os, "getuid") and status.st_uid != os.getuid():
                return None
            return self._path.read_bytes(), time.time() - status.st_mtime
        except OSError:
            return None

    def write(self, text: bytes) -> None:
        """Replaces the file. Other processes see the old one or the new one, never a part."""
        self._path.parent.mkdir(mode=_folder_mode, parents=True, exist_ok=True)
        temporary = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _file_mode), "wb") as file:
                file.write(text)
            os.replace(temporary, self._path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def touch(self) -> None:
        """Notes that the copy is still current."""
        with contextlib.suppress(OSError):
            os.utime(self._path)
