"""The key that signs tokens, in an object that never shows it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
from typing import Optional, Union

_SHAPE = re.compile(r"pls_([0-9A-Za-z]{16})_[0-9A-Za-z]{49}")
_PROMPT_ID = re.compile(r"pmt_[0-9A-Za-z]{24}")
_COMMIT_SHA = re.compile(r"[0-9a-fA-F]{7,40}")
# Control characters and lone surrogates.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MAX_LIFETIME = 604_800
_MAX_LABEL_LENGTH = 255
_MAX_TOKEN_LENGTH = 1_024
# The largest integer that JavaScript represents exactly.
_MAX_ENTRY_ID = 2**53 - 1


class SigningKey:
    """Holds the key, so that no representation, log line or traceback with local variables contains it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def sign(
        self,
        prompt: str,
        subject: str,
        version: Union[str, int, None],
        voter: Optional[str],
        expires_in: int,
        now: float,
    ) -> str:
        """Signs a token. `now` is in seconds since 1970."""
        key_id = self._public_id()
        if not isinstance(prompt, str) or _PROMPT_ID.fullmatch(prompt) is None:
            raise ValueError(
                "prompt must be the ID of a prompt, which starts with pmt_: signing cannot look up a name"
            )
        if not _is_int(expires_in) or not 1 <= expires_in <= _MAX_LIFETIME:
            raise ValueError(f"expires_in must be a whole number of seconds from 1 to {_MAX_LIFETIME}")
        # The order is part of the format: every client signs the same bytes.
        payload: dict[str, Union[str, int]] = {"k": key_id, "p": prompt}
        if version is not None:
            payload["v"] = _valid_version(version)
        payload["s"] = _valid_label("subject", subject)
        if voter is not None:
            payload["u"] = _valid_label("voter", voter)
        payload["e"] = int(now) + expires_in
        text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
        signed = f"plt_{_base64url(text.encode())}"
        signature = hmac.new(self._secret.encode(), signed.encode(), hashlib.sha256).digest()
        token = f"{signed}.{_base64url(signature)}"
        if len(token) > _MAX_TOKEN_LENGTH:
            raise ValueError(
                f"The token would have more than {_MAX_TOKEN_LENGTH} characters. Shorten subject or voter"
            )
        return token

    def _public_id(self) -> str:
        """The part of the key by which the service finds it."""
        # In a function of its own, because the representation of a match contains most of the key.
        shape = _SHAPE.fullmatch(self._secret)
        if shape is None:
            raise ValueError("The signing key is malformed: it starts with pls_ and has 70 characters")
        return shape[1]

    def __repr__(self) -> str:
        return "SigningKey(…)"

    def __reduce__(self) -> str:
        raise TypeError("A signing key cannot be pickled: create the client in each process")


def read_signing_key(given: Optional[str]) -> Optional[SigningKey]:
    """The given key, or that of the environment. None if there is none: only signing needs it."""
    key = os.environ.get("PROMPTLEDGER_SIGNING_KEY", "") if given is None else given
    # Files with secrets often end with a line break.
    key = key.strip()
    return SigningKey(key) if key else None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _valid_version(version: Union[str, int]) -> Union[str, int]:
    if isinstance(version, str) and _COMMIT_SHA.fullmatch(version) is not None:
        return version
    if isinstance(version, int) and _is_int(version) and 0 < version <= _MAX_ENTRY_ID:
        return version
    raise ValueError("version must be a commit SHA of 7 to 40 hexadecimal digits, or the ID of a history entry")


def _valid_label(name: str, text: str) -> str:
    if isinstance(text, str) and 1 <= len(text) <= _MAX_LABEL_LENGTH and _UNUSABLE.search(text) is None:
        return text
    raise ValueError(f"{name} must have 1 to {_MAX_LABEL_LENGTH} characters, without control characters")


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
