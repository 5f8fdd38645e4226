-- About how many bytes its edits take. A commit of 300 bytes can change 10,000 files, and each is stored with its path and message.
alter table repositories add column history_bytes integer not null default 0;

update repositories set history_bytes = coalesce((
  select sum(400 + length(e.path) + length(e.message)) from edits e
  where e.organisation_id = repositories.organisation_id and e.repository_id = repositories.id), 0);
