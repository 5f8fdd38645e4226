-- Links to one prompt for people without a key. token_hash: SHA-256 of the token in the link. key_id: the key that created it; if that
-- is revoked, so is the link.
create table shares (
  id integer primary key autoincrement,
  organisation_id integer not null,
  prompt_id integer not null,
  regression_id integer,
  includes_signals integer not null,
  token_hash text not null unique,
  hint text not null,
  key_id integer not null,
  created_at integer not null,
  expires_at integer not null,
  revoked_at integer
) strict;

create index shares_by_prompt on shares (organisation_id, prompt_id, id);
