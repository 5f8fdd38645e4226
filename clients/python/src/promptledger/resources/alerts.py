"""Where people are told about regressions."""

from __future__ import annotations

from typing import Optional, Sequence, Union
from urllib.parse import quote

from ..models import (
    AddedAlert,
    Alert,
    AlertDelivery,
    AlertEvent,
    AlertState,
    Channel,
    RotatedAlertSecret,
    TestedAlert,
)
from ..not_given import NOT_GIVEN, NotGiven, given, not_none
from ..page import Page, Pages, plain_pages
from ..transport import Operation, Transport

# The receiver has 10 s to respond.
_test_timeout = 30.0


class Alerts:
    """Where people are told about regressions. Needs a key with the role `admin`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, page: Optional[int] = None, limit: Optional[int] = None) -> Pages[Alert, Page[Alert]]:
        """Lists the alerts."""
        return plain_pages(self._transport, "/alerts", {"page": page, "limit": limit})

    def get(self, alert_id: str) -> Alert:
        """Returns an alert, with its newest delivery."""
        alert: Alert = self._transport.data(Operation("GET", _path_of(alert_id)))
        return alert

    def add(
        self,
        *,
        name: str,
        channel: Channel,
        target: str,
        prompts: Optional[str] = None,
        events: Optional[Sequence[AlertEvent]] = None,
        hold_minutes: Optional[int] = None,
        min_signals: Optional[int] = None,
        recovery_hold_minutes: Optional[int] = None,
        repeat_hours: Optional[int] = None,
    ) -> AddedAlert:
        """Adds an alert. Only this response contains the signing secret of a webhook.

        `target` is the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or the
        routing key of PagerDuty. `prompts` is a glob of the prompts that it is about.
        """
        optional = {
            "prompts": prompts,
            "events": events,
            "hold_minutes": hold_minutes,
            "min_signals": min_signals,
            "recovery_hold_minutes": recovery_hold_minutes,
            "repeat_hours": repeat_hours,
        }
        body = {"name": name, "channel": channel, "target": target, **not_none(optional)}
        added: AddedAlert = self._transport.data(Operation("POST", "/alerts", body=body))
        return added

    def update(
        self,
        alert_id: str,
        *,
        name: Union[str, NotGiven] = NOT_GIVEN,
        target: Union[str, NotGiven] = NOT_GIVEN,
        prompts: Union[str, NotGiven] = NOT_GIVEN,
        events: Union[Sequence[AlertEvent], NotGiven] = NOT_GIVEN,
        hold_minutes: Union[int, NotGiven] = NOT_GIVEN,
        min_signals: Union[int, NotGiven] = NOT_GIVEN,
        recovery_hold_minutes: Union[int, NotGiven] = NOT_GIVEN,
        repeat_hours: Union[int, None, NotGiven] = NOT_GIVEN,
        state: Union[AlertState, NotGiven] = NOT_GIVEN,
    ) -> Alert:
        """Changes everything that is given. The channel cannot be changed. `repeat_hours` None tells only once."""
        fields = {
            "name": name,
            "target": target,
            "prompts": prompts,
            "events": events,
            "hold_minutes": hold_minutes,
            "min_signals": min_signals,
            "recovery_hold_minutes": recovery_hold_minutes,
            "repeat_hours": repeat_hours,
            "state": state,
        }
        updated: Alert = self._transport.data(Operation("PATCH", _path_of(alert_id), body=given(fields)))
        return updated

    def remove(self, alert_id: str) -> None:
        """Removes an alert, and cancels what is waiting to be sent to it."""
        self._transport.json(Operation("DELETE", _path_of(alert_id)))

    def test(self, alert_id: str) -> TestedAlert:
        """Sends a test message. The result says whether the receiver accepted it. The timeout defaults to 30 s."""
        operation = Operation("POST", f"{_path_of(alert_id)}/test", timeout=_test_timeout)
        tested: TestedAlert = self._transport.data(operation)
        return tested

    def rotate_secret(self, alert_id: str, *, overlap_hours: Optional[float] = None) -> RotatedAlertSecret:
        """Creates a new signing secret. Only this response contains it. Requests carry both signatures for
        `overlap_hours`.
        """
        body = not_none({"overlap_hours": overlap_hours})
        operation = Operation("POST", f"{_path_of(alert_id)}/rotate-secret", body=body)
        rotated: RotatedAlertSecret = self._transport.data(operation)
        return rotated

    def deliveries(
        self, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[AlertDelivery, Page[AlertDelivery]]:
        """Lists what was sent, what is waiting and what failed, of all alerts. The newest comes first."""
        return plain_pages(self._transport, "/alerts/deliveries", {"page": page, "limit": limit})

    def deliveries_of(
        self, alert_id: str, *, page: Optional[int] = None, limit: Optional[int] = None
    ) -> Pages[AlertDelivery, Page[AlertDelivery]]:
        """The same of one alert."""
        return plain_pages(self._transport, f"{_path_of(alert_id)}/deliveries", {"page": page, "limit": limit})

    def retry(self, delivery_id: str) -> AlertDelivery:
        """Sends a failed delivery again, with the same ID."""
        path = f"/alerts/deliveries/{quote(delivery_id, safe='')}/retry"
        delivery: AlertDelivery = self._transport.data(Operation("POST", path))
        return delivery


def _path_of(alert_id: str) -> str:
    return f"/alerts/{quote(alert_id, safe='')}"
