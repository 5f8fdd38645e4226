-- What each process has added to the sums of hours and months, until it moves that to signal_hours, version_hours and signal_usage. Each
-- has rows of its own, so that processes do not wait for each other. version: empty for the sum of all signals.
create table recent_sums (
  organisation_id bigint not null,
  prompt_id bigint not null,
  hour bigint not null,
  writer bigint not null,
  version text not null,
  positive bigint not null,
  negative bigint not null,
  primary key (organisation_id, prompt_id, hour, writer, version)
) with (fillfactor = 50);

-- Only of organisations without a monthly limit: a limit needs one row that counts.
create table recent_usage (
  organisation_id bigint not null,
  month bigint not null,
  writer bigint not null,
  used bigint not null,
  primary key (organisation_id, month, writer)
) with (fillfactor = 50);

-- What to read. An hour or a month can have several rows here.
create view hour_sums as
  select organisation_id, prompt_id, hour, positive, negative from signal_hours
  union all
  select organisation_id, prompt_id, hour, positive, negative from recent_sums where version = '';

create view version_sums as
  select organisation_id, prompt_id, version, hour, positive, negative from version_hours
  union all
  select organisation_id, prompt_id, version, hour, positive, negative from recent_sums where version <> '';

create view month_usage as
  select organisation_id, month, used, month_limit from signal_usage
  union all
  select organisation_id, month, used, null from recent_usage;
