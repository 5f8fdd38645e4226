"""The objects of the API, as dictionaries with known keys.

Generated from docs/openapi.json by `npm run python-types`. Do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, Optional, TypedDict, Union

Action = Literal["deployed", "pr_opened", "pr_merged", "pr_closed"]
AlertDeliveryState = Literal["pending", "sent", "failed", "cancelled"]
AlertEvent = Literal[
    "regression.opened",
    "regression.repaired",
    "regression.withdrawn",
    "shift.unexplained",
    "limit.near",
    "limit.reached",
    "repository.failing",
    "repository.recovered",
]
AlertState = Literal["active", "disabled"]
AuditAction = Literal[
    "key.created",
    "key.rotated",
    "key.revoked",
    "key.rejected",
    "session.started",
    "share.created",
    "share.revoked",
    "prompt.created",
    "prompt.renamed",
    "prompt.deleted",
    "prompt.segments_changed",
    "repository.connected",
    "repository.updated",
    "repository.disconnected",
    "repository.secret_rotated",
    "secrets.reencrypted",
    "history.recorded",
    "history.imported",
    "history.exported",
    "deployment.recorded",
    "regression.dismissed",
    "alert.added",
    "alert.updated",
    "alert.removed",
    "alert.secret_rotated",
    "alert.tested",
    "alert.delivery_retried",
    "signal.retracted",
    "signals.erased",
    "signals.exported",
    "signals.imported",
    "organisation.renamed",
    "organisation.plan_changed",
    "organisation.segments_changed",
    "organisation.exported",
    "organisation.imported",
    "audit.chained",
]
BlameState = Literal["available", "absent", "too_large", "binary", "not_landed", "unavailable"]
Channel = Literal["webhook", "slack", "email", "pagerduty"]
CommitState = Literal["pending", "located", "not_on_line"]
DeliveryEvent = Literal[
    "regression.opened",
    "regression.repaired",
    "regression.withdrawn",
    "shift.unexplained",
    "limit.near",
    "limit.reached",
    "repository.failing",
    "repository.recovered",
    "regression.dismissed",
]
DeliveryState = Literal["pending", "done", "ignored", "failed"]
DeploymentState = Literal["queued", "in_progress", "success", "failure", "inactive"]
ExportFormat = Literal["ndjson", "csv"]
Forge = Literal["github", "gitlab", "gitea", "forgejo", "bitbucket"]
Interval = Literal["hour", "day", "week"]
LiveSource = Literal["deployment", "merge"]
Plan = Literal["free", "team", "business"]
PromptSort = Literal[
    "name",
    "-name",
    "last_change",
    "-last_change",
    "signals",
    "-signals",
    "positive_share",
    "-positive_share",
    "effect",
    "-effect",
    "regression",
    "-regression",
]
RegressionSort = Literal["opened_at", "-opened_at", "difference", "-difference"]
RegressionState = Literal["open", "repaired", "withdrawn", "dismissed"]
Repair = Literal["rate", "revert"]
RepositoryState = Literal["connecting", "following", "failing", "disconnected"]
Role = Literal["ingest", "recorder", "reader", "standard", "admin", "signing"]
SignalValue = Literal["positive", "negative"]
Verdict = Literal["better", "worse", "unexplained", "no_difference_seen", "too_little_data"]
WireErrorCode = Literal[
    "unauthorized",
    "forbidden",
    "not_found",
    "conflict",
    "validation_error",
    "rate_limited",
    "internal_error",
]


class AddedAlert(TypedDict):
    """A new alert, with its signing secret."""

    id: str
    """Starts with alr_."""
    name: str
    """A label that identifies the alert."""
    channel: Channel
    target_hint: str
    """What of the target can be shown: the host of a URL, the addresses, the end of a routing key."""
    prompts: str
    """A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of
    folders. Limits and repositories concern the whole organisation, so the glob does not apply to them.
    """
    events: list[AlertEvent]
    """What to tell. At least one."""
    hold_minutes: int
    """How long a regression, a shift or a failure has to last before it is told."""
    min_signals: int
    """How many signals a change needs before its regression is told."""
    recovery_hold_minutes: int
    """How long a recovery has to last before it is told."""
    repeat_hours: Optional[int]
    """Tells again after this time while a regression stays open; null to tell once."""
    state: AlertState
    """`disabled` by an administrator, or because the receiver responded with 410."""
    disabled_at: Optional[str]
    disabled_reason: Optional[str]
    """Why it is disabled."""
    old_secret_until: Optional[str]
    """Until when requests are also signed with the previous secret; null without a rotation."""
    created_at: str
    last_delivery: Optional[AlertDelivery]
    """The newest delivery; null if nothing was sent yet."""
    secret: Optional[str]
    """Signs the requests of a webhook, as defined by Standard Webhooks. Shown only once; null for other channels."""


class Alert(TypedDict):
    """Where people are told about regressions."""

    id: str
    """Starts with alr_."""
    name: str
    """A label that identifies the alert."""
    channel: Channel
    target_hint: str
    """What of the target can be shown: the host of a URL, the addresses, the end of a routing key."""
    prompts: str
    """A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of
    folders. Limits and repositories concern the whole organisation, so the glob does not apply to them.
    """
    events: list[AlertEvent]
    """What to tell. At least one."""
    hold_minutes: int
    """How long a regression, a shift or a failure has to last before it is told."""
    min_signals: int
    """How many signals a change needs before its regression is told."""
    recovery_hold_minutes: int
    """How long a recovery has to last before it is told."""
    repeat_hours: Optional[int]
    """Tells again after this time while a regression stays open; null to tell once."""
    state: AlertState
    """`disabled` by an administrator, or because the receiver responded with 410."""
    disabled_at: Optional[str]
    disabled_reason: Optional[str]
    """Why it is disabled."""
    old_secret_until: Optional[str]
    """Until when requests are also signed with the previous secret; null without a rotation."""
    created_at: str
    last_delivery: Optional[AlertDelivery]
    """The newest delivery; null if nothing was sent yet."""


class AlertDeliveryAlert(TypedDict):
    """Null for a comment on a pull request, and if the alert was removed."""

    id: str
    name: str
    channel: Channel


class AlertDeliveryPromptsItem(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str
    regression_id: Optional[int]
    """Null if the rate moved without a change."""


class AlertDelivery(TypedDict):
    """One message to one alert, or to a pull request."""

    id: str
    """Starts with msg_. The same in every attempt, so that receivers recognise it."""
    destination: Literal["alert", "pull_request"]
    alert: Optional[AlertDeliveryAlert]
    """Null for a comment on a pull request, and if the alert was removed."""
    event: DeliveryEvent
    """`regression.dismissed` only resolves incidents of PagerDuty and updates comments on pull requests."""
    prompts: list[AlertDeliveryPromptsItem]
    """The prompts that it is about, at most ten."""
    state: AlertDeliveryState
    """`pending` while attempts are left, `failed` after 3 days, `cancelled` if the alert was removed or the message is
    no longer true.
    """
    attempts: int
    status: Optional[int]
    """The HTTP status of the last response, or the reply code of the mail server."""
    response: Optional[str]
    """The beginning of the last response, as one line."""
    error: Optional[str]
    """Why the last attempt failed."""
    created_at: str
    next_attempt_at: Optional[str]
    finished_at: Optional[str]


class AlertTestEvent(TypedDict):
    """A test message."""

    type: Literal["alert.test"]
    timestamp: str
    """When it happened."""
    data: AlertTestEventData


class AlertTestEventData(TypedDict):
    """A test."""

    organisation: str
    """The name of the organisation."""
    summary: str
    """What happened, in one line."""
    alert: str
    """The name of the alert."""


class AlertUpdate(TypedDict, total=False):
    """What to change; everything else stays."""

    name: str
    """A label that identifies the alert."""
    prompts: str
    """A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of
    folders. Limits and repositories concern the whole organisation, so the glob does not apply to them.
    """
    events: list[AlertEvent]
    """What to tell. At least one."""
    hold_minutes: int
    """How long a regression, a shift or a failure has to last before it is told."""
    min_signals: int
    """How many signals a change needs before its regression is told."""
    recovery_hold_minutes: int
    """How long a recovery has to last before it is told."""
    repeat_hours: Optional[int]
    """Tells again after this time while a regression stays open; null to tell once."""
    target: str
    """Where messages go: the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or
    the routing key of PagerDuty. Stored encrypted, and never returned.
    """
    state: AlertState
    """Disables the alert, or enables it again."""


class AuditEntryActor(TypedDict):
    """The key that was used, with its name at that time; null for the CLI."""

    key_id: int
    name: str


class AuditEntrySubject(TypedDict):
    """The resource that was changed, with its name at that time."""

    id: str
    """The ID as used in paths."""
    name: str


class AuditEntry(TypedDict):
    """One action in the audit log."""

    id: int
    at: str
    actor: Optional[AuditEntryActor]
    """The key that was used, with its name at that time; null for the CLI."""
    action: AuditAction
    """What happened."""
    subject: AuditEntrySubject
    """The resource that was changed, with its name at that time."""
    details: Optional[dict[str, Any]]
    """More information, depending on the action."""
    seq: Optional[int]
    """The entry's place in the chain of the organisation, from 1 on."""
    hash: Optional[str]
    """SHA-256 of this entry and the hash of the one before it, so that a changed or missing entry is noticed."""


class BatchResultError(TypedDict):
    code: str
    message: str


class BatchResultRequired(TypedDict):
    status: int
    """The HTTP status, such as 201."""


class BatchResult(BatchResultRequired, total=False):
    """What a request with this signal alone would have returned: `data` if it is stored, and otherwise `error`."""

    data: RecordedSignal
    error: BatchResultError


class BatchSignalRequired(TypedDict):
    prompt: str
    """The ID of the prompt, or its name or path."""
    value: Optional[SignalValue]
    """Null withdraws the vote on `subject`."""


class BatchSignal(BatchSignalRequired, total=False):
    """One signal of a batch."""

    metadata: Optional[dict[str, Any]]
    """Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep."""
    version: Optional[Union[str, int]]
    """The version of the prompt that produced the output: a commit SHA of 7 to 40 hexadecimal digits, or the ID of a
    history entry. Without it, `metadata["gen_ai.prompt.version"]` counts, and otherwise the version that was live.
    """
    subject: Optional[str]
    """What was voted on, such as the ID of the output. A prompt has one vote per subject: a second request replaces the
    first.
    """
    voter: Optional[str]
    """Who voted. Only a keyed hash of it is stored."""
    comment: Optional[str]
    """The user's words."""
    occurred_at: Optional[str]
    """When the user voted, up to 30 days ago. The signal counts for that time. Defaults to now."""
    idempotency_key: Optional[str]
    """Like the header `Idempotency-Key` of a single signal."""
    traceparent: Optional[str]
    """Like the header `traceparent` of a single signal."""


class BlameEntriesItem(TypedDict):
    entry: HistoryEntry
    message: Optional[str]
    """The commit message, up to its first 1,000 characters."""
    actor: Optional[str]
    """The forge user who pushed or merged it."""


class Blame(TypedDict):
    """The text of a version, and which change brought each of its lines."""

    entry: HistoryEntry
    path: Optional[str]
    """Path of the prompt's file at that time."""
    state: BlameState
    """`absent`: the change deleted the file. `too_large`: over 1 MiB or 20,000 lines, or git takes too long. `binary`:
    not a text. `not_landed`: the change is not on the default branch. `unavailable`: git does not have it, or the
    entry does not come from git.
    """
    content: Optional[str]
    """The prompt's text; null unless `state` is `available`."""
    lines: list[BlamedLines]
    """In order, without gaps; empty unless `available`."""
    entries: list[BlameEntriesItem]
    """The changes that brought the lines, newest first."""


class BlamedLines(TypedDict):
    """Lines of a text that the same change brought."""

    start: int
    """The first line, from 1."""
    end: int
    """The last line."""
    entry_id: Optional[int]
    """The entry in `entries`. Null if no entry of the prompt has the commit: it is older than the known history, or is
    from before the file became a prompt.
    """
    commit_sha: str
    """The commit on the default branch."""


class ChangeImpactAttributedBy(TypedDict):
    """How it is known that the signals in `before` and `after` count for these changes, with their numbers."""

    version: int
    """The signal names the version."""
    deployment: int
    """Without a version, while the change was deployed."""
    time: int
    """Without a version, between the merge of the change and the next one."""


class ChangeImpactRequired(TypedDict):
    entry: HistoryEntry
    live_from: str
    live_until: Optional[str]
    """Null if the change is still live."""
    live_source: LiveSource
    """How it is known when the change went live: by a deployment to production, or by its merge if none is recorded."""
    live_windows: list[LiveWindow]
    """Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary."""
    before: RatedTally
    """Signals of the previous change."""
    after: RatedTally
    """Signals of this change: those that name it as their version, and those without a version while it was live."""
    attributed_by: ChangeImpactAttributedBy
    """How it is known that the signals in `before` and `after` count for these changes, with their numbers."""
    unattributed: int
    """Of the signals in `after`, those without a version that came while another version was live too. They are
    credited to the version with the larger share.
    """
    effective_signals: int
    """How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders,
    or if voters vote often.
    """
    difference: Optional[float]
    """The rate after minus the rate before."""
    interval: Optional[list[float]]
    """95% confidence range of the true difference, which allows for votes that wander without any change."""
    verdict: Verdict
    """`unexplained`: the rates differ, but this change does not explain it better than votes that wander, or than
    another moment.
    """
    explanation: str
    """What the verdict rests on, in plain words."""
    first_version: bool
    """No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`."""


class ChangeImpact(ChangeImpactRequired, total=False):
    segments: Optional[Segments]
    """Only with `by`; null if the change did not go live, or if there is no change before it."""


class ConnectedRepositoryPromptsItem(TypedDict):
    id: str
    path: Optional[str]


class ConnectedRepository(TypedDict):
    id: int
    forge: Forge
    url: str
    path: str
    default_branch: Optional[str]
    """Null while the repository has no commits."""
    state: RepositoryState
    incomplete: bool
    """Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late."""
    unread_pulls_below: Optional[int]
    """Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for
    now. The next sync continues. Null if all have been searched.
    """
    webhook_url: str
    """The URL for the webhook of the forge."""
    last_delivery_at: Optional[str]
    rejected_deliveries: int
    """The number of webhook requests with a missing or wrong signature, up to a minute late."""
    last_rejected_at: Optional[str]
    """The newest of them."""
    last_rejection: Optional[str]
    """Why the newest of them was rejected."""
    last_sync_at: Optional[str]
    """The last successful sync."""
    sync_age_seconds: Optional[int]
    """The age of the last successful sync; null before the first."""
    stale: bool
    """Whether no sync has succeeded for more than two hours, so that the history may be out of date."""
    last_error: Optional[str]
    """Why the last sync failed."""
    ssh_public_key: Optional[str]
    """The public half of the deploy key; null without one."""
    ssh_host_key: Optional[str]
    """The only key of the ssh server that is accepted; null without a deploy key."""
    production_environments: Optional[list[str]]
    """Globs of the environments whose deployments decide what is live; null for the default."""
    reports_on_pulls: bool
    """Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status."""
    report_error: Optional[str]
    """Why that fails, such as a scope that the token lacks; null if it succeeds or is off."""
    created_at: str
    webhook_secret: str
    """Shown only once."""
    set_up: list[str]
    """The steps on the forge that set up the webhook; none for a folder, which needs no webhook."""
    prompts: list[ConnectedRepositoryPromptsItem]
    """The prompts found so far."""
    entries: int
    """The number of entries so far."""
    warnings: list[str]
    """What is probably a mistake, such as prompt files that overlap with those of another repository."""


class CreatedSharePrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class CreatedShare(TypedDict):
    """A new link."""

    id: int
    prompt: CreatedSharePrompt
    regression_id: Optional[int]
    """The regression of the prompt that the link opens; null for the page of the prompt."""
    includes_signals: bool
    """Whether the link also shows signals, with their comments and metadata."""
    hint: str
    """The last four characters of the link."""
    created_by: str
    """The name of the key that created it."""
    created_at: str
    expires_at: str
    revoked_at: Optional[str]
    """When the link, or the key that created it, was revoked; null if neither was."""
    url: str
    """The link itself, shown only once."""


class Delivery(TypedDict):
    """A webhook delivery from a forge."""

    id: int
    event: str
    state: DeliveryState
    attempts: int
    error: Optional[str]
    """Why the last attempt failed."""
    received_at: str
    next_attempt_at: Optional[str]
    finished_at: Optional[str]


class Deployment(TypedDict):
    """A deployment of a repository."""

    id: int
    scope: Literal["repository", "prompt"]
    """Whether it is of all prompts of the repository or of one."""
    environment: str
    """The name of the environment, such as production."""
    production: bool
    """Whether the environment counts as production."""
    commit_sha: str
    """The deployed commit, usually the newest of the default branch."""
    commit_state: CommitState
    """`pending` until a sync has looked for the commit, and `not_on_line` if the default branch never had it. Only a
    `located` commit decides what is live.
    """
    state: DeploymentState
    """Only `success` makes a version live, and only `inactive` ends it."""
    share: float
    """The part of the traffic that it serves: less than 1 for a canary."""
    at: str
    received_at: str
    source: Literal["api", "github", "gitlab", "gitea", "forgejo", "bitbucket"]
    """Who reported it: the API, or the webhook of a forge."""


class Dismissal(TypedDict):
    """Why a regression is dismissed."""

    note: str
    """Shown with the regression."""


class EffectAttributedBy(TypedDict):
    """How it is known that the signals in `before` and `after` count for these changes, with their numbers."""

    version: int
    """The signal names the version."""
    deployment: int
    """Without a version, while the change was deployed."""
    time: int
    """Without a version, between the merge of the change and the next one."""


class Effect(TypedDict):
    live_from: str
    live_until: Optional[str]
    """Null if the change is still live."""
    live_source: LiveSource
    """How it is known when the change went live: by a deployment to production, or by its merge if none is recorded."""
    live_windows: list[LiveWindow]
    """Every time in which it was live, in order, up to the newest 20: several after a rollback or a canary."""
    before: RatedTally
    """Signals of the previous change."""
    after: RatedTally
    """Signals of this change: those that name it as their version, and those without a version while it was live."""
    attributed_by: EffectAttributedBy
    """How it is known that the signals in `before` and `after` count for these changes, with their numbers."""
    unattributed: int
    """Of the signals in `after`, those without a version that came while another version was live too. They are
    credited to the version with the larger share.
    """
    effective_signals: int
    """How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders,
    or if voters vote often.
    """
    difference: Optional[float]
    """The rate after minus the rate before."""
    interval: Optional[list[float]]
    """95% confidence range of the true difference, which allows for votes that wander without any change."""
    verdict: Verdict
    """`unexplained`: the rates differ, but this change does not explain it better than votes that wander, or than
    another moment.
    """
    explanation: str
    """What the verdict rests on, in plain words."""
    first_version: bool
    """No change was live before it, so there is nothing to compare it with. Then the verdict is `too_little_data`."""


class Erased(TypedDict):
    erased: int
    """Number of erased signals."""


class Erasure(TypedDict, total=False):
    """Which signals to erase."""

    metadata: dict[str, Any]
    """Members that the metadata of a signal must have: 1 to 16."""
    voter: str
    """Who voted, as in the field `voter` of a signal. It is hashed on arrival."""
    subject: str
    """What was voted on, in any prompt. Withdrawn votes are erased and counted, too."""


class ErasurePreview(TypedDict):
    matching: int
    """Number of signals that would be erased."""


class FoundEntryPrompt(TypedDict):
    id: str
    name: str


class FoundEntry(TypedDict):
    """A history entry, and its prompt."""

    prompt: FoundEntryPrompt
    entry: HistoryEntry


class HistoryEntryUser(TypedDict):
    """The author of the change."""

    name: str
    email: str


class HistoryEntry(TypedDict):
    """A recorded change of a prompt."""

    id: int
    """Identifier of the history entry."""
    action: Action
    """`deployed`: committed directly to the default branch. `pr_closed`: closed without a merge."""
    user: HistoryEntryUser
    """The author of the change."""
    commit_sha: str
    """Commit hash of the change."""
    pr_number: Optional[int]
    """Null when no pull request is involved."""
    pr_url: Optional[str]
    """Null when no pull request is involved."""
    branch_name: str
    """Name of the branch the change went to."""
    created_at: str
    """ISO 8601 UTC timestamp."""


class HistoryEntryDetailsUser(TypedDict):
    """The author of the change."""

    name: str
    email: str


class HistoryEntryDetailsHiddenCharactersKindsItem(TypedDict):
    kind: Literal["bidi", "tag", "zero_width", "variation_selector", "control", "other"]
    count: int
    added_count: int


class HistoryEntryDetailsHiddenCharactersPositionsItem(TypedDict):
    line: int
    """From 1."""
    column: int
    """From 1, in characters."""
    kind: Literal["bidi", "tag", "zero_width", "variation_selector", "control", "other"]
    length: int
    """Number of adjacent hidden characters."""
    label: str
    """Such as `U+202E RLO`, or the text that Unicode tags spell."""
    added: bool
    """Whether this change added them."""


class HistoryEntryDetailsHiddenCharacters(TypedDict):
    """Hidden characters in the prompt's text; null if the text is unavailable or a text exceeds 2 MiB."""

    present: bool
    """Whether the prompt's text contains hidden characters after the change."""
    added: bool
    """Whether this change added some of them."""
    count: int
    """Hidden characters in the text after the change."""
    added_count: int
    """How many of them this change added."""
    kinds: list[HistoryEntryDetailsHiddenCharactersKindsItem]
    """The same by kind."""
    positions: list[HistoryEntryDetailsHiddenCharactersPositionsItem]
    """Up to 100 runs of hidden characters in the text after the change."""


class HistoryEntryDetails(TypedDict):
    """A recorded change of a prompt, with its details and texts. Details are null if they are not known."""

    id: int
    """Identifier of the history entry."""
    action: Action
    """`deployed`: committed directly to the default branch. `pr_closed`: closed without a merge."""
    user: HistoryEntryDetailsUser
    """The author of the change."""
    commit_sha: str
    """Commit hash of the change."""
    pr_number: Optional[int]
    """Null when no pull request is involved."""
    pr_url: Optional[str]
    """Null when no pull request is involved."""
    branch_name: str
    """Name of the branch the change went to."""
    created_at: str
    """ISO 8601 UTC timestamp."""
    message: Optional[str]
    """The commit message, or the title of the pull request."""
    actor: Optional[str]
    """The forge user who pushed, opened, merged or closed it."""
    path: Optional[str]
    """Path of the prompt's file at that time."""
    too_large: bool
    """Whether the commit or pull request exceeds the limits of a sync: some of its files are not recorded, or its
    message is cut.
    """
    before: Optional[str]
    """The prompt's text before the change; `before_state` says why it is null."""
    after: Optional[str]
    """The prompt's text after the change; `after_state` says why it is null."""
    before_state: Literal["available", "absent", "too_large", "unavailable"]
    """`absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have
    it, or the entry does not come from git.
    """
    after_state: Literal["available", "absent", "too_large", "unavailable"]
    """`absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have
    it, or the entry does not come from git.
    """
    patch: Optional[str]
    """Unified diff between the two; null if a text is unavailable, or over 4 MiB."""
    key_id: Optional[int]
    """The key that recorded the entry through the API; null for entries from git, the CLI or an import."""
    hidden_characters: Optional[HistoryEntryDetailsHiddenCharacters]
    """Hidden characters in the prompt's text; null if the text is unavailable or a text exceeds 2 MiB."""


class IntervalTally(TypedDict):
    start: str
    positive: int
    negative: int


class IssuedKey(TypedDict):
    """A new API key, with its secret."""

    id: int
    organisation_id: int
    name: str
    """A label that identifies the key."""
    role: Role
    """`ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads
    and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from
    browsers.
    """
    prompts: Optional[str]
    """A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for
    every prompt. `*` stands for anything within a folder, `**` for any number of folders.
    """
    expires_at: Optional[str]
    """When the key expires; null for never."""
    created_at: str
    key: str
    """The key itself, shown only once."""


class Key(TypedDict):
    """An API key, without its secret."""

    id: int
    organisation_id: int
    name: str
    """A label that identifies the key."""
    role: Role
    """`ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads
    and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from
    browsers.
    """
    prompts: Optional[str]
    """A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for
    every prompt. `*` stands for anything within a folder, `**` for any number of folders.
    """
    expires_at: Optional[str]
    """When the key expires; null for never."""
    created_at: str
    hint: str
    """The last four characters of the key."""
    revoked_at: Optional[str]
    """When the key was revoked; null if it was not."""
    last_used_at: Optional[str]
    """When the key was last used, accurate to a few seconds."""


class LimitEventData(TypedDict):
    """How much of the monthly limit is used."""

    organisation: str
    """The name of the organisation."""
    summary: str
    """What happened, in one line."""
    month: str
    """Such as 2026-11."""
    limit: int
    """The plan's monthly signal limit."""
    used: int
    """Signals recorded in this month."""
    resets_at: str


class LimitNearEvent(TypedDict):
    """80% of the monthly limit are used."""

    type: Literal["limit.near"]
    timestamp: str
    """When it happened."""
    data: LimitEventData


class LimitReachedEvent(TypedDict):
    """The monthly limit is reached."""

    type: Literal["limit.reached"]
    timestamp: str
    """When it happened."""
    data: LimitEventData


class LiveAlsoLiveItem(TypedDict):
    entry: HistoryEntry
    share: float
    environment: Optional[str]


class Live(TypedDict):
    entry: Optional[HistoryEntry]
    """The change; null if it is unknown."""
    path: Optional[str]
    """Path of the prompt's file at that time."""
    content: Optional[str]
    """The prompt's text at that time; `content_state` says why it is null."""
    content_state: Literal["available", "absent", "too_large", "unavailable"]
    """`absent`: the file did not exist. `too_large`: the texts exceed 16 MiB together. `unavailable`: git does not have
    it, or the entry does not come from git.
    """
    incomplete: bool
    """Whether the change is unknown because the repository is a shallow clone."""
    live_source: Optional[LiveSource]
    """Whether a deployment to production or the merge made it live; null if the change is unknown."""
    environment: Optional[str]
    """Where it was deployed to; null for a merge."""
    share: float
    """The part of the traffic that it served."""
    also_live: list[LiveAlsoLiveItem]
    """Other versions that were live at that time, the largest share first."""
    environments: list[LiveEnvironment]
    """What ran in each environment by its deployments: production first, then the last changed, up to 20. Empty without
    deployments.
    """


class LiveEnvironmentVersionsItem(TypedDict):
    entry: Optional[HistoryEntry]
    """Null if it is not known, or not yet, which version the commit has."""
    commit_sha: Optional[str]
    """The deployed commit; null for what was merged before a first canary."""
    share: float
    """The part of the traffic of this environment."""


class LiveEnvironment(TypedDict):
    """The versions of a prompt that run in an environment."""

    environment: str
    production: bool
    """Whether it decides what is live."""
    since: str
    """Its last deployment that changed something."""
    versions: list[LiveEnvironmentVersionsItem]
    """The largest share first. Empty if its deployment ended."""


LiveWindow = TypedDict(
    "LiveWindow",
    {
        "from": "str",
        # Null if it is still live.
        "until": "Optional[str]",
        # The part of the traffic that it served.
        "share": "float",
        # How it is known when the change went live: by a deployment to production, or by its merge if none is recorded.
        "live_source": "LiveSource",
        # Where it was deployed to; null for a merge.
        "environment": "Optional[str]",
    },
)


class NewAlertRequired(TypedDict):
    name: str
    """A label that identifies the alert."""
    channel: Channel
    target: str
    """Where messages go: the URL of a webhook or of a Slack incoming webhook, email addresses separated by commas, or
    the routing key of PagerDuty. Stored encrypted, and never returned.
    """


class NewAlert(NewAlertRequired, total=False):
    """An alert to add. An organisation has at most 20."""

    prompts: str
    """A glob: only prompts whose name or path matches. `*` stands for anything within a folder, `**` for any number of
    folders. Limits and repositories concern the whole organisation, so the glob does not apply to them. Defaults to
    `**`.
    """
    events: list[AlertEvent]
    """What to tell. At least one. Defaults to
    `regression.opened,regression.repaired,regression.withdrawn,shift.unexplained,limit.near,limit.reached,repository.failing,repository.recovered`.
    """
    hold_minutes: int
    """How long a regression, a shift or a failure has to last before it is told. Defaults to `15`."""
    min_signals: int
    """How many signals a change needs before its regression is told. Defaults to `50`."""
    recovery_hold_minutes: int
    """How long a recovery has to last before it is told. Defaults to `15`."""
    repeat_hours: Optional[int]
    """Tells again after this time while a regression stays open; null to tell once. Defaults to `null`."""


class NewDeploymentRequired(TypedDict):
    environment: str
    """The name of the environment, such as production."""
    commit_sha: str
    """The full hash of the deployed commit."""
    state: DeploymentState
    """Only `success` makes a version live, and only `inactive` ends it."""


class NewDeployment(NewDeploymentRequired, total=False):
    """A deployment to record."""

    share: float
    """The part of the traffic that it serves: less than 1 for a canary. Defaults to `1`."""
    at: str
    """When it happened; not in the future. Defaults to now."""


class NewHistoryEntryUser(TypedDict):
    """The author of the change."""

    name: str
    email: str


class NewHistoryEntry(TypedDict):
    """A change of a prompt that another system made."""

    action: Action
    """`deployed`: committed directly to the default branch. `pr_closed`: closed without a merge."""
    user: NewHistoryEntryUser
    """The author of the change."""
    commit_sha: str
    """Commit hash of the change."""
    pr_number: Optional[int]
    """Null when no pull request is involved."""
    pr_url: Optional[str]
    """Null when no pull request is involved."""
    branch_name: str
    """Name of the branch the change went to."""
    created_at: str
    """ISO 8601 UTC timestamp."""


class NewKey(TypedDict, total=False):
    """A key to create."""

    name: str
    """A label that identifies the key. Defaults to `unnamed`."""
    role: Role
    """`ingest` records signals, `recorder` records history entries, `reader` reads, `standard` records signals, reads
    and deletes signals, `admin` does everything. `signing` makes no requests: it signs tokens for votes from
    browsers. Defaults to `standard`.
    """
    prompts: Optional[str]
    """A glob: the key is limited to prompts whose name or path matches, and all others do not exist for it; null for
    every prompt. `*` stands for anything within a folder, `**` for any number of folders. Defaults to `null`.
    """
    expires_at: Optional[str]
    """When the key expires; null for never. Defaults to `null`."""


class NewPromptSegmentKeys(TypedDict):
    keys: Optional[list[str]]
    """Up to 5 keys of the metadata of signals, such as `model`. Null for those of the organisation."""


class NewRepositoryRequired(TypedDict):
    forge: Forge
    url: str
    """https://…, ssh://… or git@host:path. Plain http:// needs `ALLOW_HTTP_REPOSITORIES=1`."""
    path: str
    """A glob that selects the prompt files, such as prompts/**/*.md."""


class NewRepository(NewRepositoryRequired, total=False):
    """A repository to connect."""

    token: Optional[str]
    """An access token, if the repository is not public."""
    ssh_key: Optional[str]
    """A private key in OpenSSH's format without a passphrase, for a repository that is fetched over ssh. Never
    returned.
    """
    generate_ssh_key: bool
    """Generate a key pair for ssh. Add `ssh_public_key` to the repository on the forge. Defaults to `false`."""
    ssh_host_key: Optional[str]
    """The key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the one that it has when you connect. Needs
    `ssh_key` or `generate_ssh_key`.
    """
    similarity: int
    """The minimum similarity, in percent, for a file that was moved and edited to keep its prompt. At 100, only files
    that are moved without edits do. Defaults to `50`.
    """
    production_environments: Optional[list[str]]
    """Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the
    default: what the forge calls production, and environments named production, prod or live. With an empty list,
    merges decide.
    """
    reports_on_pulls: bool
    """Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The
    token needs to write both. Defaults to `false`.
    """


class NewShare(TypedDict, total=False):
    """A link to create."""

    regression_id: Optional[int]
    """The regression of the prompt that the link opens; null for the page of the prompt. Defaults to `null`."""
    includes_signals: bool
    """Whether the link also shows signals, with their comments and metadata. Defaults to `false`."""
    expires_at: Optional[str]
    """When the link expires, at most 90 days from now; null for 7 days. Defaults to `null`."""


class NewSignalRequired(TypedDict):
    value: Optional[SignalValue]
    """Null withdraws the vote on `subject`."""


class NewSignal(NewSignalRequired, total=False):
    """A user's opinion on an output of the prompt."""

    metadata: Optional[dict[str, Any]]
    """Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep."""
    version: Optional[Union[str, int]]
    """The version of the prompt that produced the output: a commit SHA of 7 to 40 hexadecimal digits, or the ID of a
    history entry. Without it, `metadata["gen_ai.prompt.version"]` counts, and otherwise the version that was live.
    """
    subject: Optional[str]
    """What was voted on, such as the ID of the output. A prompt has one vote per subject: a second request replaces the
    first.
    """
    voter: Optional[str]
    """Who voted. Only a keyed hash of it is stored."""
    comment: Optional[str]
    """The user's words."""
    occurred_at: Optional[str]
    """When the user voted, up to 30 days ago. The signal counts for that time. Defaults to now."""


class NewVoteRequired(TypedDict):
    token: str
    """A token that your application signed with a signing key."""
    value: Optional[SignalValue]
    """Null withdraws the vote."""


class NewVote(NewVoteRequired, total=False):
    """A vote from a page, on the subject that its token names."""

    comment: Optional[str]
    """The user's words."""


class OrganisationLimits(TypedDict):
    signals_per_month: Optional[int]
    """The plan's limit; null if it has none."""
    repositories: int
    """Connected repositories."""
    alerts: int
    segment_keys: int
    """Declared keys of the metadata, of the organisation or a prompt."""


class Organisation(TypedDict):
    """The organisation that a key belongs to."""

    id: int
    name: str
    """Name of the organisation."""
    plan: Plan
    limits: OrganisationLimits
    signal_retention_days: Optional[int]
    """After how many days signals are deleted; null if they are kept. Counts stay."""
    created_at: str


class OrganisationName(TypedDict):
    """The new name."""

    name: str
    """Name of the organisation."""


class Pagination(TypedDict):
    """Position of a page in its list."""

    current_page: int
    """The page returned."""
    total_pages: int
    """Number of pages at the current per_page."""
    total_count: int
    """Total number of entries."""
    per_page: int
    """Page size used."""


class PromptSignals(TypedDict):
    """Signals of the last 30 days including today, UTC."""

    positive: int
    negative: int
    days: list[IntervalTally]
    """Counts per day, including days without signals."""


class Prompt(TypedDict):
    """A prompt, with its last change and recent signals."""

    id: str
    """The public ID (prefix pmt_)."""
    name: str
    """One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions."""
    path: Optional[str]
    """Path of the prompt's file in its repository; null if it has none."""
    created_at: str
    last_change: Optional[HistoryEntry]
    """The change that went live last, by a deployment to production or by its merge; null if there is none."""
    verdict: Optional[Verdict]
    """Effect of the last change on user feedback; null if there is no change."""
    first_version: bool
    """Whether the last change is the first version, which there is nothing to compare with."""
    signals: PromptSignals
    """Signals of the last 30 days including today, UTC."""
    regression: Optional[Regression]
    """The open regression with the largest loss; null if there is none."""


class PromptDeployment(TypedDict):
    """A deployment that concerns a prompt."""

    id: int
    scope: Literal["repository", "prompt"]
    """Whether it is of all prompts of the repository or of one."""
    environment: str
    """The name of the environment, such as production."""
    production: bool
    """Whether the environment counts as production."""
    commit_sha: str
    """The deployed commit, usually the newest of the default branch."""
    commit_state: CommitState
    """`pending` until a sync has looked for the commit, and `not_on_line` if the default branch never had it. Only a
    `located` commit decides what is live.
    """
    state: DeploymentState
    """Only `success` makes a version live, and only `inactive` ends it."""
    share: float
    """The part of the traffic that it serves: less than 1 for a canary."""
    at: str
    received_at: str
    source: Literal["api", "github", "gitlab", "gitea", "forgejo", "bitbucket"]
    """Who reported it: the API, or the webhook of a forge."""
    entry_id: Optional[int]
    """The history entry of the prompt's version in that commit; null if it is unknown."""


class PromptName(TypedDict):
    name: str
    """One line of up to 1,000 characters. Unique in the organisation, except among prompts of earlier versions."""


class PromptSegmentKeys(TypedDict):
    keys: list[str]
    """Up to 5 keys of the metadata of signals, such as `model`."""
    source: Literal["prompt", "organisation"]
    """Whether the prompt declares its own keys, or uses those of the organisation."""


class PromptVersionLive(TypedDict):
    """How it is live in production now; null if it is not."""

    share: float
    """The part of the traffic that it serves."""
    environment: Optional[str]
    """Null for a merge."""


class PromptVersion(TypedDict):
    """A change of a prompt that went live."""

    entry: HistoryEntry
    message: Optional[str]
    """The commit message, up to its first 1,000 characters."""
    path: Optional[str]
    """Path of the prompt's file at that time."""
    live: Optional[PromptVersionLive]
    """How it is live in production now; null if it is not."""
    live_from: str
    """When it went live for the first time."""
    live_until: Optional[str]
    """Null if it is still live."""
    live_source: LiveSource
    """How it is known when the change went live: by a deployment to production, or by its merge if none is recorded."""
    live_windows: list[LiveWindow]
    """Every time in which it was live, in order, up to the newest 20."""


class RatedTally(TypedDict):
    positive: int
    negative: int
    rate: Optional[float]
    """Share of positive signals; null without signals."""


class RecordedSignal(TypedDict):
    id: int
    value: Optional[SignalValue]
    """Null withdraws the vote on `subject`."""
    created_at: str
    """ISO 8601 UTC timestamp."""


class RegressionPrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class Regression(TypedDict):
    """A change that made a prompt worse."""

    id: int
    prompt: RegressionPrompt
    state: RegressionState
    """`open` until the rate is back or the change is reverted (`repaired`), the votes no longer speak against the
    change (`withdrawn`), or it is `dismissed`. A withdrawn one opens again if the verdict is `worse` again.
    """
    change: HistoryEntry
    opened_at: str
    """When the verdict was `worse` for the first time."""
    live_from: Optional[str]
    """Since when the change is live; null if it is unknown."""
    rate_before: float
    """Share of positive signals before the change."""
    rate_after: float
    """The same after it, as of the last time that the verdict was `worse`."""
    signals_before: Optional[int]
    """How many signals `rate_before` is of; null if it is unknown."""
    signals_after: Optional[int]
    """How many signals `rate_after` is of; null if it is unknown."""
    difference: float
    """The rate after minus the rate before."""
    interval: list[float]
    """95% confidence range of the true difference."""
    explanation: str
    """What the verdict rests on. Of a withdrawn regression, why the verdict was taken back."""
    repaired_at: Optional[str]
    repaired_by: Optional[Repair]
    """`rate` if the rate is back, `revert` if the prompt has its text from before the change again."""
    repaired_entry: Optional[HistoryEntry]
    """The change that repaired it; null if the rate came back without one."""
    withdrawn_at: Optional[str]
    """When the verdict was taken back."""
    dismissed_at: Optional[str]
    dismissed_by: Optional[str]
    """The name of the key that dismissed it."""
    note: Optional[str]
    """Why it was dismissed."""


class RegressionDetailsPrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class RegressionDetailsToldItemAlert(TypedDict):
    """Null for a comment on the pull request, and if the alert was removed."""

    name: str
    channel: Channel


class RegressionDetailsToldItem(TypedDict):
    event: DeliveryEvent
    destination: Literal["alert", "pull_request"]
    alert: Optional[RegressionDetailsToldItemAlert]
    """Null for a comment on the pull request, and if the alert was removed."""
    state: AlertDeliveryState
    created_at: str
    finished_at: Optional[str]
    """When it was sent, or given up."""


class RegressionDetails(TypedDict):
    """A regression, and who was told about it."""

    id: int
    prompt: RegressionDetailsPrompt
    state: RegressionState
    """`open` until the rate is back or the change is reverted (`repaired`), the votes no longer speak against the
    change (`withdrawn`), or it is `dismissed`. A withdrawn one opens again if the verdict is `worse` again.
    """
    change: HistoryEntry
    opened_at: str
    """When the verdict was `worse` for the first time."""
    live_from: Optional[str]
    """Since when the change is live; null if it is unknown."""
    rate_before: float
    """Share of positive signals before the change."""
    rate_after: float
    """The same after it, as of the last time that the verdict was `worse`."""
    signals_before: Optional[int]
    """How many signals `rate_before` is of; null if it is unknown."""
    signals_after: Optional[int]
    """How many signals `rate_after` is of; null if it is unknown."""
    difference: float
    """The rate after minus the rate before."""
    interval: list[float]
    """95% confidence range of the true difference."""
    explanation: str
    """What the verdict rests on. Of a withdrawn regression, why the verdict was taken back."""
    repaired_at: Optional[str]
    repaired_by: Optional[Repair]
    """`rate` if the rate is back, `revert` if the prompt has its text from before the change again."""
    repaired_entry: Optional[HistoryEntry]
    """The change that repaired it; null if the rate came back without one."""
    withdrawn_at: Optional[str]
    """When the verdict was taken back."""
    dismissed_at: Optional[str]
    dismissed_by: Optional[str]
    """The name of the key that dismissed it."""
    note: Optional[str]
    """Why it was dismissed."""
    certain_enough: bool
    """Whether it is certain enough to tell people, which needs more than the verdict `worse`."""
    told: list[RegressionDetailsToldItem]
    """What was sent about it to alerts and the pull request, newest first."""


class RegressionEventDataPromptsItemBefore(TypedDict):
    rate: float
    """Share of positive signals."""
    signals: int


class RegressionEventDataPromptsItemAfter(TypedDict):
    rate: float
    """Share of positive signals."""
    signals: int


class RegressionEventDataPromptsItemCommentsItem(TypedDict):
    text: str
    created_at: str


class RegressionEventDataPromptsItemLinks(TypedDict):
    change: str
    dismiss: str


class RegressionEventDataPromptsItem(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str
    regression_id: int
    state: RegressionState
    entry_id: int
    """The history entry of the change, in this prompt's history."""
    live_from: str
    """When the change went live."""
    before: RegressionEventDataPromptsItemBefore
    after: RegressionEventDataPromptsItemAfter
    difference: float
    """The rate after minus the rate before."""
    interval: list[float]
    """95% confidence range of the true difference."""
    explanation: str
    """Why the change is to blame and not chance, or why it no longer is."""
    repaired_by: Optional[Repair]
    """`rate` if the rate is back, `revert` if the text is."""
    repaired_entry: Optional[HistoryEntry]
    """The change that repaired it."""
    comments: list[RegressionEventDataPromptsItemCommentsItem]
    """The newest negative comments of users, at most three. Words of strangers: escape them."""
    links: RegressionEventDataPromptsItemLinks


class RegressionEventData(TypedDict):
    """A change that made prompts worse."""

    organisation: str
    """The name of the organisation."""
    summary: str
    """What happened, in one line."""
    change: HistoryEntry
    title: Optional[str]
    """Of the pull request or the commit; null if unknown."""
    repository_id: Optional[int]
    dedup_key: str
    """The same in all events about this change."""
    prompts: list[RegressionEventDataPromptsItem]
    """What the change made worse, the largest loss first."""


class RegressionOpenedEvent(TypedDict):
    """A change made prompts worse."""

    type: Literal["regression.opened"]
    timestamp: str
    """When it happened."""
    data: RegressionEventData


class RegressionRepairedEvent(TypedDict):
    """A regression is repaired."""

    type: Literal["regression.repaired"]
    timestamp: str
    """When it happened."""
    data: RegressionEventData


class RegressionWithdrawnEvent(TypedDict):
    """A verdict is taken back."""

    type: Literal["regression.withdrawn"]
    timestamp: str
    """When it happened."""
    data: RegressionEventData


class Repository(TypedDict):
    """A connected git repository."""

    id: int
    forge: Forge
    url: str
    path: str
    default_branch: Optional[str]
    """Null while the repository has no commits."""
    state: RepositoryState
    incomplete: bool
    """Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late."""
    unread_pulls_below: Optional[int]
    """Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for
    now. The next sync continues. Null if all have been searched.
    """
    webhook_url: str
    """The URL for the webhook of the forge."""
    last_delivery_at: Optional[str]
    rejected_deliveries: int
    """The number of webhook requests with a missing or wrong signature, up to a minute late."""
    last_rejected_at: Optional[str]
    """The newest of them."""
    last_rejection: Optional[str]
    """Why the newest of them was rejected."""
    last_sync_at: Optional[str]
    """The last successful sync."""
    sync_age_seconds: Optional[int]
    """The age of the last successful sync; null before the first."""
    stale: bool
    """Whether no sync has succeeded for more than two hours, so that the history may be out of date."""
    last_error: Optional[str]
    """Why the last sync failed."""
    ssh_public_key: Optional[str]
    """The public half of the deploy key; null without one."""
    ssh_host_key: Optional[str]
    """The only key of the ssh server that is accepted; null without a deploy key."""
    production_environments: Optional[list[str]]
    """Globs of the environments whose deployments decide what is live; null for the default."""
    reports_on_pulls: bool
    """Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status."""
    report_error: Optional[str]
    """Why that fails, such as a scope that the token lacks; null if it succeeds or is off."""
    created_at: str
    prompt_count: int
    """The number of prompts in the repository."""
    entry_count: int
    """The number of history entries of these prompts."""


class RepositoryEventDataRepository(TypedDict):
    id: int
    url: str


class RepositoryEventDataLinks(TypedDict):
    repository: str


class RepositoryEventData(TypedDict):
    """A repository whose history is, or was, not up to date."""

    organisation: str
    """The name of the organisation."""
    summary: str
    """What happened, in one line."""
    repository: RepositoryEventDataRepository
    error: Optional[str]
    """Why it fails; null if it recovered."""
    since: str
    """Since when it failed."""
    links: RepositoryEventDataLinks


class RepositoryFailingEvent(TypedDict):
    """A repository does not sync."""

    type: Literal["repository.failing"]
    timestamp: str
    """When it happened."""
    data: RepositoryEventData


class RepositoryRecoveredEvent(TypedDict):
    """A repository syncs again."""

    type: Literal["repository.recovered"]
    timestamp: str
    """When it happened."""
    data: RepositoryEventData


class RepositoryUpdate(TypedDict, total=False):
    """What to change about a repository."""

    url: str
    """The new URL of the same repository: https://…, ssh://… or git@host:path. Plain http:// needs
    `ALLOW_HTTP_REPOSITORIES=1`.
    """
    token: Optional[str]
    """A new access token. Null removes it. Required if the new URL is on another server than the old one."""
    ssh_key: str
    """A new private key in OpenSSH's format without a passphrase. Never returned."""
    ssh_host_key: str
    """The new key of the ssh server, such as `ssh-ed25519 AAAAC3…`. By default, the recorded one, or that of the new
    server.
    """
    production_environments: Optional[list[str]]
    """Globs of the environments whose deployments decide what is live, such as `production` or `prod-*`. Null for the
    default: what the forge calls production, and environments named production, prod or live. With an empty list,
    merges decide.
    """
    reports_on_pulls: bool
    """Tell regressions on the pull request that caused them, by one comment, and on the merged commit, by a status. The
    token needs to write both.
    """


class RotatedAlertSecret(TypedDict):
    secret: str
    """Shown only once."""
    old_secret_until: str
    """Until when requests are also signed with the old secret."""


class RotatedSecret(TypedDict):
    webhook_url: str
    webhook_secret: str
    """Shown only once."""
    old_secret_until: str
    """When the old secret expires."""


class Rotation(TypedDict, total=False):
    overlap_hours: int
    """Hours for which the old key stays valid. 0 if it has leaked. Defaults to `24`."""


class SearchPagination(TypedDict):
    """Position of a page in its list. `total_pages` and `total_count` are null if a search does not know them."""

    current_page: int
    """The page returned."""
    total_pages: Optional[int]
    """Number of pages at the current per_page."""
    total_count: Optional[int]
    """Total number of entries."""
    per_page: int
    """Page size used."""


class SecretRotation(TypedDict, total=False):
    overlap_hours: int
    """Hours for which the old secret stays valid. 0 if it has leaked. Defaults to `24`."""


class SegmentImpact(TypedDict):
    """User feedback of one segment before and after a change."""

    value: Optional[str]
    """Null for signals without a value, and for `other`."""
    other: bool
    """Whether it pools all values beyond the first 20."""
    before: RatedTally
    """Signals of the previous change."""
    after: RatedTally
    """Signals of this change."""
    effective_signals: int
    """How many independent signals those in `before` and `after` are worth. Fewer than there are if their rate wanders,
    or if voters vote often.
    """
    difference: Optional[float]
    """The rate after minus the rate before."""
    interval: Optional[list[float]]
    """95% confidence range of the true difference, which allows for votes that wander without any change."""
    verdict: Verdict
    """Of all segments that are called `better` or `worse`, at most 5% are wrong on average."""
    explanation: str
    """What the verdict rests on, in plain words."""


class SegmentKeys(TypedDict):
    keys: list[str]
    """Up to 5 keys of the metadata of signals, such as `model`."""


class SegmentSummaries(TypedDict):
    """Only with `by`."""

    key: str
    data: list[SegmentSummary]
    """The largest first."""
    others: int
    """How many further segments there are."""
    counted_from: Optional[str]
    """Earlier signals are not counted, because there are too many; null if all are."""


class SegmentSummary(TypedDict):
    value: Optional[str]
    """Null for signals without the member. Untrusted text."""
    total: Tally
    data: list[IntervalTally]
    """In order, without empty intervals."""


class SegmentsMix(TypedDict):
    """The difference between both rates in two parts; null if a side has no signals."""

    audience: float
    """The part that comes from a different share of each segment."""
    within: float
    """The part that comes from different rates within segments."""


class Segments(TypedDict):
    """A change by the values of one key of the metadata."""

    key: str
    complete: bool
    """Whether all signals are in it. Otherwise it has the last 20,000 before the change and the first 20,000 after it,
    or those that are not removed yet.
    """
    mix: Optional[SegmentsMix]
    """The difference between both rates in two parts; null if a side has no signals."""
    values: list[SegmentImpact]


class SessionInfoOrganisation(TypedDict):
    id: int
    name: str
    plan: Plan


class SessionInfoKey(TypedDict):
    id: int
    name: str
    role: Role
    prompts: Optional[str]
    """A glob of the prompts that the key is limited to; null for every prompt."""
    hint: str
    """The last four characters of the key."""
    expires_at: Optional[str]
    """When the key expires; null for never."""


class SessionInfo(TypedDict):
    """A session, and the key that started it."""

    organisation: SessionInfoOrganisation
    key: SessionInfoKey
    expires_at: Optional[str]
    """When the session ends: after 30 days, or when the key expires. For a request with a key, when the key expires."""


class SharePrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class Share(TypedDict):
    """A link to one prompt for people without a key, without its token."""

    id: int
    prompt: SharePrompt
    regression_id: Optional[int]
    """The regression of the prompt that the link opens; null for the page of the prompt."""
    includes_signals: bool
    """Whether the link also shows signals, with their comments and metadata."""
    hint: str
    """The last four characters of the link."""
    created_by: str
    """The name of the key that created it."""
    created_at: str
    expires_at: str
    revoked_at: Optional[str]
    """When the link, or the key that created it, was revoked; null if neither was."""


class ShiftPrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class Shift(TypedDict):
    """A moment at which the rate of a prompt moved more than its votes usually wander."""

    prompt: ShiftPrompt
    at: str
    """When the rate most likely moved."""
    between: list[str]
    """The rate moved at some time in this range."""
    rate_before: float
    """Share of positive signals up to the shift."""
    rate_after: float
    """Share of positive signals after it."""
    cause: ShiftCause
    candidates: Optional[ShiftCandidates]
    """For an unexplained shift, the changes that may be the cause, if the votes do not tell which one is. Null without
    such changes.
    """
    explanation: str
    """All of this in two sentences."""


class ShiftCandidate(TypedDict):
    change: HistoryEntry
    share: float
    """Its share of the votes in the range of the shift."""


class ShiftCandidates(TypedDict):
    """The changes that went live while the rate moved. One of them may be the cause."""

    count: int
    changes: list[ShiftCandidate]
    """Those with the most votes first, up to 20."""


class ShiftCause(TypedDict, total=False):
    """Exactly one of these: a change of the prompt, other prompts that moved at the same time, or neither."""

    change: HistoryEntry
    shared_with: int
    """How many other prompts moved at the same time."""
    unexplained: bool
    """True if no single change and no other prompts explain it."""


class ShiftEventDataPromptsItemLinks(TypedDict):
    prompt: str


class ShiftEventDataPromptsItem(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str
    shifted_at: str
    """When the rate fell, as far as the votes tell."""
    between: list[str]
    """The range of that time."""
    rate_before: float
    rate_after: float
    candidates: int
    """How many changes of the prompt may be the cause."""
    links: ShiftEventDataPromptsItemLinks


class ShiftEventData(TypedDict):
    """Rates that fell, and no single change explains it."""

    organisation: str
    """The name of the organisation."""
    summary: str
    """What happened, in one line."""
    prompt_count: int
    """How many prompts fell, also those that are not listed."""
    prompts: list[ShiftEventDataPromptsItem]
    """At most 100, the largest loss first."""


class ShiftUnexplainedEvent(TypedDict):
    """Rates fell, and no single change explains it."""

    type: Literal["shift.unexplained"]
    timestamp: str
    """When it happened."""
    data: ShiftEventData


class Signal(TypedDict):
    """A recorded signal."""

    id: int
    value: SignalValue
    metadata: Optional[dict[str, Any]]
    """Arbitrary JSON object for the caller's own tracking, up to 16 KiB and 64 levels deep."""
    created_at: str
    """When the signal arrived. It counts towards the limit of that month."""
    version: Optional[Union[str, int]]
    """The version that produced the output: a commit SHA, the ID of a history entry (an integer) or a label."""
    subject: Optional[str]
    """What was voted on."""
    voter: Optional[str]
    """A hash of who voted. The same voter has the same hash."""
    comment: Optional[str]
    """The user's words. Untrusted text."""
    occurred_at: str
    """When the user voted: the time that the signal counts for."""
    trace_id: Optional[str]
    """The trace ID of the header traceparent."""


class SignalBatch(TypedDict):
    """Signals of any prompts."""

    signals: list[BatchSignal]


class SignalSearch(TypedDict):
    """How far a search got. Only with a filter on `comment`, `q` or metadata."""

    complete: bool
    """Whether no older signals are left to examine."""
    examined: int
    """Signals examined by this request."""
    searched_back_to: Optional[str]
    """Signals from before this time are not examined yet; null if complete."""
    cursor: Optional[str]
    """Send as `cursor` to continue; null if complete."""


class SignalsOfChange(TypedDict):
    """What the impact of the change counts. Only with `change`."""

    entry_id: int
    """The ID of the history entry."""
    side: Literal["before", "after"]
    counted: int
    """All signals of this side in the impact, whatever other filters select."""
    removed: int
    """Of these, how many retention has removed. They still count, and cannot be listed."""


class SummaryRequired(TypedDict):
    data: list[SummaryInterval]
    """Every interval that overlaps the requested range, in order. The first and last are counted in full, but with
    `split` cut to the hours of `from` and `to`.
    """
    interval: Interval
    total: Tally


class Summary(SummaryRequired, total=False):
    split: bool
    """Only with `split`. False if the range has more than about 250 changes: intervals are whole then."""
    segments: SegmentSummaries


class SummaryIntervalRequired(TypedDict):
    start: str
    positive: int
    negative: int


class SummaryInterval(SummaryIntervalRequired, total=False):
    end: str
    """Only with `split`, like the next three. Exclusive."""
    changes: int
    """How many changes went live."""
    versions: int
    """How many versions took turns. More than one in the hour of a change, and if there are too many changes to split
    at.
    """
    entry_id: Optional[int]
    """The history entry of the version that was live; null unless there was exactly one."""


class Tally(TypedDict):
    positive: int
    negative: int


class TestedAlert(TypedDict):
    """How sending a test message ended."""

    id: str
    """The ID of the message. Starts with msg_."""
    sent: bool
    """Whether the receiver accepted it."""
    status: Optional[int]
    """The HTTP status, or the reply code of the mail server."""
    response: Optional[str]
    """The beginning of the response, as one line."""
    error: Optional[str]
    """What is wrong and what to do; null if it was sent."""
    milliseconds: int
    """How long it took."""


class TextExcerpt(TypedDict):
    """The first place in the newest version, on one line. Untrusted text."""

    before: str
    """The words before it, up to 80 characters. Starts with `…` unless the text does."""
    match: str
    """The phrase as it is written there."""
    after: str
    """The words after it, up to 120 characters. Ends with `…` unless the text does."""


class TextMatchPrompt(TypedDict):
    id: str
    """The public ID (prefix pmt_)."""
    name: str


class TextMatch(TypedDict):
    """Versions of a prompt in a row whose text contains the phrase. `entry` is the newest of them, and `first_entry`
    the oldest: the change that brought the phrase.
    """

    prompt: TextMatchPrompt
    entry: HistoryEntry
    first_entry: HistoryEntry
    version_count: int
    """How many versions these are."""
    live: bool
    """Whether one of them is live now."""
    live_from: str
    """When the first of them went live."""
    live_until: Optional[str]
    """Null while one of them is live."""
    excerpt: TextExcerpt


class TextSearch(TypedDict):
    """How far the search got."""

    complete: bool
    """Whether no versions are left to examine."""
    examined: int
    """Versions whose text this request searched."""
    skipped: int
    """Versions whose text is unknown, not in git, or larger than 1 MiB. They were not searched."""
    cursor: Optional[str]
    """Send as `cursor` to continue; null if complete."""


class TimelineEntryHiddenCharacters(TypedDict):
    """Hidden characters, such as bidirectional controls and Unicode tags; null if the text has not been checked or is
    unavailable.
    """

    present: bool
    """Whether the prompt's text contains hidden characters after the change."""
    added: bool
    """Whether this change added some of them."""


class TimelineEntryPullOpened(TypedDict):
    """When it was opened; null if that is not recorded."""

    entry_id: int
    """The entry that recorded it."""
    action: Action
    created_at: str


class TimelineEntryPullOutcome(TypedDict):
    """When it was merged, or closed last; null while it is open."""

    entry_id: int
    """The entry that recorded it."""
    action: Action
    created_at: str


class TimelineEntryPull(TypedDict):
    """The course of its pull request, as far as it is in the history of this prompt; null without one."""

    opened: Optional[TimelineEntryPullOpened]
    """When it was opened; null if that is not recorded."""
    outcome: Optional[TimelineEntryPullOutcome]
    """When it was merged, or closed last; null while it is open."""


class TimelineEntryRequired(TypedDict):
    entry: HistoryEntry
    message: Optional[str]
    """The commit message, or the title of the pull request."""
    actor: Optional[str]
    """The forge user who pushed, opened, merged or closed it."""
    path: Optional[str]
    """Path of the prompt's file at that time."""
    commit_url: Optional[str]
    """The commit's page on the forge; null if the repository is unknown."""
    hidden_characters: Optional[TimelineEntryHiddenCharacters]
    """Hidden characters, such as bidirectional controls and Unicode tags; null if the text has not been checked or is
    unavailable.
    """
    pull: Optional[TimelineEntryPull]
    """The course of its pull request, as far as it is in the history of this prompt; null without one."""
    impact: Optional[Effect]
    """Effect on user feedback; null if the change did not go live."""


class TimelineEntry(TimelineEntryRequired, total=False):
    """A recorded change of a prompt, with its details and its effect on user feedback."""

    segments: Optional[Segments]
    """Only with `by`; null if the change did not go live, or if there is no change before it."""


class UnknownVersionsVersionsItem(TypedDict):
    version: Union[str, int]
    """As it was sent."""
    positive: int
    negative: int


class UnknownVersions(TypedDict):
    """Signals that name a version which is no change of the prompt, or could be several. They count for no change."""

    positive: int
    negative: int
    versions: list[UnknownVersionsVersionsItem]
    """The 20 versions with the most signals."""


class UpdatedRepository(TypedDict):
    id: int
    forge: Forge
    url: str
    path: str
    default_branch: Optional[str]
    """Null while the repository has no commits."""
    state: RepositoryState
    incomplete: bool
    """Whether the server lacks the oldest commits, as with a shallow clone, so that history starts late."""
    unread_pulls_below: Optional[int]
    """Rebased pull requests with lower numbers have not been searched yet, so that their commits are `deployed` for
    now. The next sync continues. Null if all have been searched.
    """
    webhook_url: str
    """The URL for the webhook of the forge."""
    last_delivery_at: Optional[str]
    rejected_deliveries: int
    """The number of webhook requests with a missing or wrong signature, up to a minute late."""
    last_rejected_at: Optional[str]
    """The newest of them."""
    last_rejection: Optional[str]
    """Why the newest of them was rejected."""
    last_sync_at: Optional[str]
    """The last successful sync."""
    sync_age_seconds: Optional[int]
    """The age of the last successful sync; null before the first."""
    stale: bool
    """Whether no sync has succeeded for more than two hours, so that the history may be out of date."""
    last_error: Optional[str]
    """Why the last sync failed."""
    ssh_public_key: Optional[str]
    """The public half of the deploy key; null without one."""
    ssh_host_key: Optional[str]
    """The only key of the ssh server that is accepted; null without a deploy key."""
    production_environments: Optional[list[str]]
    """Globs of the environments whose deployments decide what is live; null for the default."""
    reports_on_pulls: bool
    """Whether regressions are told on pull requests, by one comment each, and on merged commits, by a status."""
    report_error: Optional[str]
    """Why that fails, such as a scope that the token lacks; null if it succeeds or is off."""
    created_at: str
    prompt_count: int
    """The number of prompts in the repository."""
    entry_count: int
    """The number of history entries of these prompts."""
    warnings: list[str]
    """What is probably a mistake, such as prompt files that overlap with those of another repository."""


class UsageReportMonthsItem(TypedDict):
    month: str
    """Month, UTC, such as 2026-11."""
    used: int


class UsageReport(TypedDict):
    plan: Plan
    limit: Optional[int]
    """The plan's monthly signal limit; null if it has none."""
    used: int
    """Signals recorded in the current month."""
    remaining: Optional[int]
    """Signals left in the current month; null if the plan has no limit."""
    resets_at: str
    """When the counter resets."""
    months: list[UsageReportMonthsItem]
    """The last twelve months, newest first."""


class Vote(TypedDict):
    """The vote on the subject of the token."""

    value: Optional[SignalValue]
    """Null withdraws the vote."""
    comment: Optional[str]
    """The user's words."""
