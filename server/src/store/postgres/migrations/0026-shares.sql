-- Links to one prompt for people without a key. token_hash: SHA-256 of the token in the link. key_id: the key that created it; if that
-- is revoked, so is the link.
create table shares (
  id bigint primary key generated always as identity,
  organisation_id bigint not null,
  prompt_id bigint not null,
  regression_id bigint,
  includes_signals bigint not null,
  token_hash text not null unique,
  hint text not null,
  key_id bigint not null,
  created_at bigint not null,
  expires_at bigint not null,
  revoked_at bigint
);

create index shares_by_prompt on shares (organisation_id, prompt_id, id);
