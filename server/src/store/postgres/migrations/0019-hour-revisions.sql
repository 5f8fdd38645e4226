-- How often the hourly sums of earlier days of a prompt have changed, by late votes, imports and deletions. Sums that were read
-- before are still right if it is the same.
create table hour_revisions (
  organisation_id bigint not null,
  prompt_id bigint not null,
  revision bigint not null,
  primary key (organisation_id, prompt_id)
) with (fillfactor = 50);
