"""Changes that made prompts worse."""

from __future__ import annotations

from typing import Optional

from ..models import Regression, RegressionDetails, RegressionSort, RegressionState
from ..page import Page, Pages, plain_pages
from ..transport import Operation, Transport
from .prompts import prompt_path


class Regressions:
    """Changes that made prompts worse."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        state: Optional[RegressionState] = None,
        sort: Optional[RegressionSort] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Regression, Page[Regression]]:
        """Lists the changes that made prompts of the organisation worse. The last one found comes first, unless `sort`
        is set: `difference` is the largest loss first.
        """
        query = {"state": state, "sort": sort, "page": page, "limit": limit}
        return plain_pages(self._transport, "/regressions", query)

    def list_of_prompt(
        self,
        prompt: str,
        *,
        state: Optional[RegressionState] = None,
        sort: Optional[RegressionSort] = None,
        page: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Pages[Regression, Page[Regression]]:
        """Lists the changes that made a prompt worse. The last one found comes first, unless `sort` is set."""
        query = {"state": state, "sort": sort, "page": page, "limit": limit}
        return plain_pages(self._transport, f"{prompt_path(prompt)}/regressions", query)

    def get(self, prompt: str, regression_id: int) -> RegressionDetails:
        """Returns a regression, with what alerts and the pull request were told about it."""
        path = f"{prompt_path(prompt)}/regressions/{int(regression_id)}"
        regression: RegressionDetails = self._transport.data(Operation("GET", path))
        return regression

    def dismiss(self, prompt: str, regression_id: int, *, note: str) -> Regression:
        """Dismisses an open regression. Dismissing it again changes nothing."""
        path = f"{prompt_path(prompt)}/regressions/{int(regression_id)}/dismiss"
        dismissed: Regression = self._transport.data(Operation("POST", path, body={"note": note}, is_idempotent=True))
        return dismissed
