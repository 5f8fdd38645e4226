"""Tokens that pages vote with."""

from __future__ import annotations

import time
from typing import Optional, Union

from ..signing_key import SigningKey


class Tokens:
    """Tokens that pages vote with. Needs a key with the role `signing`, and sends no request."""

    def __init__(self, signing_key: Optional[SigningKey]) -> None:
        self._signing_key = signing_key

    def sign(
        self,
        *,
        prompt: str,
        subject: str,
        version: Union[str, int, None] = None,
        voter: Optional[str] = None,
        expires_in: int = 3_600,
    ) -> str:
        """Signs a token that lets its holder vote on one subject until it expires.

        Args:
            prompt: The ID of the prompt. Its name cannot be used, because signing sends no request.
            subject: What is voted on, such as the ID of the output: 1 to 255 characters.
            version: The version that produced the output: a commit SHA, or the ID of a history entry.
            voter: Who votes: 1 to 255 characters. The page can read it in the token.
            expires_in: Seconds until the token expires, at most 604,800 (7 days).
        """
        if self._signing_key is None:
            raise ValueError("No signing key: set PROMPTLEDGER_SIGNING_KEY to one, or pass signing_key")
        return self._signing_key.sign(prompt, subject, version, voter, expires_in, time.time())
