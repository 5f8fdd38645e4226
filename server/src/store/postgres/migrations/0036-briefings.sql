-- Whether open pull requests that change prompts get a comment for their reviewers.
alter table repositories add column briefs_pulls bigint not null default 0;

-- Open pull requests whose reviewers are briefed. head: what the next comment is about. due_at: when to write it, null if that is done.
-- briefed_at: when one was last written.
create table briefings (
  organisation_id bigint not null,
  repository_id bigint not null,
  pr_number bigint not null,
  head text not null,
  due_at bigint,
  briefed_at bigint,
  attempts bigint not null,
  primary key (organisation_id, repository_id, pr_number)
);

create index briefings_due on briefings (due_at) where due_at is not null;
