-- shift_id: stays the same while votes move the shift. Null in rows of an earlier version, whose ID follows from prompt and time.
alter table shifts add column shift_id text;

-- What people decided about a shift, and the shift as it was then: the judge replaces the rows of shifts. Columns as in regressions.
create table shift_triage (
  organisation_id integer not null,
  shift_id text not null,
  prompt_id integer not null,
  at integer not null,
  range_from integer not null,
  range_until integer not null,
  rate_before integer not null,
  rate_after integer not null,
  found_at integer not null,
  owner text,
  acknowledged_at integer,
  acknowledged_by text,
  snoozed_until integer,
  dismissed_at integer,
  key_id integer,
  key_name text,
  note text,
  primary key (organisation_id, shift_id)
) strict, without rowid;

create index triaged_shifts_of_prompt on shift_triage (organisation_id, prompt_id, at);

-- As regression_steps.
create table shift_steps (
  id integer primary key autoincrement,
  organisation_id integer not null,
  shift_id text not null,
  at integer not null,
  key_id integer,
  key_name text,
  action text not null,
  text text
) strict;

create index steps_of_shift on shift_steps (organisation_id, shift_id, id);
