-- Whether a pull request that takes a change back is opened as soon as people are told that it made a prompt worse.
alter table repositories add column proposes_reverts integer not null default 0;

-- Pull requests that take back a change that made a prompt worse. pr_number: null until it is open. active: 1 until it is merged or closed, then
-- null, so that a regression has at most one. claimed_until: while a process is at work on it.
create table proposals (
  id integer primary key autoincrement,
  organisation_id integer not null,
  prompt_id integer not null,
  regression_id integer not null,
  repository_id integer not null,
  mode text not null,
  files text not null,
  branch text not null,
  state text not null,
  active integer,
  pr_number integer,
  pr_url text,
  key_id integer,
  proposed_by text,
  created_at integer not null,
  claimed_until integer not null
) strict;

create unique index proposals_active on proposals (organisation_id, regression_id, active);
create index proposals_of_regression on proposals (organisation_id, regression_id, id);
