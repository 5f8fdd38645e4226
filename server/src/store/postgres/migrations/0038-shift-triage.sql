-- shift_id: stays the same while votes move the shift. Null in rows of an earlier version, whose ID follows from prompt and time.
alter table shifts add column shift_id text;

-- What people decided about a shift, and the shift as it was then: the judge replaces the rows of shifts. Columns as in regressions.
create table shift_triage (
  organisation_id bigint not null,
  shift_id text not null,
  prompt_id bigint not null,
  at bigint not null,
  range_from bigint not null,
  range_until bigint not null,
  rate_before bigint not null,
  rate_after bigint not null,
  found_at bigint not null,
  owner text,
  acknowledged_at bigint,
  acknowledged_by text,
  snoozed_until bigint,
  dismissed_at bigint,
  key_id bigint,
  key_name text,
  note text,
  primary key (organisation_id, shift_id)
);

create index triaged_shifts_of_prompt on shift_triage (organisation_id, prompt_id, at);

-- As regression_steps.
create table shift_steps (
  id bigint generated always as identity,
  organisation_id bigint not null,
  shift_id text not null,
  at bigint not null,
  key_id bigint,
  key_name text,
  action text not null,
  text text,
  primary key (organisation_id, id)
);

create index steps_of_shift on shift_steps (organisation_id, shift_id, id);
