-- forge_id: how the forge identifies the repository, from its first delivery. Stays the same when the repository is renamed.
-- rejected_deliveries: webhook requests with a missing or wrong signature; last_rejected_at and last_rejection: of the newest.
alter table repositories add column forge_id text;
alter table repositories add column rejected_deliveries integer not null default 0;
alter table repositories add column last_rejected_at integer;
alter table repositories add column last_rejection text;

-- push_size: the number of commits of the push that `actor` pushed. If several pushes contain a commit, the smallest counts.
alter table edits add column push_size integer;

-- Pushes to the default branch, kept as long as deliveries. before_sha is empty if the push created the branch.
create table pushes (
  organisation_id integer not null,
  repository_id integer not null,
  after_sha text not null,
  before_sha text not null,
  pusher text,
  received_at integer not null,
  primary key (organisation_id, repository_id, after_sha, before_sha)
) strict, without rowid;

create index pushes_by_age on pushes (received_at);
