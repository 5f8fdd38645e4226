-- Prompts are found by name or path.
create index prompts_by_name on prompts (organisation_id, name) where deleted_at is null;
create index prompts_by_path_alone on prompts (organisation_id, path) where path is not null and deleted_at is null;

-- 1 if no other prompt of the organisation may have the name. Null for prompts of earlier versions, which may share one.
alter table prompts add column has_unique_name integer;

create unique index prompts_by_unique_name on prompts (organisation_id, name)
  where has_unique_name = 1 and deleted_at is null;
