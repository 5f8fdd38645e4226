create table organisations (
  id bigint generated always as identity primary key,
  name text not null,
  plan text not null check (plan in ('free', 'team', 'business')),
  created_at bigint not null
);

create table api_keys (
  id bigint generated always as identity primary key,
  organisation_id bigint not null references organisations (id),
  name text not null,
  role text not null check (role in ('ingest', 'standard', 'admin')),
  hash text not null unique,
  hint text not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint
);

create index api_keys_by_organisation on api_keys (organisation_id, id);

create table prompts (
  id bigint generated always as identity,
  organisation_id bigint not null references organisations (id),
  public_id text not null,
  name text not null,
  history_count bigint not null default 0,
  created_at bigint not null,
  deleted_at bigint,
  primary key (organisation_id, id),
  unique (organisation_id, public_id)
);

create index prompts_by_public_id on prompts (public_id);

-- position: 1 for the prompt's oldest entry, history_count for the newest, by created_at and id.
create table history_entries (
  id bigint generated always as identity,
  organisation_id bigint not null,
  prompt_id bigint not null,
  position bigint not null,
  dedupe_key text not null,
  action text not null check (action in ('deployed', 'pr_opened', 'pr_merged', 'pr_closed')),
  user_name text not null,
  user_email text not null,
  commit_sha text not null,
  pr_number bigint,
  pr_url text,
  branch_name text not null,
  created_at bigint not null,
  primary key (organisation_id, id),
  unique (organisation_id, prompt_id, dedupe_key)
);

create index history_entries_by_position on history_entries (organisation_id, prompt_id, position);
create index history_entries_by_time on history_entries (organisation_id, prompt_id, created_at, id);

-- Partitioned by month, so retention can drop whole months. The service creates partitions as they are needed.
create sequence signal_ids;

create table signals (
  id bigint not null default nextval('signal_ids'),
  organisation_id bigint not null,
  prompt_id bigint not null,
  value text not null check (value in ('positive', 'negative')),
  metadata text,
  created_at bigint not null,
  primary key (organisation_id, prompt_id, created_at, id)
) partition by range (created_at);

create table idempotency_keys (
  organisation_id bigint not null,
  key text not null,
  fingerprint text not null,
  signal_id bigint not null,
  created_at bigint not null,
  primary key (organisation_id, key)
);

-- month and hour: their first millisecond, UTC. month_limit: the limit last applied, null if there were only imports.
create table signal_usage (
  organisation_id bigint not null,
  month bigint not null,
  used bigint not null,
  month_limit bigint,
  primary key (organisation_id, month)
) with (fillfactor = 50);

create table signal_hours (
  organisation_id bigint not null,
  prompt_id bigint not null,
  hour bigint not null,
  positive bigint not null,
  negative bigint not null,
  primary key (organisation_id, prompt_id, hour)
) with (fillfactor = 50);

-- One row, written by the readiness check.
create table readiness (
  id integer primary key check (id = 1),
  checked_at bigint not null
);

insert into readiness (id, checked_at) values (1, 0);

-- One row, incremented with each change to organisations, keys, prompts or history. Processes check it before they respond
-- from their caches.
create table change_counter (
  id integer primary key check (id = 1),
  changes bigint not null
);

insert into change_counter (id, changes) values (1, 0);
