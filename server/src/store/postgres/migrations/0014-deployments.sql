-- Deployments as CI systems and forges report them, of a repository or of one prompt. share: in millionths.
-- flagged: whether the forge calls the environment production, null if it does not say. production: whether it counts as
-- production, by the repository's setting at the time. forge_deployment_id: the forge's ID of the deployment that a status is about.
create table deployments (
  id bigint generated always as identity,
  organisation_id bigint not null,
  repository_id bigint,
  prompt_id bigint,
  dedupe_key text not null,
  environment text not null,
  flagged bigint,
  production bigint not null,
  commit_sha text not null,
  state text not null check (state in ('queued', 'in_progress', 'success', 'failure', 'inactive')),
  share bigint not null,
  at bigint not null,
  received_at bigint not null,
  source text not null,
  forge_deployment_id text,
  key_id bigint,
  primary key (organisation_id, id)
);

create unique index deployments_of_repository on deployments (organisation_id, repository_id, dedupe_key)
  where repository_id is not null;
create unique index deployments_of_prompt on deployments (organisation_id, prompt_id, dedupe_key) where prompt_id is not null;
create index deployments_by_repository on deployments (organisation_id, repository_id, at, id) where repository_id is not null;
create index deployments_by_prompt on deployments (organisation_id, prompt_id, at, id) where prompt_id is not null;

-- Where commits, full or abbreviated as reported, are on the line of the default branch. anchor_sha: the newest commit at or before
-- it that changed a prompt, with its seq and orphaned_at in edits; null if none did. located: 0 if the line did not have it as of
-- checked_tip.
create table commit_places (
  organisation_id bigint not null,
  repository_id bigint not null,
  commit_sha text not null,
  located bigint not null,
  anchor_sha text,
  seq bigint,
  orphaned_at bigint,
  checked_tip text,
  checked_at bigint not null,
  primary key (organisation_id, repository_id, commit_sha)
);

create index commit_places_by_seq on commit_places (organisation_id, repository_id, seq) where located = 1;

-- A JSON array of globs: the environments that are production. Null for the default.
alter table repositories add column production_environments text;
