-- token_hash: SHA-256 of the token in the cookie.
create table sessions (
  token_hash text primary key,
  organisation_id integer not null references organisations (id),
  key_id integer not null references api_keys (id),
  created_at integer not null,
  expires_at integer not null
) strict, without rowid;

create index sessions_by_expiry on sessions (expires_at);
