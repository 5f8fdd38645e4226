-- 1 if the commit or pull request exceeds the limits of a sync, so that some of its files or its message are missing.
alter table edits add column too_large integer;
alter table history_entries add column too_large integer;
