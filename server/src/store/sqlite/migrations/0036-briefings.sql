-- Whether open pull requests that change prompts get a comment for their reviewers.
alter table repositories add column briefs_pulls integer not null default 0;

-- Open pull requests whose reviewers are briefed. head: what the next comment is about. due_at: when to write it, null if that is done.
-- briefed_at: when one was last written.
create table briefings (
  organisation_id integer not null,
  repository_id integer not null,
  pr_number integer not null,
  head text not null,
  due_at integer,
  briefed_at integer,
  attempts integer not null,
  primary key (organisation_id, repository_id, pr_number)
) strict;

create index briefings_due on briefings (due_at) where due_at is not null;
