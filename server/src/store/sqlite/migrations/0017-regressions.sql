-- What each prompt tells about how votes wander: base64 of 54 log-likelihoods as 32-bit floats, relative to the largest.
create table prompt_wander (
  organisation_id integer not null,
  prompt_id integer not null,
  likelihoods text not null,
  judged_at integer not null,
  primary key (organisation_id, prompt_id)
) strict, without rowid;

-- When the rate of a prompt moved. It did at some time from range_from to range_until, most likely at `at`. Rates in millionths.
-- entry_id: the change that explains it. shared_with: how many other prompts moved at the same time, if that explains it.
create table shifts (
  organisation_id integer not null,
  prompt_id integer not null,
  at integer not null,
  range_from integer not null,
  range_until integer not null,
  rate_before integer not null,
  rate_after integer not null,
  entry_id integer,
  shared_with integer,
  primary key (organisation_id, prompt_id, at)
) strict, without rowid;

create index shifts_by_time on shifts (organisation_id, at, prompt_id);

-- Changes that made a prompt worse, one row for each. commit_sha: of the change, whose entry may get another ID. Rates, difference
-- and its interval in millionths, as of the last time that the verdict was `worse`.
create table regressions (
  id integer primary key autoincrement,
  organisation_id integer not null,
  prompt_id integer not null,
  entry_id integer not null,
  commit_sha text not null,
  state text not null check (state in ('open', 'repaired', 'dismissed')),
  opened_at integer not null,
  rate_before integer not null,
  rate_after integer not null,
  difference integer not null,
  low integer not null,
  high integer not null,
  explanation text not null,
  repaired_at integer,
  repaired_by text check (repaired_by in ('rate', 'revert')),
  repaired_entry_id integer,
  dismissed_at integer,
  key_id integer,
  key_name text,
  note text
) strict;

create unique index regressions_of_prompt on regressions (organisation_id, prompt_id, entry_id);
create index regressions_by_time on regressions (organisation_id, opened_at, id);
create index regressions_by_state on regressions (organisation_id, state, opened_at, id);
create index open_regressions on regressions (organisation_id, prompt_id, difference) where state = 'open';

-- When all prompts with votes are judged next, and which process does it until when.
create table sweep (
  id integer primary key,
  due_at integer not null,
  lease_owner text,
  lease_until integer
) strict;

insert into sweep (id, due_at) values (1, 0);
