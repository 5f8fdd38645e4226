-- The commits of the live text since the trial started, as JSON: votes that name one of them are those of the live version.
alter table trial_prompts add column controls text not null default '[]';

-- What the judge has counted of a trial that has not ended, as JSON. Counted again from the signals if it is missing, so it is not part
-- of archives. revision: counts writes, so that two processes do not overwrite each other's counts.
create table trial_progress (
  organisation_id bigint not null,
  trial_id text not null,
  revision bigint not null,
  progress text not null,
  primary key (organisation_id, trial_id)
);

-- Whose first vote is part of it.
create table trial_voters (
  organisation_id bigint not null,
  trial_id text not null,
  voter text not null,
  primary key (organisation_id, trial_id, voter)
);

-- Which process does work that only one of several may do, until when.
create table leases (
  name text primary key,
  owner text not null,
  lease_until bigint not null
);

insert into leases (name, owner, lease_until) values ('trials', '', 0);

-- Their texts are not needed after the end.
update trial_prompts set text = '' where active is null;

-- The last label such as `promptledger: 10%` of each pull request. share: millionths, null if it was removed. trial_id: the trial that it
-- started. due_at: when to act upon it, null if that is done.
create table trial_labels (
  organisation_id bigint not null,
  repository_id bigint not null,
  pr_number bigint not null,
  share bigint,
  head text not null,
  actor text not null,
  changed_at bigint not null,
  trial_id text,
  due_at bigint,
  attempts bigint not null,
  primary key (organisation_id, repository_id, pr_number)
);

create index trial_labels_due on trial_labels (due_at) where due_at is not null;
