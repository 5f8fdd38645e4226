-- The changes that went live, for what users thought of each.
create index history_entries_live on history_entries (organisation_id, prompt_id, created_at, id)
  where action in ('deployed', 'pr_merged');

-- To find one signal by its id, at next to no cost for those who record.
create index signals_by_id on signals using brin (id);
