-- The domain validates roles, so that a new one needs no migration. prompts: a glob that limits the key to the prompts whose
-- name or path matches; null for every prompt. SQLite cannot drop a check, so the table is built again; the check of the
-- sessions that refer to it waits until the commit.
pragma defer_foreign_keys = on;

create temp table old_keys as select * from api_keys;
create temp table last_key as select seq from sqlite_sequence where name = 'api_keys';

drop table api_keys;

create table api_keys (
  id integer primary key autoincrement,
  organisation_id integer not null references organisations (id),
  name text not null,
  role text not null,
  hash text not null unique,
  hint text not null,
  created_at integer not null,
  expires_at integer,
  revoked_at integer,
  last_used_at integer,
  prompts text
) strict;

create index api_keys_by_organisation on api_keys (organisation_id, id);

insert into api_keys (id, organisation_id, name, role, hash, hint, created_at, expires_at, revoked_at, last_used_at)
  select id, organisation_id, name, role, hash, hint, created_at, expires_at, revoked_at, last_used_at from temp.old_keys;

-- IDs that were assigned and are not in use must not be assigned again.
delete from sqlite_sequence where name = 'api_keys';
insert into sqlite_sequence (name, seq) select 'api_keys', seq from temp.last_key;

drop table temp.old_keys;
drop table temp.last_key;

-- The key that recorded the entry over the API. Null for entries from git, the CLI and earlier versions.
alter table history_entries add column key_id integer;

-- seq: 1 for the first entry of the organisation. hash: SHA-256 of the entry and the hash before it. Both are null for entries of
-- earlier versions until a process of this one starts, which chains them.
alter table audit add column seq integer;
alter table audit add column hash text;

create unique index audit_by_seq on audit (organisation_id, seq);
create index audit_unchained on audit (organisation_id, at, id) where seq is null;

-- The end of each organisation's chain.
create table audit_heads (
  organisation_id integer primary key references organisations (id),
  entries integer not null,
  hash text not null
) strict;
