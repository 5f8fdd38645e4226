-- How strong the evidence was the last time that the verdict was `worse`: log10 of the Bayes factor, in thousandths. Null if unknown.
alter table regressions add column evidence integer;
-- When the verdict was taken back. Such a row has the state `repaired` and no repaired_by, which processes of the previous version understand.
alter table regressions add column withdrawn_at integer;
-- What messages say beside the rates: the numbers of signals, and since when the change is live. Null if unknown.
alter table regressions add column signals_before integer;
alter table regressions add column signals_after integer;
alter table regressions add column live_from integer;

-- Whether regressions are reported on pull requests and merged commits.
alter table repositories add column reports_on_pulls integer not null default 0;
-- Why the last report failed, such as a scope that the token lacks. Null if it succeeded.
alter table repositories add column report_error text;

-- Where people are told. target: a URL, email addresses, or the routing key of PagerDuty. hint: what of it may be shown.
-- prompts: a glob. events: a JSON array. Times in milliseconds. repeat_ms: null to tell once.
create table alerts (
  id integer primary key autoincrement,
  organisation_id integer not null,
  public_id text not null,
  name text not null,
  channel text not null,
  sealed_target text not null,
  hint text not null,
  sealed_secret text,
  sealed_old_secret text,
  old_secret_until integer,
  prompts text not null,
  events text not null,
  hold_ms integer not null,
  min_signals integer not null,
  recovery_hold_ms integer not null,
  repeat_ms integer,
  created_at integer not null,
  disabled_at integer,
  disabled_reason text
) strict;

create unique index alerts_by_public_id on alerts (organisation_id, public_id);

-- What people are told about: a change that made prompts worse, a shift without a cause, a limit, a failing repository. One row for
-- each subject, written in the transaction that opens the regression. round: counts how often it opened. changes: counts changes of
-- the row, so that a process does not decide by what another one has changed.
create table notices (
  id integer primary key autoincrement,
  organisation_id integer not null,
  kind text not null,
  subject text not null,
  state text not null,
  round integer not null default 1,
  changes integer not null default 0,
  opened_at integer not null,
  ended_at integer,
  -- When to check next whom to tell. Null if nothing is left to tell.
  due_at integer
) strict;

create unique index notices_by_subject on notices (organisation_id, kind, subject);
create index due_notices on notices (due_at) where due_at is not null;

-- The regressions that one notice is about: all those of one pull request or commit.
create table notice_regressions (
  organisation_id integer not null,
  notice_id integer not null,
  regression_id integer not null,
  primary key (organisation_id, notice_id, regression_id)
) strict, without rowid;

create index notices_of_regression on notice_regressions (organisation_id, regression_id);

-- The outbox: one message to one alert, or to the pull request of a repository (alert_id null). public_id: the same in every attempt.
-- repeat: counts messages about the same event and round. message: what happened, as JSON, without comments of users, which are read
-- when it is sent. due_at: when the next attempt is due; while one is in progress, when its lease ends.
create table alert_deliveries (
  id integer primary key autoincrement,
  organisation_id integer not null,
  public_id text not null,
  notice_id integer not null,
  alert_id integer,
  event text not null,
  round integer not null,
  repeat integer not null default 0,
  message text not null,
  state text not null,
  attempts integer not null default 0,
  due_at integer not null,
  lease_owner text,
  status integer,
  response text,
  error text,
  created_at integer not null,
  finished_at integer
) strict;

create unique index alert_deliveries_once on alert_deliveries (organisation_id, notice_id, coalesce(alert_id, 0), event, round, repeat);
-- First attempts come before retries.
create index due_alert_deliveries on alert_deliveries (organisation_id, attempts, due_at) where state = 'pending';
create unique index alert_deliveries_by_public_id on alert_deliveries (organisation_id, public_id);
create index alert_deliveries_by_alert on alert_deliveries (organisation_id, alert_id, id);

-- What each pull request was told last, or each commit that landed without one. subject: pull/<number> or commit/<sha>. comment_id:
-- the comment that is edited from then on; null without one. message_at: the newest message that it shows. claimed_until: while a process
-- is talking to the forge, so that two of them never create two comments.
create table pull_comments (
  organisation_id integer not null,
  repository_id integer not null,
  subject text not null,
  comment_id text,
  message_at integer,
  claimed_until integer not null,
  primary key (organisation_id, repository_id, subject)
) strict, without rowid;
