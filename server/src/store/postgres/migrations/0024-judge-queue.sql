-- Prompts whose votes or changes another process has changed in bulk: an import, a restore, an erasure. claimed_until: a process judges
-- the prompt until then; a change since has set it to 0 again.
create table judge_queue (
  organisation_id bigint not null,
  prompt_id bigint not null,
  claimed_until bigint not null default 0,
  primary key (organisation_id, prompt_id)
);
