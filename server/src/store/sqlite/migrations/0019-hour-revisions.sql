-- How often the hourly sums of earlier days of a prompt have changed, by late votes, imports and deletions. Sums that were read
-- before are still right if it is the same.
create table hour_revisions (
  organisation_id integer not null,
  prompt_id integer not null,
  revision integer not null,
  primary key (organisation_id, prompt_id)
) strict, without rowid;
