-- owner: an email address; null for the author of the change. acknowledged_by: the name of a key.
alter table regressions add column owner text;
alter table regressions add column acknowledged_at integer;
alter table regressions add column acknowledged_by text;
alter table regressions add column snoozed_until integer;

-- What people did about a regression, and what they said. action: see domain/regressions/triage.ts. text: a comment, an address or a time.
create table regression_steps (
  id integer primary key autoincrement,
  organisation_id integer not null,
  regression_id integer not null,
  at integer not null,
  key_id integer,
  key_name text,
  action text not null,
  text text
) strict;

create index steps_of_regression on regression_steps (organisation_id, regression_id, id);
