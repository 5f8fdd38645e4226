"""The history with all details."""

from __future__ import annotations

from typing import Any, Literal, Optional, Sequence
from urllib.parse import quote

from .. import generated
from ..models import Action, TimelineEntry
from ..page import AttributedPage, Pages
from ..stream import Stream, stream_csv, stream_items
from ..times import Time


class Timeline(generated.Timeline):
    """The history with the details of each change, and its effect."""

    def list(
        self,
        prompt: str,
        *,
        action: Optional[Sequence[Action]] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        pulls: Optional[Literal["all", "outcome"]] = None,
        model_changes: Optional[Literal["true"]] = None,
        as_of: Optional[Time] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[TimelineEntry, AttributedPage[TimelineEntry]]:
        """Lists the history, newest first, with the details of each change and the effect of those that went live.

        `action` leaves only entries with one of these actions. `pulls="outcome"` has one entry for each pull request
        that was merged or closed, without its opening. `model_changes="true"` adds to each page when the model changed.
        `as_of` answers as if nothing had come after that time.
        """
        filters = _filter(action, since, until, pulls, as_of)
        query = {**filters, "model_changes": model_changes, "page": page, "limit": limit}
        return Pages(
            self._transport,
            _path_of(prompt),
            query,
            lambda body: AttributedPage(
                body["data"], body["pagination"], body["unknown_versions"], body.get("model_changes")
            ),
        )

    def export(
        self,
        prompt: str,
        *,
        action: Optional[Sequence[Action]] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        pulls: Optional[Literal["all", "outcome"]] = None,
        as_of: Optional[Time] = None,
    ) -> Stream[TimelineEntry]:
        """Streams the whole history with its figures, newest first. The timeout limits the wait for each part of the
        response.

        An export that breaks off raises a `ConnectionError`, and is not retried.
        """
        query = _filter(action, since, until, pulls, as_of)
        return stream_items(self._transport, f"{_path_of(prompt)}/export", query)

    def export_csv(
        self,
        prompt: str,
        *,
        action: Optional[Sequence[Action]] = None,
        since: Optional[Time] = None,
        until: Optional[Time] = None,
        pulls: Optional[Literal["all", "outcome"]] = None,
        as_of: Optional[Time] = None,
    ) -> Stream[str]:
        """The same as the text of a CSV file, in chunks."""
        query = _filter(action, since, until, pulls, as_of)
        return stream_csv(self._transport, f"{_path_of(prompt)}/export", query)


def _path_of(prompt: str) -> str:
    return f"/prompts/{quote(prompt, safe='')}/timeline"


def _filter(
    action: Optional[Sequence[Action]],
    since: Optional[Time],
    until: Optional[Time],
    pulls: Optional[Literal["all", "outcome"]],
    as_of: Optional[Time],
) -> dict[str, Any]:
    """The API expects the actions separated by commas."""
    actions = None if action is None else action if isinstance(action, str) else ",".join(action)
    return {"action": actions, "since": since, "until": until, "pulls": pulls, "as_of": as_of}
