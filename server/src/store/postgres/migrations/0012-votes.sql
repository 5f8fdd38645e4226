-- version: a commit SHA, #<id> of a history entry, or :<label> from metadata (domain/signals/version.ts). voter: a keyed hash.
-- created_at stays the time that a signal counts for. received_at: when it arrived, null unless that is another time.
alter table signals add column version text;
alter table signals add column subject text;
alter table signals add column voter text;
alter table signals add column comment text;
alter table signals add column received_at bigint;
alter table signals add column trace_id text;

create index signals_by_voter on signals (organisation_id, voter) where voter is not null;

-- The hourly sums of the signals with a version. They are part of signal_hours too.
create table version_hours (
  organisation_id bigint not null,
  prompt_id bigint not null,
  version text not null,
  hour bigint not null,
  positive bigint not null,
  negative bigint not null,
  primary key (organisation_id, prompt_id, version, hour)
) with (fillfactor = 50);

create index version_hours_by_time on version_hours (organisation_id, prompt_id, hour);

-- The vote on each subject: the signal that holds it, and what the sums contain of it. value: null if the vote was withdrawn.
-- vote_id: the ID that was drawn for the last vote, which differs from signal_id if it replaced one. created_at and received_at:
-- as in signals, but never null.
create table signal_subjects (
  organisation_id bigint not null,
  prompt_id bigint not null,
  subject text not null,
  signal_id bigint not null,
  vote_id bigint not null,
  value text,
  version text,
  created_at bigint not null,
  received_at bigint not null,
  primary key (organisation_id, prompt_id, subject)
);

-- Finds subjects whose signals retention has removed.
create index signal_subjects_by_time on signal_subjects (received_at);

-- The status of the first response. Null for 201.
alter table idempotency_keys add column status bigint;

-- The key of the hashes in signals.voter, encrypted. Null until the first voter.
alter table organisations add column sealed_voter_key text;
