"""Every operation of the API, and the types of what it returns."""

from __future__ import annotations

import inspect
import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

import pytest

from conformity import assert_conforms
from ledger_service import LedgerService, root
from promptledger import (
    AsyncPromptledger,
    NotFoundError,
    Promptledger,
    PromptledgerError,
    UnauthorizedError,
    ValidationError,
    models,
)
from promptledger.signing_key import SigningKey

now = datetime(2026, 11, 15, 12, tzinfo=timezone.utc)
called: set[str] = set()


class Admin:
    """A client with an admin key, and its prompt."""

    def __init__(self, service: LedgerService) -> None:
        self.service = service
        self.tenant = service.tenant(role="admin")
        self.prompt = self.tenant.prompt
        self.ledger = service.ledger(self.tenant)


@pytest.fixture
def admin(service: LedgerService) -> Any:
    admin = Admin(service)
    yield admin
    called.update(f"{request['method']} {request['url'].split('?')[0]}" for request in service.requests)


def test_prompts_can_be_created_renamed_listed_and_deleted(admin: Admin) -> None:
    prompts = admin.ledger.prompts
    created = prompts.create(name="Support answers")
    assert_conforms(created, models.Prompt)
    assert created["id"].startswith("pmt_")
    renamed = prompts.rename(created["id"], name="Answers")
    created["name"] = "Answers"
    assert prompts.get("Answers") == renamed == created
    assert prompts.list(q="ANSW", sort="-last_change").page().data == [renamed]
    assert renamed in prompts.list(sort="effect")
    prompts.delete(created["id"])
    with pytest.raises(NotFoundError):
        prompts.get(created["id"])


def test_segments_can_be_declared_for_the_organisation_and_for_a_prompt(admin: Admin) -> None:
    segments = admin.ledger.segments
    assert segments.declare(keys=["model", "locale"]) == {"keys": ["model", "locale"]}
    assert segments.get() == {"keys": ["model", "locale"]}
    assert segments.of_prompt(admin.prompt) == {"keys": ["model", "locale"], "source": "organisation"}
    own = segments.declare_for_prompt(admin.prompt, keys=["app"])
    assert own == segments.of_prompt(admin.prompt) == {"keys": ["app"], "source": "prompt"}
    assert_conforms(own, models.PromptSegmentKeys)
    assert segments.declare_for_prompt(admin.prompt, keys=None)["source"] == "organisation"


def test_history_entries_can_be_recorded_and_read(admin: Admin) -> None:
    history = admin.ledger.history
    recorded = history.record(
        admin.prompt,
        action="pr_merged",
        user={"name": "Ada Lovelace", "email": "ada@example.com"},
        commit_sha="a1" * 20,
        pr_number=42,
        pr_url="https://github.com/acme/prompts/pull/42",
        branch_name="main",
        created_at=now - timedelta(hours=2),
    )
    assert_conforms(recorded, models.HistoryEntry)
    assert recorded["created_at"] == "2026-11-15T10:00:00.000Z"
    page = history.list(admin.prompt).page()
    assert page.data == [recorded]
    assert_conforms(page.pagination, models.Pagination)
    found = history.find(recorded["id"])
    assert_conforms(found, models.FoundEntry)
    assert (found["prompt"]["id"], found["entry"]) == (admin.prompt, recorded)
    details = history.get(admin.prompt, recorded["id"])
    assert_conforms(details, models.HistoryEntryDetails)
    live = history.live(admin.prompt)
    assert_conforms(live, models.Live)
    assert live["entry"] == recorded
    with pytest.raises(NotFoundError):
        history.live(admin.prompt, at=now - timedelta(hours=3))


def test_deployments_of_prompts_and_repositories_can_be_recorded_and_listed(admin: Admin) -> None:
    deployments = admin.ledger.deployments
    recorded = deployments.record(
        admin.prompt, environment="production", commit_sha="a1" * 20, state="success", share=0.5
    )
    assert_conforms(recorded, models.PromptDeployment)
    assert deployments.list(admin.prompt).page().data == [recorded]
    admin.service.add_entries(admin.tenant, 0, 1)
    live = admin.ledger.history.live(admin.prompt)
    assert_conforms(live, models.Live)
    assert [(each["environment"], each["production"]) for each in live["environments"]] == [("production", True)]
    git = admin.service.git_repository()
    repository = admin.ledger.repositories.connect(forge="github", url=git["url"], path="prompts/**")
    of_repository = deployments.record_of_repository(
        repository["id"], environment="production", commit_sha=git["commit"], state="success", at=now
    )
    assert_conforms(of_repository, models.Deployment)
    # On a busy machine, git may take longer than the service waits: then the commit is located later.
    assert of_repository["commit_state"] in ("located", "pending")
    listed = deployments.list_of_repository(repository["id"]).page().data
    assert [each["id"] for each in listed] == [of_repository["id"]]


def test_signals_can_be_recorded_listed_counted_exported_and_deleted(admin: Admin) -> None:
    signals = admin.ledger.signals
    metadata = {"trace": "abc", "nested": {"list": [1, None, "ü"]}}
    signal = signals.create(
        admin.prompt,
        value="positive",
        metadata=metadata,
        subject="a-1",
        voter="u-1",
        comment="Good.",
        version="8f3a1c5",
        occurred_at=now - timedelta(minutes=5),
        traceparent="00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    )
    assert_conforms(signal, models.RecordedSignal)
    signals.create(admin.prompt, value="negative")
    page = signals.list(admin.prompt, value="positive", since=now - timedelta(hours=1), until=now).page()
    (listed,) = page.data
    assert_conforms(listed, models.Signal)
    assert_conforms(page.pagination, models.SearchPagination)
    assert (listed["id"], listed["metadata"], listed["comment"]) == (signal["id"], metadata, "Good.")
    assert (listed["occurred_at"], listed["trace_id"]) == (
        "2026-11-15T11:55:00.000Z",
        "4bf92f3577b34da6a3ce929d0e0e4736",
    )
    summary = signals.summary(admin.prompt, from_="2026-11-15T00:00:00Z", to=now + timedelta(hours=12), interval="day")
    assert_conforms(summary, models.Summary)
    assert summary["total"] == {"positive": 1, "negative": 1}
    admin.service.add_entries(admin.tenant, 0, 1)
    parts = signals.summary(admin.prompt, interval="auto", split="changes")
    assert_conforms(parts, models.Summary)
    assert parts["split"] and sum(part["changes"] for part in parts["data"]) == 1
    signals.delete(admin.prompt, signal["id"])
    assert [each["value"] for each in signals.export(admin.prompt)] == ["negative"]
    csv = "".join(signals.export_csv(admin.prompt))
    assert csv.startswith("id,value,created_at,metadata") and csv.count("\r\n") == 2


def test_a_further_vote_on_a_subject_replaces_the_first_and_can_be_withdrawn(admin: Admin) -> None:
    signals = admin.ledger.signals
    for value in ("positive", "negative"):
        signals.create(admin.prompt, value=value, subject="s-1")  # type: ignore[arg-type]
    assert [signal["value"] for signal in signals.list(admin.prompt)] == ["negative"]
    signals.withdraw(admin.prompt, "s-1")
    assert list(signals.list(admin.prompt)) == []
    with pytest.raises(NotFoundError):
        signals.withdraw(admin.prompt, "unknown")
    assert admin.service.used(admin.tenant) == 1


def test_a_search_by_comment_or_metadata_is_continued_to_its_end_when_it_is_iterated(admin: Admin) -> None:
    signals = admin.ledger.signals
    for number, model in enumerate(["small", "large", "small", "small"]):
        signals.create(admin.prompt, value="positive", comment=f"Comment {number}", metadata={"model": model})
    page = signals.list(admin.prompt, metadata={"model": "small"}, limit=2).page()
    assert page.search is not None
    assert_conforms(page.search, models.SignalSearch)
    assert (len(page.data), page.pagination["total_count"], page.search["complete"]) == (2, None, False)
    found = [signal["comment"] for signal in signals.list(admin.prompt, metadata={"model": "small"}, limit=2)]
    assert found == ["Comment 3", "Comment 2", "Comment 0"]
    exported = signals.export(admin.prompt, metadata={"model": "large"}, q="COMMENT", comment="any")
    assert [signal["comment"] for signal in exported] == ["Comment 1"]


def test_many_signals_are_recorded_in_one_request_with_a_result_for_each(admin: Admin) -> None:
    results = admin.ledger.signals.create_many(
        [
            {"prompt": admin.prompt, "value": "positive", "subject": "a"},
            {"prompt": admin.prompt, "value": "negative", "subject": "a"},
            {"prompt": "unknown", "value": "positive"},
        ]
    )
    assert [result.signal and result.signal["value"] for result in results] == ["positive", "negative", None]
    assert [result.error and result.error.status for result in results] == [None, None, 404]
    assert isinstance(results[2].error, NotFoundError)


def test_signals_can_be_erased_by_their_metadata_and_the_audit_log_says_who_did(admin: Admin) -> None:
    for user in ("u-1", "u-2"):
        admin.ledger.signals.create(admin.prompt, value="positive", metadata={"user": user})
    assert admin.ledger.signals.preview_erasure(metadata={"user": "u-1"}) == {"matching": 1}
    assert admin.ledger.signals.erase(metadata={"user": "u-1"}) == {"erased": 1}
    assert admin.ledger.signals.erase(voter="unknown") == {"erased": 0}
    assert [signal["metadata"] for signal in admin.ledger.signals.list(admin.prompt)] == [{"user": "u-2"}]
    entry = admin.ledger.audit.list(action="signals.erased", since=now).page().data[-1]
    assert_conforms(entry, models.AuditEntry)
    assert entry["details"] == {"erased": 1}
    key_id = admin.ledger.session.get()["key"]["id"]
    assert [each["action"] for each in admin.ledger.audit.list(actor=key_id)][-1:] == ["signals.erased"]
    assert all(each["actor"] is None for each in admin.ledger.audit.list(actor="operator"))


def test_the_impact_and_the_timeline_show_the_effect_of_each_change(admin: Admin) -> None:
    admin.service.add_entries(admin.tenant, 0, 1)
    admin.ledger.signals.create(admin.prompt, value="positive", version="abcdef1")
    admin.ledger.signals.create(admin.prompt, value="positive")
    impact = admin.ledger.impact.list(admin.prompt, as_of=now).page()
    assert_conforms(impact.data, list[models.ChangeImpact])
    assert_conforms(impact.unknown_versions, models.UnknownVersions)
    assert [change["after"]["positive"] for change in impact.data] == [1]
    assert impact.unknown_versions["positive"] == 1
    timeline = admin.ledger.timeline.list(admin.prompt, action=["deployed", "pr_opened"]).page()
    assert_conforms(timeline.data, list[models.TimelineEntry])
    assert [entry["entry"]["action"] for entry in timeline.data] == ["deployed"]
    assert list(admin.ledger.timeline.list(admin.prompt, action=["pr_opened"])) == []


def test_the_signals_that_the_impact_of_a_change_counts_can_be_listed_and_exported(admin: Admin) -> None:
    signals = admin.ledger.signals
    admin.service.add_entries(admin.tenant, 0, 2)
    (after, before) = admin.ledger.history.list(admin.prompt)
    first, second = (
        signals.create(admin.prompt, value="positive", version=entry["commit_sha"]) for entry in (before, after)
    )
    page = signals.list(admin.prompt, change=after["id"], side="after").page()
    assert_conforms(page.change, models.SignalsOfChange)
    assert page.change == {"entry_id": after["id"], "side": "after", "counted": 1, "removed": 0}
    assert [signal["id"] for signal in page.data] == [second["id"]]
    assert signals.list(admin.prompt).page().change is None
    exported = signals.export(admin.prompt, change=after["id"], side="before")
    assert [signal["id"] for signal in exported] == [first["id"]]


def test_one_change_of_the_timeline_can_be_read_with_its_effect_in_each_segment(admin: Admin) -> None:
    admin.service.add_entries(admin.tenant, 0, 1)
    (listed,) = admin.ledger.timeline.list(admin.prompt)
    assert admin.ledger.timeline.get(admin.prompt, listed["entry"]["id"], as_of=now) == listed
    admin.ledger.segments.declare(keys=["model"])
    with_segments = admin.ledger.timeline.get(admin.prompt, listed["entry"]["id"], by="metadata.model")
    assert_conforms(with_segments, models.TimelineEntry)
    listed["segments"] = None
    assert with_segments == listed


def test_the_timeline_can_have_one_row_per_pull_request_and_is_exported_as_objects_and_as_csv(admin: Admin) -> None:
    for action, minutes in (("pr_opened", 2), ("pr_merged", 1)):
        admin.ledger.history.record(
            admin.prompt,
            action=action,  # type: ignore[arg-type]
            user={"name": "Ada Lovelace", "email": "ada@example.com"},
            commit_sha="a1" * 20,
            pr_number=42,
            pr_url="https://github.com/acme/prompts/pull/42",
            branch_name="main",
            created_at=now - timedelta(minutes=minutes),
        )
    timeline = admin.ledger.timeline
    merged, opened = timeline.list(admin.prompt)
    assert_conforms(merged, models.TimelineEntry)
    outcomes = list(timeline.list(admin.prompt, pulls="outcome"))
    assert [each["entry"]["id"] for each in outcomes] == [merged["entry"]["id"]]
    assert list(timeline.export(admin.prompt)) == [merged, opened]
    assert list(timeline.export(admin.prompt, pulls="outcome")) == outcomes
    csv = "".join(timeline.export_csv(admin.prompt, action=["pr_merged"]))
    assert csv.split("\r\n")[1].startswith(f"{merged['entry']['id']},") and csv.count("\r\n") == 2


def test_versions_can_be_searched_and_blamed(admin: Admin) -> None:
    git = admin.service.git_repository()
    connected = admin.ledger.repositories.connect(forge="github", url=git["url"], path="prompts/**")
    prompt = connected["prompts"][0]["id"]
    versions = admin.ledger.versions
    page = versions.list(prompt, q=git["commit"][:10]).page()
    assert_conforms(page.data, list[models.PromptVersion])
    assert (len(page.data), page.complete) == (1, True)
    assert list(versions.list(prompt)) == page.data
    assert versions.list(prompt, q="unknown").page().data == []
    blame = versions.blame(prompt, entry=page.data[0]["entry"]["id"])
    assert_conforms(blame, models.Blame)
    assert (blame["content"], blame["lines"][0]["commit_sha"]) == ("Be kind.\n", git["commit"])
    assert versions.blame(prompt) == blame
    found = versions.search(q="be KIND").page()
    assert_conforms(found.data, list[models.TextMatch])
    assert_conforms(found.search, models.TextSearch)
    assert found.pagination["total_count"] == 1
    assert [match["excerpt"]["match"] for match in versions.search(q="be KIND", limit=1)] == ["Be kind"]


def test_share_links_can_be_created_listed_and_revoked(admin: Admin) -> None:
    shares = admin.ledger.shares
    created = shares.create(admin.prompt, expires_at=datetime.now(timezone.utc) + timedelta(days=1))
    assert_conforms(created, models.CreatedShare)
    (share,) = shares.list_of_prompt(admin.prompt)
    assert_conforms(share, models.Share)
    assert share["id"] == created["id"] and created["url"].endswith(share["hint"])
    assert list(shares.list()) == [share]
    shares.revoke(admin.prompt, share["id"])
    (revoked,) = shares.list()
    assert revoked["revoked_at"] is not None


def test_the_organisation_can_be_read_and_renamed(admin: Admin) -> None:
    organisation = admin.ledger.organisation.get()
    assert_conforms(organisation, models.Organisation)
    assert (organisation["name"], organisation["limits"]["signals_per_month"]) == ("Acme", 1_000)
    renamed = admin.ledger.organisation.rename(name="Acme Ltd")
    organisation["name"] = "Acme Ltd"
    assert renamed == admin.ledger.organisation.get() == organisation


def test_regressions_and_shifts_can_be_listed_taken_care_of_and_dismissed(admin: Admin) -> None:
    entry_id = admin.service.open_regression(admin.tenant)
    regressions, shifts = admin.ledger.regressions, admin.ledger.shifts
    (regression,) = regressions.list(state="open", sort="difference")
    assert_conforms(regression, models.Regression)
    assert regression["change"]["id"] == entry_id
    details = regressions.get(admin.prompt, regression["id"])
    assert_conforms(details, models.RegressionDetails)
    assert (details["id"], details["told"]) == (regression["id"], [])
    assert regressions.update(admin.prompt, regression["id"], owner="kim@example.com")["owner"] == "kim@example.com"
    with pytest.raises(PromptledgerError, match="repository"):
        regressions.propose(admin.prompt, regression["id"])
    dismissed = regressions.dismiss(admin.prompt, regression["id"], note="Accepted.")
    assert (dismissed["state"], dismissed["note"]) == ("dismissed", "Accepted.")
    assert list(regressions.list_of_prompt(admin.prompt, sort="-opened_at")) == [dismissed]
    (shift,) = shifts.list(cause="change", since=now - timedelta(days=1))
    assert_conforms(shift, models.Shift)
    assert list(shifts.list_of_prompt(admin.prompt, cause="change")) == [shift]
    (unexplained,) = shifts.list_of_prompt(admin.prompt, state="open")
    assert shifts.update(admin.prompt, unexplained["id"], owner="kim@example.com")["owner"] == "kim@example.com"
    assert shifts.dismiss(admin.prompt, unexplained["id"], note="Expected.")["state"] == "dismissed"
    assert_conforms(shifts.get(admin.prompt, unexplained["id"]), models.ShiftDetails)


def test_alerts_can_be_managed_and_tested_and_their_deliveries_listed_and_retried(admin: Admin) -> None:
    alerts = admin.ledger.alerts
    added = alerts.add(name="Us", channel="webhook", target=admin.service.receiver(), repeat_hours=24)
    assert_conforms(added, models.AddedAlert)
    (listed,) = alerts.list()
    assert_conforms(listed, models.Alert)
    assert all(added.get(name) == field for name, field in listed.items())
    # None is a value here: it tells only once.
    updated = alerts.update(added["id"], hold_minutes=0, events=["limit.near"], repeat_hours=None)
    assert (updated["hold_minutes"], updated["events"], updated["repeat_hours"]) == (0, ["limit.near"], None)
    assert alerts.get(added["id"]) == updated
    tested = alerts.test(added["id"])
    assert_conforms(tested, models.TestedAlert)
    assert (tested["sent"], tested["status"], tested["response"]) == (True, 200, "ok")
    rotated = alerts.rotate_secret(added["id"], overlap_hours=1)
    assert_conforms(rotated, models.RotatedAlertSecret)
    assert rotated["secret"] != added["secret"]
    failed = admin.service.failed_delivery(admin.tenant)
    (delivery,) = alerts.deliveries()
    assert_conforms(delivery, models.AlertDelivery)
    assert delivery["id"] == failed
    assert list(alerts.deliveries_of(added["id"])) == [delivery]
    assert alerts.retry(failed)["state"] == "pending"
    alerts.remove(added["id"])
    with pytest.raises(NotFoundError):
        alerts.get(added["id"])


def test_sources_can_be_managed(admin: Admin) -> None:
    sources = admin.ledger.sources
    added = sources.add(name="Chat", adapter="posthog", prompt="Support", positive_values=["great"])
    assert_conforms(added, models.AddedSource)
    (listed,) = sources.list()
    assert_conforms(listed, models.Source)
    assert all(added.get(name) == field for name, field in listed.items())
    updated = sources.update(added["id"], prompt=None, midpoint=3)
    assert (updated["prompt"], updated["midpoint"]) == (None, 3)
    assert sources.get(added["id"]) == updated
    sources.remove(added["id"])
    with pytest.raises(NotFoundError):
        sources.get(added["id"])


def test_the_usage_shows_the_plan_the_limit_and_the_signals_of_each_month(admin: Admin) -> None:
    admin.ledger.signals.create(admin.prompt, value="positive")
    usage = admin.ledger.usage.get()
    assert_conforms(usage, models.UsageReport)
    assert (usage["plan"], usage["limit"], usage["used"], usage["remaining"]) == ("free", 1_000, 1, 999)
    assert usage["months"][0] == {"month": "2026-11", "used": 1}


def test_keys_can_be_created_rotated_listed_and_revoked(admin: Admin) -> None:
    keys = admin.ledger.keys
    issued = keys.create(name="bot", role="ingest", expires_at=datetime(2027, 1, 1, tzinfo=timezone.utc))
    assert_conforms(issued, models.IssuedKey)
    assert issued["expires_at"] == "2027-01-01T00:00:00.000Z"
    rotated = keys.rotate(issued["id"], overlap_hours=0)
    assert rotated["key"] != issued["key"]
    keys.revoke(rotated["id"])
    (listed,) = [key for key in keys.list() if key["id"] == rotated["id"]]
    assert_conforms(listed, models.Key)
    assert listed["revoked_at"] is not None
    with pytest.raises(UnauthorizedError):
        Promptledger(api_key=rotated["key"], base_url=admin.service.address).usage.get()


def test_people_are_invited_and_sessions_are_listed(admin: Admin) -> None:
    ledger = admin.ledger
    invitation = ledger.invitations.create(role="viewer", email="Ada@Example.com")
    assert_conforms(invitation, models.CreatedInvitation)
    (listed,) = ledger.invitations.list()
    assert_conforms(listed, models.Invitation)
    assert listed["email"] == "ada@example.com"
    ledger.invitations.revoke(invitation["id"])
    assert list(ledger.people.list()) == []
    with pytest.raises(NotFoundError):
        ledger.people.update(987654321, disabled=True)
    with pytest.raises(NotFoundError):
        ledger.people.delete(987654321)
    assert_conforms(ledger.people.check_sign_in(), models.SignInCheck)
    assert list(ledger.sessions.list()) == []
    with pytest.raises(NotFoundError):
        ledger.sessions.end("0" * 32)


def test_a_token_that_the_client_signs_lets_a_page_vote_change_the_vote_and_withdraw_it(admin: Admin) -> None:
    key = admin.ledger.keys.create(role="signing")["key"]
    # The clock of the service stands still in tests.
    token = SigningKey(key).sign(admin.prompt, "a", "8f3a1c5", None, 3_600, now.timestamp())
    votes = admin.ledger.votes
    vote = votes.create(token=token, value="positive")
    assert_conforms(vote, models.Vote)
    assert vote == {"value": "positive", "comment": None}
    changed = votes.create(token=token, value="negative", comment="Too long")
    assert changed == {"value": "negative", "comment": "Too long"}
    (signal,) = admin.ledger.signals.list(admin.prompt)
    assert (signal["value"], signal["comment"], signal["version"]) == ("negative", "Too long", "8f3a1c5")
    assert votes.create(token=token, value=None) == {"value": None, "comment": None}
    assert list(admin.ledger.signals.list(admin.prompt)) == []
    with pytest.raises(UnauthorizedError):
        votes.create(token=f"{token}x", value="positive")


def test_the_session_shows_the_organisation_and_the_role_of_the_key(admin: Admin) -> None:
    session = admin.ledger.session.get()
    assert_conforms(session, models.SessionInfo)
    assert (session["key"]["role"], session["organisation"]["plan"]) == ("admin", "free")


def test_repositories_can_be_connected_changed_synced_rotated_and_disconnected(admin: Admin) -> None:
    repositories = admin.ledger.repositories
    git = admin.service.git_repository()
    connected = repositories.connect(forge="github", url=git["url"], path="prompts/**")
    assert_conforms(connected, models.ConnectedRepository)
    repository_id = connected["id"]
    repository = repositories.get(repository_id)
    assert_conforms(repository, models.Repository)
    assert repositories.list().page().data == [repository]
    admin.service.deliver(connected["webhook_url"], connected["webhook_secret"], repository_id)
    (delivery,) = repositories.deliveries(repository_id)
    assert_conforms(delivery, models.Delivery)
    assert repositories.redeliver(repository_id, delivery["id"])["state"] == "pending"
    renamed = admin.service.rename_repository(git["url"])
    updated = repositories.update(repository_id, url=renamed)
    assert_conforms(updated, models.UpdatedRepository)
    assert updated["url"] == renamed
    assert repositories.update(repository_id, production_environments=["live-*"])["production_environments"] == [
        "live-*"
    ]
    # None is a value here: it asks for the default.
    assert repositories.update(repository_id, production_environments=None)["production_environments"] is None
    with pytest.raises(ValidationError, match="token needs a URL of the form https"):
        repositories.update(repository_id, token="any")
    assert repositories.sync(repository_id)["id"] == repository_id
    rotated = repositories.rotate_secret(repository_id, overlap_hours=0)
    assert_conforms(rotated, models.RotatedSecret)
    assert rotated["webhook_secret"] != connected["webhook_secret"]
    repositories.disconnect(repository_id)
    assert repositories.get(repository_id)["state"] == "disconnected"


def test_texts_are_delivered_and_trials_reported(admin: Admin) -> None:
    delivery, trials = admin.ledger.texts, admin.ledger.trials
    assert delivery.update_settings(enabled=True) == delivery.settings() == {"enabled": True, "excluded": []}
    assert delivery.document(prompts="**") == {"refresh_seconds": 15, "prompts": []}
    # Its prompt has no file in git.
    with pytest.raises(NotFoundError):
        delivery.get(admin.prompt, unit="user-1")
    with pytest.raises(PromptledgerError, match="No repository is connected"):
        trials.start(pull=41, share=0.1)
    with pytest.raises(PromptledgerError, match="No repository is connected"):
        trials.candidate(pull=41)
    unknown = "trl_" + "0" * 24
    trials.record_exposures(source="test", exposures=[{"trial": unknown, "share": 0.1, "control": 1, "candidate": 0}])
    with pytest.raises(NotFoundError):
        trials.get(unknown, by="metadata.model")
    with pytest.raises(NotFoundError):
        trials.update(unknown, state="ended")
    assert trials.list(state="running").page().data == []


def test_telemetry_says_what_arrived_and_how_evaluations_are_read(admin: Admin) -> None:
    telemetry = admin.ledger.telemetry
    rules: list[models.EvaluationRule] = [{"name": "Relevance", "source": "judge", "threshold": 4}]
    assert telemetry.set_rules(rules=rules) == telemetry.rules() == {"rules": rules}
    assert telemetry.get() == {"outcomes": []}


id_prefixes = {"prompt": "pmt", "alert": "alr", "message": "msg", "trial": "trl", "source": "src", "shift": "shf"}


def test_the_client_covers_every_operation_of_the_api() -> None:
    # Signing in and out is for browsers, which have cookies, and products post events by themselves.
    ids = {f"{name}_id": rf"{prefix}_\w+" for name, prefix in id_prefixes.items()} | {"session_id": "[0-9a-f]{32}"}
    for_others = {"POST /api/v1/session", "DELETE /api/v1/session", "POST /api/v1/sources/{source_id}/events"}
    for path, operations in api_paths().items():
        pattern = re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], r"\d+"), path)
        for method in operations:
            call = f"{method.upper()} {path}"
            matching = [each for each in called if re.fullmatch(f"{method.upper()} {pattern}", each)]
            assert matching or call in for_others, call


def test_the_asynchronous_client_has_every_method_of_the_client() -> None:
    options = {"api_key": "plk_x", "base_url": "https://ledger.example.com"}
    ledger, asynchronous = Promptledger(**options), AsyncPromptledger(**options)  # type: ignore[arg-type]
    for name, resource in vars(ledger).items():
        if name.startswith("_"):
            continue
        for method in dir(resource):
            if method.startswith("_"):
                continue
            function = getattr(getattr(asynchronous, name), method)
            assert inspect.signature(function) == inspect.signature(getattr(resource, method)), f"{name}.{method}"


def api_paths() -> dict[str, Any]:
    document = json.loads((root / "dist/openapi.json").read_text())
    return {path: operations for path, operations in document["paths"].items() if path.startswith("/api/v1/")}


def test_the_arguments_of_each_method_are_those_of_the_openapi_document() -> None:
    ledger = Promptledger(api_key="plk_x", base_url="https://ledger.example.com")
    methods: dict[str, Callable[..., Any]] = {
        "createKey": ledger.keys.create,
        "rotateKey": ledger.keys.rotate,
        "listKeys": ledger.keys.list,
        "listPeople": ledger.people.list,
        "updatePerson": ledger.people.update,
        "listInvitations": ledger.invitations.list,
        "createInvitation": ledger.invitations.create,
        "listSessions": ledger.sessions.list,
        "listAudit": ledger.audit.list,
        "listPrompts": ledger.prompts.list,
        "createPrompt": ledger.prompts.create,
        "renamePrompt": ledger.prompts.rename,
        "listPromptDeployments": ledger.deployments.list,
        "recordPromptDeployment": ledger.deployments.record,
        "listRepositoryDeployments": ledger.deployments.list_of_repository,
        "recordRepositoryDeployment": ledger.deployments.record_of_repository,
        "listHistory": ledger.history.list,
        "recordHistory": ledger.history.record,
        "getLive": ledger.history.live,
        "listImpact": ledger.impact.list,
        "listTimeline": ledger.timeline.list,
        "getTimelineEntry": ledger.timeline.get,
        "exportTimeline": ledger.timeline.export,
        "listVersions": ledger.versions.list,
        "searchTexts": ledger.versions.search,
        "getBlame": ledger.versions.blame,
        "renameOrganisation": ledger.organisation.rename,
        "listRegressions": ledger.regressions.list,
        "listPromptRegressions": ledger.regressions.list_of_prompt,
        "dismissRegression": ledger.regressions.dismiss,
        "updateRegression": ledger.regressions.update,
        "proposeRevert": ledger.regressions.propose,
        "declareSegments": ledger.segments.declare,
        "declarePromptSegments": ledger.segments.declare_for_prompt,
        "listShares": ledger.shares.list,
        "startTrial": ledger.trials.start,
        "listTrials": ledger.trials.list,
        "getTrial": ledger.trials.get,
        "getTrialCandidate": ledger.trials.candidate,
        "updateTrial": ledger.trials.update,
        "recordExposures": ledger.trials.record_exposures,
        "getPromptText": ledger.texts.get,
        "getDelivery": ledger.texts.document,
        "updateDeliverySettings": ledger.texts.update_settings,
        "setEvaluationRules": ledger.telemetry.set_rules,
        "listPromptShares": ledger.shares.list_of_prompt,
        "createShare": ledger.shares.create,
        "revokeShare": ledger.shares.revoke,
        "listShifts": ledger.shifts.list,
        "listPromptShifts": ledger.shifts.list_of_prompt,
        "updateShift": ledger.shifts.update,
        "dismissShift": ledger.shifts.dismiss,
        "listSignals": ledger.signals.list,
        "createSignal": ledger.signals.create,
        "exportSignals": ledger.signals.export,
        "summariseSignals": ledger.signals.summary,
        "eraseSignals": ledger.signals.erase,
        "previewErasure": ledger.signals.preview_erasure,
        "listAlerts": ledger.alerts.list,
        "addAlert": ledger.alerts.add,
        "updateAlert": ledger.alerts.update,
        "listAlertDeliveries": ledger.alerts.deliveries,
        "listDeliveriesOfAlert": ledger.alerts.deliveries_of,
        "rotateAlertSecret": ledger.alerts.rotate_secret,
        "listSources": ledger.sources.list,
        "addSource": ledger.sources.add,
        "updateSource": ledger.sources.update,
        "listRepositories": ledger.repositories.list,
        "connectRepository": ledger.repositories.connect,
        "updateRepository": ledger.repositories.update,
        "createVote": ledger.votes.create,
        "listDeliveries": ledger.repositories.deliveries,
        "rotateRepositorySecret": ledger.repositories.rotate_secret,
    }
    # Passed as a list, under a method of its own, or not a field of the API.
    renamed = {"createSignals": {"signals"}}
    extra = {"listSignals": {"metadata"}, "exportSignals": {"metadata"}, "createSignal": {"idempotency_key"}}
    document = json.loads((root / "dist/openapi.json").read_text())
    for path, operations in api_paths().items():
        for operation in operations.values():
            expected = fields_of(operation, document)
            if not expected or operation["operationId"] in renamed or path.endswith("/events"):
                continue
            name = operation["operationId"]
            parameters = inspect.signature(methods[name]).parameters.values()
            actual = {each.name.rstrip("_") for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
            assert actual == expected - {"format", "Idempotency-Key"} | extra.get(name, set()), name
    for name in ("signals", "timeline"):
        resource = getattr(ledger, name)
        objects, text = inspect.signature(resource.export), inspect.signature(resource.export_csv)
        assert objects.parameters == text.parameters, name


def fields_of(operation: dict[str, Any], document: dict[str, Any]) -> set[str]:
    """Names of the query, of the headers and of the body."""
    names = {each["name"] for each in operation.get("parameters", []) if each["in"] != "path"}
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in body:
        body = document["components"]["schemas"][body["$ref"].split("/")[-1]]
    return names | set(body.get("properties", {}))
