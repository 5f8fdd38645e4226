"""Stores signals in a file until they are recorded."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Optional, Union

from .file_lock import FileLock
from .json_text import decode_json, encode_json
from .queued_signal import QueuedSignal, from_line, to_line

# The file is rewritten once it has this many lines about signals that are done.
_max_obsolete_lines = 10_000
# The signals in the file may hold personal data, so only the owner may read it.
_file_mode = 0o600


class Spool:
    """A file with one line for each signal that was added, and for each that is done.

    A signal is in the file when `add` returns, so it survives a crash of the process. It survives a power failure after
    `flush`. Each process needs its own file. No method but `open` raises; the others return what failed.
    """

    def __init__(self, path: Union[str, os.PathLike[str]]) -> None:
        self._path = Path(os.path.abspath(os.fspath(path)))
        self._lock = threading.Lock()
        self._file_lock = FileLock(Path(f"{self._path}.lock"), _file_mode)
        self._stored: dict[str, bytes] = {}
        self._file: Optional[int] = None
        self._line_count = 0
        self._is_intact = True

    def open(self) -> list[QueuedSignal]:
        """Returns the signals that the last process left."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file_lock.acquire()
        try:
            leftovers = _read_signals(self._path)
            self._stored = {queued.key: to_line(queued) for queued in leftovers}
            self._rewrite()
        except BaseException:
            self._file_lock.release()
            raise
        return leftovers

    def add(self, queued: QueuedSignal) -> Optional[Exception]:
        """Stores a signal until it is removed."""
        line = to_line(queued)
        with self._lock:
            self._stored[queued.key] = line
            return self._write(line)

    def remove(self, key: str) -> Optional[Exception]:
        """Removes a signal that was recorded or dropped."""
        with self._lock:
            if self._stored.pop(key, None) is None:
                return None
            return self._write(encode_json({"done": key}) + b"\n")

    def flush(self) -> Optional[Exception]:
        """Returns when all changes so far are on disk."""
        with self._lock:
            if self._file is None:
                return None
            try:
                if not self._is_intact:
                    self._rewrite()
                os.fsync(self._file)
            except OSError as error:
                return error
            return None

    def close(self) -> Optional[Exception]:
        """Leaves a file with only the signals that are not done."""
        with self._lock:
            if self._file is None:
                return None
            failure = None
            try:
                self._rewrite()
            except OSError as error:
                failure = error
            self._close_file()
            self._file_lock.release()
            return failure

    def after_fork(self) -> None:
        """Leaves the file to the parent process."""
        self._lock = threading.Lock()
        self._close_file()
        self._file_lock.release()

    def _close_file(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self, line: bytes) -> Optional[Exception]:
        if self._file is None:
            return None
        self._line_count += 1
        try:
            if not self._is_intact or self._line_count > len(self._stored) + _max_obsolete_lines:
                self._rewrite()
            else:
                _write_all(self._file, line)
        except OSError as error:
            # The file may hold part of the line, so the next write replaces it.
            self._is_intact = False
            return error
        return None

    def _rewrite(self) -> None:
        """Replaces the file by one with only the stored signals. The rename is atomic, so a crash leaves a complete
        file.
        """
        new_path = f"{self._path}.new"
        new_file = os.open(new_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _file_mode)
        try:
            # The mode of a file that a crash left behind is still its own.
            os.chmod(new_path, _file_mode)
            _write_all(new_file, b"".join(self._stored.values()))
            os.fsync(new_file)
        finally:
            os.close(new_file)
        # Windows replaces no file that is open.
        self._close_file()
        try:
            os.replace(new_path, self._path)
        finally:
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _file_mode)
        self._line_count = len(self._stored)
        self._is_intact = True


def _write_all(file: int, text: bytes) -> None:
    view = memoryview(text)
    while view:
        view = view[os.write(file, view) :]


def _read_signals(path: Path) -> list[QueuedSignal]:
    """The signals that were added and not removed. The last line may be incomplete if the process was killed."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    signals: dict[str, QueuedSignal] = {}
    for line in text.split(b"\n"):
        try:
            parsed = decode_json(line)
        except ValueError:
            continue
        queued = from_line(parsed)
        if queued is not None:
            signals[queued.key] = queued
        elif isinstance(parsed, dict) and isinstance(parsed.get("done"), str):
            signals.pop(parsed["done"], None)
    return list(signals.values())
