-- Changes that went live, for the impact queries.
create index history_entries_live on history_entries (organisation_id, prompt_id, created_at, id)
  where action in ('deployed', 'pr_merged');
