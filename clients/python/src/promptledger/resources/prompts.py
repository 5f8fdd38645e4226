"""Prompts, and their live texts."""

from __future__ import annotations

import os
from typing import Union

from .. import generated
from ..delivery import Delivery
from ..prompt_text import PromptText
from ..transport import Transport


class Prompts(generated.Prompts):
    """Prompts, and their live texts."""

    def __init__(self, transport: Transport, delivery: Delivery) -> None:
        super().__init__(transport)
        self._delivery = delivery

    def text(
        self,
        prompt: str,
        *,
        unit: Union[str, int, None] = None,
        fallback: Union[str, "os.PathLike[str]", None] = None,
        fallback_text: str = "",
    ) -> PromptText:
        """The live text of a prompt, or the one that a trial chose for the unit.

        Never raises: without the service it uses the last texts that it got, then those on disk, then the file `fallback` or
        `fallback_text`. The first call waits up to 200 ms, and later ones for nothing. `unit` is the user or conversation that
        the text is for, which gets the same version every time; without it, always the live version.
        """
        return self._delivery.text(prompt, unit, fallback, fallback_text)
