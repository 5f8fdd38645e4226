-- A page of prompts by name, and one of all prompts for the judge, without sorting the others.
create index prompts_in_order on prompts (organisation_id, left(name, 100) collate "C") where deleted_at is null;
create index prompts_by_id on prompts (id);
