create table organisations (
  id integer primary key autoincrement,
  name text not null,
  plan text not null check (plan in ('free', 'team', 'business')),
  created_at integer not null
) strict;

create table api_keys (
  id integer primary key autoincrement,
  organisation_id integer not null references organisations (id),
  name text not null,
  role text not null check (role in ('ingest', 'standard', 'admin')),
  hash text not null unique,
  hint text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer
) strict;

create index api_keys_by_organisation on api_keys (organisation_id, id);

create table prompts (
  id integer primary key autoincrement,
  organisation_id integer not null references organisations (id),
  public_id text not null,
  name text not null,
  history_count integer not null default 0,
  created_at integer not null,
  deleted_at integer,
  unique (organisation_id, public_id)
) strict;

create index prompts_by_public_id on prompts (public_id);

-- position: 1 for the prompt's oldest entry, history_count for the newest, by created_at and id.
create table history_entries (
  id integer primary key autoincrement,
  organisation_id integer not null,
  prompt_id integer not null,
  position integer not null,
  dedupe_key text not null,
  action text not null check (action in ('deployed', 'pr_opened', 'pr_merged', 'pr_closed')),
  user_name text not null,
  user_email text not null,
  commit_sha text not null,
  pr_number integer,
  pr_url text,
  branch_name text not null,
  created_at integer not null,
  unique (organisation_id, prompt_id, dedupe_key)
) strict;

create index history_entries_by_position on history_entries (organisation_id, prompt_id, position);
create index history_entries_by_time on history_entries (organisation_id, prompt_id, created_at, id);

create table signals (
  id integer primary key autoincrement,
  organisation_id integer not null,
  prompt_id integer not null,
  value text not null check (value in ('positive', 'negative')),
  metadata text,
  created_at integer not null
) strict;

create index signals_by_time on signals (organisation_id, prompt_id, created_at, id);

create table idempotency_keys (
  organisation_id integer not null,
  key text not null,
  fingerprint text not null,
  signal_id integer not null,
  created_at integer not null,
  primary key (organisation_id, key)
) strict, without rowid;

-- month and hour: their first millisecond, UTC. month_limit: the limit last applied, null if there were only imports.
create table signal_usage (
  organisation_id integer not null,
  month integer not null,
  used integer not null,
  month_limit integer,
  primary key (organisation_id, month)
) strict, without rowid;

create table signal_hours (
  organisation_id integer not null,
  prompt_id integer not null,
  hour integer not null,
  positive integer not null,
  negative integer not null,
  primary key (organisation_id, prompt_id, hour)
) strict, without rowid;

-- One row, written by the readiness check.
create table readiness (
  id integer primary key check (id = 1),
  checked_at integer not null
) strict;

insert into readiness (id, checked_at) values (1, 0);
