-- How strong the evidence was the last time that the verdict was `worse`: log10 of the Bayes factor, in thousandths. Null if unknown.
alter table regressions add column evidence bigint;
-- When the verdict was taken back. Such a row has the state `repaired` and no repaired_by, which processes of the previous version understand.
alter table regressions add column withdrawn_at bigint;
-- What messages say beside the rates: the numbers of signals, and since when the change is live. Null if unknown.
alter table regressions add column signals_before bigint;
alter table regressions add column signals_after bigint;
alter table regressions add column live_from bigint;

-- Whether regressions are reported on pull requests and merged commits.
alter table repositories add column reports_on_pulls bigint not null default 0;
-- Why the last report failed, such as a scope that the token lacks. Null if it succeeded.
alter table repositories add column report_error text;

-- Where people are told. target: a URL, email addresses, or the routing key of PagerDuty. hint: what of it may be shown.
-- prompts: a glob. events: a JSON array. Times in milliseconds. repeat_ms: null to tell once.
create table alerts (
  id bigint generated always as identity,
  organisation_id bigint not null,
  public_id text not null,
  name text not null,
  channel text not null,
  sealed_target text not null,
  hint text not null,
  sealed_secret text,
  sealed_old_secret text,
  old_secret_until bigint,
  prompts text not null,
  events text not null,
  hold_ms bigint not null,
  min_signals bigint not null,
  recovery_hold_ms bigint not null,
  repeat_ms bigint,
  created_at bigint not null,
  disabled_at bigint,
  disabled_reason text,
  primary key (organisation_id, id)
);

create unique index alerts_by_public_id on alerts (organisation_id, public_id);

-- What people are told about: a change that made prompts worse, a shift without a cause, a limit, a failing repository. One row for
-- each subject, written in the transaction that opens the regression. round: counts how often it opened. changes: counts changes of
-- the row, so that a process does not decide by what another one has changed.
create table notices (
  id bigint generated always as identity,
  organisation_id bigint not null,
  kind text not null,
  subject text not null,
  state text not null,
  round bigint not null default 1,
  changes bigint not null default 0,
  opened_at bigint not null,
  ended_at bigint,
  -- When to check next whom to tell. Null if nothing is left to tell.
  due_at bigint,
  primary key (organisation_id, id)
);

create unique index notices_by_subject on notices (organisation_id, kind, subject);
create index due_notices on notices (due_at) where due_at is not null;

-- The regressions that one notice is about: all those of one pull request or commit.
create table notice_regressions (
  organisation_id bigint not null,
  notice_id bigint not null,
  regression_id bigint not null,
  primary key (organisation_id, notice_id, regression_id)
);

create index notices_of_regression on notice_regressions (organisation_id, regression_id);

-- The outbox: one message to one alert, or to the pull request of a repository (alert_id null). public_id: the same in every attempt.
-- repeat: counts messages about the same event and round. message: what happened, as JSON, without comments of users, which are read
-- when it is sent. due_at: when the next attempt is due; while one is in progress, when its lease ends.
create table alert_deliveries (
  id bigint generated always as identity,
  organisation_id bigint not null,
  public_id text not null,
  notice_id bigint not null,
  alert_id bigint,
  event text not null,
  round bigint not null,
  repeat bigint not null default 0,
  message text not null,
  state text not null,
  attempts bigint not null default 0,
  due_at bigint not null,
  lease_owner text,
  status bigint,
  response text,
  error text,
  created_at bigint not null,
  finished_at bigint,
  primary key (organisation_id, id)
);

create unique index alert_deliveries_once on alert_deliveries (organisation_id, notice_id, coalesce(alert_id, 0), event, round, repeat);
-- First attempts come before retries.
create index due_alert_deliveries on alert_deliveries (organisation_id, attempts, due_at) where state = 'pending';
create unique index alert_deliveries_by_public_id on alert_deliveries (organisation_id, public_id);
create index alert_deliveries_by_alert on alert_deliveries (organisation_id, alert_id, id);

-- What each pull request was told last, or each commit that landed without one. subject: pull/<number> or commit/<sha>. comment_id:
-- the comment that is edited from then on; null without one. message_at: the newest message that it shows. claimed_until: while a process
-- is talking to the forge, so that two of them never create two comments.
create table pull_comments (
  organisation_id bigint not null,
  repository_id bigint not null,
  subject text not null,
  comment_id text,
  message_at bigint,
  claimed_until bigint not null,
  primary key (organisation_id, repository_id, subject)
);
