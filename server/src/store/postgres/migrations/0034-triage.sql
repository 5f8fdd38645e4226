-- owner: an email address; null for the author of the change. acknowledged_by: the name of a key.
alter table regressions add column owner text;
alter table regressions add column acknowledged_at bigint;
alter table regressions add column acknowledged_by text;
alter table regressions add column snoozed_until bigint;

-- What people did about a regression, and what they said. action: see domain/regressions/triage.ts. text: a comment, an address or a time.
create table regression_steps (
  id bigint generated always as identity,
  organisation_id bigint not null,
  regression_id bigint not null,
  at bigint not null,
  key_id bigint,
  key_name text,
  action text not null,
  text text,
  primary key (organisation_id, id)
);

create index steps_of_regression on regression_steps (organisation_id, regression_id, id);
