-- Whether the prompt's text has hidden characters after the change: 0 no, 1 yes, 2 the change added some, -1 git cannot provide the
-- text. Null until a sync has checked it, and for submitted entries, whose text is unknown.
alter table history_entries add column hidden_characters integer;

create index history_entries_unchecked on history_entries (organisation_id, repository_id, id)
  where repository_id is not null and hidden_characters is null;
