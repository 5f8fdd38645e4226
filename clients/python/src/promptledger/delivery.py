"""Keeps the live texts of prompts, and chooses one for each unit without a request."""

from __future__ import annotations

import atexit
import importlib
import logging
import os
import random
import threading
import time
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

from .assignment import position_of
from .cancellation import CallCancelled, Cancellation, use_cancellation
from .exposures import Exposures
from .fork import reset_after_fork
from .json_text import decode_json, encode_json
from .models import DeliveredPrompt
from .prompt_text import AssignedTrial, DeliveryOptions, PromptText
from .retry import seconds_of
from .text_copy import TextCopy, default_folder
from .transport import Operation, Transport, Unsuccessful

_log = logging.getLogger("promptledger")
_first_wait_seconds = 0.2
_default_refresh_seconds = 15.0
_max_refresh_seconds = 300.0
_max_retry_after_seconds = 3_600.0
_report_seconds = 60.0
_exit_seconds = 1.0
# Of a request, whatever the timeout of the client: one that never ended would be the last.
_timeout_seconds = 30.0
_max_interval_seconds = 86_400.0
_max_reported = 100


class Delivery:
    """One for each client. Safe for use by several threads."""

    def __init__(self, transport: Transport, options: DeliveryOptions) -> None:
        self._transport = transport.with_options(max_retries=0, own_timeout=_timeout_seconds)
        self._options = options
        self._exposures = Exposures(transport)
        self._fallbacks: dict[str, str] = {}
        self._reported: set[str] = set()
        self._last_failure = ""
        self._failures = 0
        self._etag: Optional[str] = None
        self._refresh_seconds = _default_refresh_seconds
        self._prompts: dict[str, Optional[DeliveredPrompt]] = {}
        self._copy: Optional[TextCopy] = None
        self._is_closed = False
        self._prepare()
        reset_after_fork(self)

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._is_started = False
        self.is_ready = False
        self._first_refresh = threading.Event()
        self._closing = threading.Event()
        self._cancellation = Cancellation()

    def after_fork(self) -> None:
        """The thread stays with the parent, and units of the child count for themselves. Texts in memory are as good as before."""
        self._exposures.reset()
        self._prepare()

    def text(
        self, prompt: str, unit: Union[str, int, None], fallback: Union[str, "os.PathLike[str]", None], fallback_text: str
    ) -> PromptText:
        if not self.is_ready:
            self._wait_for_first_refresh()
        last_resort = fallback_text if fallback is None else self._fallback(fallback)
        named = self._name_of(unit)
        found = self._prompts.get(prompt) if isinstance(prompt, str) else None
        if found is None:
            return PromptText(last_resort, None, None, prompt, named)
        trial = found["trial"]
        if trial is None or named is None:
            return PromptText(found["text"], found["version"], None, found["id"], named)
        position = position_of(trial["id"], named)
        is_candidate = position < trial["share"]
        if not self._is_closed:
            self._exposures.count(trial["id"], trial["share"], position, "candidate" if is_candidate else "control")
        assigned = AssignedTrial(trial["id"], "candidate" if is_candidate else "control")
        if is_candidate:
            return PromptText(trial["text"], trial["version"], assigned, found["id"], named)
        return PromptText(found["text"], found["version"], assigned, found["id"], named)

    def close(self, timeout: float) -> None:
        """Stops asking the service, and sends what was counted, for up to `timeout` seconds. Texts in memory stay available."""
        self._is_closed = True
        self._closing.set()
        self._cancellation.cancel()
        atexit.unregister(self._close_at_exit)
        if timeout > 0:
            try:
                self._exposures.send(timeout)
            except Exception:
                _log.debug("exposures not sent", exc_info=True)

    def _close_at_exit(self) -> None:
        self.close(_exit_seconds)

    def _wait_for_first_refresh(self) -> None:
        with self._lock:
            is_fresh = not self._is_started and not self._is_closed and self._start()
        if not is_fresh and not self._is_closed:
            self._first_refresh.wait(_first_wait_seconds)
        self.is_ready = True

    def _start(self) -> bool:
        """Whether another process has just refreshed the copy. Called with the lock held."""
        self._is_started = True
        is_fresh = self._load()
        try:
            threading.Thread(target=self._work, name="promptledger-texts", daemon=True).start()
            atexit.register(self._close_at_exit)
        except RuntimeError as error:
            # No threads can be started while the interpreter exits.
            self._report(error)
            self._first_refresh.set()
        return is_fresh

    def _load(self) -> bool:
        try:
            folder = default_folder() if self._options.folder is None else self._options.folder
            if folder is None or folder is False:
                return False
            self._copy = TextCopy(Path(folder) / f"{self._transport.fingerprint(self._options.prompts or '')}.json")
            found = self._copy.read()
            if found is None:
                return False
            text, age = found
            stored = decode_json(text)
            self._use(stored["document"], stored["etag"])
            return age < self._interval()
        except Exception as error:
            self._report(error)
            return False

    def _use(self, document: Mapping[str, Any], etag: Optional[str]) -> None:
        prompts = _index_of(document["prompts"])
        self._refresh_seconds = float(document.get("refresh_seconds") or _default_refresh_seconds)
        self._prompts, self._etag = prompts, etag

    def _interval(self) -> float:
        interval = self._options.refresh_interval
        seconds = self._refresh_seconds if interval is None else interval
        return min(seconds, _max_interval_seconds) if seconds > 0 else _default_refresh_seconds

    def _work(self) -> None:
        use_cancellation(self._cancellation)
        closing, first_refresh = self._closing, self._first_refresh
        next_report = time.monotonic() + _report_seconds
        while not closing.is_set():
            next_refresh = self._refresh() + time.monotonic()
            first_refresh.set()
            while not closing.wait(max(0.0, min(next_refresh, next_report) - time.monotonic())):
                if time.monotonic() >= next_report:
                    self._send_exposures()
                    next_report = time.monotonic() + _report_seconds
                if time.monotonic() >= next_refresh:
                    break

    def _send_exposures(self) -> None:
        try:
            self._exposures.send()
        except Exception:
            # The next request reports the same totals.
            _log.debug("exposures not sent", exc_info=True)

    def _refresh(self) -> float:
        """Asks the service once. Returns the seconds until the next time."""
        asked_for = 0.0
        try:
            decoders = _decoders()
            headers = {"Accept-Encoding": ", ".join(decoders), **({} if self._etag is None else {"If-None-Match": self._etag})}
            query = {"prompts": self._options.prompts}
            body, received = self._transport.attempt(Operation("GET", "/delivery", query=query, headers=headers))
            encoding = received.get("Content-Encoding")
            if encoding is not None:
                body = decoders[encoding](body)
            document, etag = decode_json(body)["data"], received.get("ETag")
            self._use(document, etag)
            self._succeed()
            self._write({"etag": etag, "document": document})
        except CallCancelled:
            return 0.0
        except Unsuccessful as response:
            if response.error.status == 304:
                self._succeed()
                if self._copy is not None:
                    self._copy.touch()
            else:
                asked_for = min(seconds_of(response.retry_after) or 0.0, _max_retry_after_seconds)
                self._fail(response.error)
        except Exception as error:
            self._fail(error)
        interval = self._interval()
        backoff = min(interval * 2.0**self._failures, max(interval, _max_refresh_seconds))
        # Processes that started together must not ask together.
        return max(backoff * random.uniform(0.9, 1.1), asked_for)

    def _write(self, stored: Mapping[str, Any]) -> None:
        try:
            if self._copy is not None:
                self._copy.write(encode_json(stored))
        except OSError as error:
            self._report(error)

    def _succeed(self) -> None:
        self._failures = 0
        # The next outage is news again.
        self._reported.discard(self._last_failure)

    def _fail(self, error: Exception) -> None:
        # Beyond, the delay no longer grows.
        self._failures = min(self._failures + 1, 30)
        self._last_failure = _key_of(error)
        if not self._is_closed:
            self._report(error)

    def _fallback(self, fallback: Union[str, "os.PathLike[str]"]) -> str:
        """Reads each file once, on the first call, so that a missing one is noticed before it is needed."""
        try:
            path = os.fspath(fallback)
            text = self._fallbacks.get(path)
            if text is None:
                # Also if it fails.
                self._fallbacks[path] = ""
                text = self._fallbacks[path] = Path(path).read_text("utf-8")
            return text
        except Exception as error:
            self._report(error)
            return ""

    def _name_of(self, unit: Any) -> Optional[str]:
        """None without a unit. An object that cannot be written as text names none."""
        try:
            return None if unit is None or unit == "" else str(unit)
        except Exception as error:
            self._report(error)
            return None

    def _report(self, error: Exception) -> None:
        message = _key_of(error)
        if message in self._reported:
            return
        if len(self._reported) >= _max_reported:
            self._reported.clear()
        self._reported.add(message)
        try:
            if self._options.on_error is None:
                _log.warning("texts of prompts: %s", error)
            else:
                self._options.on_error(error)
        except Exception:
            # A call for a text never fails, whatever the application does here.
            _log.exception("on_error raised")


def _decoders() -> dict[str, Callable[[bytes], bytes]]:
    """The encodings that this Python can decode, best first. Brotli is a package; zstd comes with Python 3.14."""
    found: dict[str, Callable[[bytes], bytes]] = {}
    for encoding, module in (("br", "brotli"), ("zstd", "compression.zstd"), ("gzip", "gzip")):
        try:
            found[encoding] = importlib.import_module(module).decompress
        except ImportError:
            continue
    return found


def _key_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _index_of(prompts: list[DeliveredPrompt]) -> dict[str, Optional[DeliveredPrompt]]:
    """By ID, name and path, in this order. None for one that several prompts have."""
    index: dict[str, Optional[DeliveredPrompt]] = {prompt["id"]: prompt for prompt in prompts}
    by_name: dict[str, Optional[DeliveredPrompt]] = {}
    by_path: dict[str, Optional[DeliveredPrompt]] = {}
    for prompt in prompts:
        by_name[prompt["name"]] = None if prompt["name"] in by_name else prompt
        by_path[prompt["path"]] = None if prompt["path"] in by_path else prompt
    return {**by_path, **by_name, **index}
