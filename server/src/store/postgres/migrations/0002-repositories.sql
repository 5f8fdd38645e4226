-- wakes: incremented by every sync request, so one that arrives during a sync is not lost.
create table repositories (
  id bigint generated always as identity primary key,
  organisation_id bigint not null references organisations (id),
  forge text not null check (forge in ('github', 'gitlab', 'gitea', 'forgejo', 'bitbucket')),
  url text not null,
  path text not null,
  similarity bigint not null,
  hook_id text not null unique,
  sealed_token text,
  sealed_secret text not null,
  sealed_old_secret text,
  old_secret_until bigint,
  default_branch text,
  tip text,
  web_url text,
  incomplete bigint not null default 0,
  last_sync_at bigint,
  last_error text,
  due_at bigint not null,
  wakes bigint not null default 0,
  lease_owner text,
  lease_until bigint not null default 0,
  created_at bigint not null,
  disconnected_at bigint,
  unique (organisation_id, url, path)
);

create index repositories_by_due on repositories (due_at);

-- Kept for 30 days, for inspection and redelivery.
create table deliveries (
  id bigint generated always as identity,
  organisation_id bigint not null,
  repository_id bigint not null,
  delivery_id text,
  event text not null,
  body text not null,
  state text not null check (state in ('pending', 'done', 'ignored', 'failed')),
  attempts bigint not null default 0,
  error text,
  received_at bigint not null,
  next_attempt_at bigint not null,
  finished_at bigint,
  primary key (organisation_id, id),
  unique (organisation_id, repository_id, delivery_id)
);

create index deliveries_by_repository on deliveries (organisation_id, repository_id, id);
create index deliveries_pending on deliveries (organisation_id, repository_id, next_attempt_at) where state = 'pending';
create index deliveries_by_age on deliveries (received_at);

-- document: everything known about the pull request, as JSON. settled: neither open nor merged as a commit still to be found.
create table pulls (
  organisation_id bigint not null,
  repository_id bigint not null,
  number bigint not null,
  settled bigint not null,
  document text not null,
  primary key (organisation_id, repository_id, number)
);

create index pulls_unsettled on pulls (organisation_id, repository_id) where settled = 0;

-- One row per commit on the default branch and prompt whose file it changes.
create table edits (
  organisation_id bigint not null,
  repository_id bigint not null,
  commit_sha text not null,
  prompt_id bigint not null,
  seq bigint not null,
  path text not null,
  old_path text,
  old_blob text,
  new_blob text,
  author_name text not null,
  author_email text not null,
  side_author_name text,
  side_author_email text,
  committed_at bigint not null,
  message text not null,
  branch text not null,
  actor text,
  mark bigint,
  pull bigint,
  held_until bigint,
  orphaned_at bigint,
  primary key (organisation_id, repository_id, commit_sha, prompt_id)
);

create index edits_by_seq on edits (organisation_id, repository_id, seq);
create index edits_by_path on edits (organisation_id, repository_id, path);
create index edits_by_mark on edits (organisation_id, repository_id, mark) where mark is not null;
create index edits_by_pull on edits (organisation_id, repository_id, pull) where pull is not null;
create index edits_held on edits (organisation_id, repository_id, held_until) where held_until is not null;

-- path: the path of the prompt's file, null for prompts without one.
alter table prompts add column repository_id bigint;
alter table prompts add column path text;

create unique index prompts_by_path on prompts (organisation_id, repository_id, path) where path is not null;

-- Details of entries derived from git. Null for submitted entries.
alter table history_entries add column repository_id bigint;
alter table history_entries add column message text;
alter table history_entries add column actor text;
alter table history_entries add column path text;
alter table history_entries add column old_path text;
alter table history_entries add column before_blob text;
alter table history_entries add column after_blob text;
alter table history_entries add column seq bigint;
alter table history_entries add column orphaned_at bigint;

create index history_entries_by_key on history_entries (organisation_id, repository_id, dedupe_key) where repository_id is not null;
create index history_entries_by_pull on history_entries (organisation_id, repository_id, pr_number)
  where repository_id is not null and pr_number is not null;
