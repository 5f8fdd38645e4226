"""Which keys of the metadata divide signals into segments."""

from __future__ import annotations

from typing import Optional, Sequence

from ..models import PromptSegmentKeys, SegmentKeys
from ..transport import Operation, Transport
from .prompts import prompt_path


class Segments:
    """Which keys of the metadata divide signals into segments."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> SegmentKeys:
        """Returns the keys that apply to every prompt without keys of its own."""
        segments: SegmentKeys = self._transport.data(Operation("GET", "/segments"))
        return segments

    def declare(self, *, keys: Sequence[str]) -> SegmentKeys:
        """Replaces these keys. Needs a key with the role `admin`."""
        segments: SegmentKeys = self._transport.data(Operation("PUT", "/segments", body={"keys": keys}))
        return segments

    def of_prompt(self, prompt: str) -> PromptSegmentKeys:
        """Returns the keys that apply to a prompt."""
        segments: PromptSegmentKeys = self._transport.data(Operation("GET", f"{prompt_path(prompt)}/segments"))
        return segments

    def declare_for_prompt(self, prompt: str, *, keys: Optional[Sequence[str]]) -> PromptSegmentKeys:
        """Replaces the keys of a prompt; None for those of the organisation. Needs a key with the role `admin`."""
        operation = Operation("PUT", f"{prompt_path(prompt)}/segments", body={"keys": keys})
        segments: PromptSegmentKeys = self._transport.data(operation)
        return segments
