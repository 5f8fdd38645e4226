-- Whether a pull request that takes a change back is opened as soon as people are told that it made a prompt worse.
alter table repositories add column proposes_reverts bigint not null default 0;

-- Pull requests that take back a change that made a prompt worse. pr_number: null until it is open. active: 1 until it is merged or closed, then
-- null, so that a regression has at most one. claimed_until: while a process is at work on it.
create table proposals (
  id bigint generated always as identity,
  organisation_id bigint not null,
  prompt_id bigint not null,
  regression_id bigint not null,
  repository_id bigint not null,
  mode text not null,
  files text not null,
  branch text not null,
  state text not null,
  active bigint,
  pr_number bigint,
  pr_url text,
  key_id bigint,
  proposed_by text,
  created_at bigint not null,
  claimed_until bigint not null,
  primary key (organisation_id, id)
);

create unique index proposals_active on proposals (organisation_id, regression_id, active);
create index proposals_of_regression on proposals (organisation_id, regression_id, id);
