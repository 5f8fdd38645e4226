-- The signals with a version, and those with a comment, in the order of lists. Plain signals are in neither.
create index signals_by_version on signals (organisation_id, prompt_id, version, created_at, id) where version is not null;
create index signals_with_comment on signals (organisation_id, prompt_id, created_at, id) where comment is not null;
