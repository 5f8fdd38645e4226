-- What each prompt tells about how votes wander: base64 of 54 log-likelihoods as 32-bit floats, relative to the largest.
create table prompt_wander (
  organisation_id bigint not null,
  prompt_id bigint not null,
  likelihoods text not null,
  judged_at bigint not null,
  primary key (organisation_id, prompt_id)
);

-- When the rate of a prompt moved. It did at some time from range_from to range_until, most likely at `at`. Rates in millionths.
-- entry_id: the change that explains it. shared_with: how many other prompts moved at the same time, if that explains it.
create table shifts (
  organisation_id bigint not null,
  prompt_id bigint not null,
  at bigint not null,
  range_from bigint not null,
  range_until bigint not null,
  rate_before bigint not null,
  rate_after bigint not null,
  entry_id bigint,
  shared_with bigint,
  primary key (organisation_id, prompt_id, at)
);

create index shifts_by_time on shifts (organisation_id, at, prompt_id);

-- Changes that made a prompt worse, one row for each. commit_sha: of the change, whose entry may get another ID. Rates, difference
-- and its interval in millionths, as of the last time that the verdict was `worse`.
create table regressions (
  id bigint generated always as identity,
  organisation_id bigint not null,
  prompt_id bigint not null,
  entry_id bigint not null,
  commit_sha text not null,
  state text not null check (state in ('open', 'repaired', 'dismissed')),
  opened_at bigint not null,
  rate_before bigint not null,
  rate_after bigint not null,
  difference bigint not null,
  low bigint not null,
  high bigint not null,
  explanation text not null,
  repaired_at bigint,
  repaired_by text check (repaired_by in ('rate', 'revert')),
  repaired_entry_id bigint,
  dismissed_at bigint,
  key_id bigint,
  key_name text,
  note text,
  primary key (organisation_id, id)
);

create unique index regressions_of_prompt on regressions (organisation_id, prompt_id, entry_id);
create index regressions_by_time on regressions (organisation_id, opened_at, id);
create index regressions_by_state on regressions (organisation_id, state, opened_at, id);
create index open_regressions on regressions (organisation_id, prompt_id, difference) where state = 'open';

-- When all prompts with votes are judged next, and which process does it until when.
create table sweep (
  id bigint primary key,
  due_at bigint not null,
  lease_owner text,
  lease_until bigint
);

insert into sweep (id, due_at) values (1, 0);
