-- Whether applications fetch the texts of prompts from here, and the globs of prompts that they may not fetch, as JSON.
alter table organisations add column delivers integer not null default 0;
alter table organisations add column undelivered text;

-- The text of each prompt that is live. Copied from git, so it is not part of archives. size: of the text, in UTF-16 code units.
create table live_texts (
  organisation_id integer not null,
  prompt_id integer not null,
  entry_id integer not null,
  commit_sha text not null,
  blob text not null,
  size integer not null,
  text text not null,
  primary key (organisation_id, prompt_id)
) strict;

-- share, and those in shares and ramp: millionths. shares: since when which share was served, as JSON. reason: why it ended.
-- findings: what the judge found last, as JSON.
create table trials (
  organisation_id integer not null,
  trial_id text not null,
  repository_id integer not null,
  pr_number integer,
  commit_sha text not null,
  state text not null,
  share integer not null,
  shares text not null,
  ramp text,
  verdict text,
  mismatch integer not null,
  findings text,
  key_id integer,
  started_by text not null,
  started_at integer not null,
  ended_at integer,
  reason text,
  primary key (organisation_id, trial_id)
) strict;

create index trials_by_start on trials (organisation_id, started_at, trial_id);
create index trials_by_state on trials (state);

-- The candidate's text of each prompt. active: 1 until the trial ends, then null, so that each prompt has at most one.
create table trial_prompts (
  organisation_id integer not null,
  trial_id text not null,
  prompt_id integer not null,
  blob text not null,
  text text not null,
  active integer,
  primary key (organisation_id, trial_id, prompt_id)
) strict;

create index trial_prompts_by_prompt on trial_prompts (organisation_id, prompt_id);
create unique index trial_prompts_active on trial_prompts (organisation_id, prompt_id, active);

-- How many units each process has served by each arm, since it started.
create table trial_exposures (
  organisation_id integer not null,
  trial_id text not null,
  source text not null,
  share integer not null,
  control integer not null,
  candidate integer not null,
  primary key (organisation_id, trial_id, source, share)
) strict;

-- Alerts that hear of everything hear of trials too, except PagerDuty, which would call people because a trial started.
update alerts set events = '["regression.opened","regression.repaired","regression.withdrawn","shift.unexplained","limit.near","limit.reached","repository.failing","repository.recovered","trial.started","trial.better","trial.worse","trial.stopped","trial.mismatch"]'
  where events = '["regression.opened","regression.repaired","regression.withdrawn","shift.unexplained","limit.near","limit.reached","repository.failing","repository.recovered"]'
  and channel <> 'pagerduty';
