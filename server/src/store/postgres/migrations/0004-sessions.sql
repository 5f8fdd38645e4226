-- token_hash: SHA-256 of the token in the cookie.
create table sessions (
  token_hash text primary key,
  organisation_id bigint not null references organisations (id),
  key_id bigint not null references api_keys (id),
  created_at bigint not null,
  expires_at bigint not null
);

create index sessions_by_expiry on sessions (expires_at);
