-- The domain validates roles, so that a new one needs no migration. prompts: a glob that limits the key to the prompts whose
-- name or path matches; null for every prompt.
alter table api_keys drop constraint api_keys_role_check;
alter table api_keys add column prompts text;

-- The key that recorded the entry over the API. Null for entries from git, the CLI and earlier versions.
alter table history_entries add column key_id bigint;

-- seq: 1 for the first entry of the organisation. hash: SHA-256 of the entry and the hash before it. Both are null for entries of
-- earlier versions until a process of this one starts, which chains them.
alter table audit add column seq bigint;
alter table audit add column hash text;

create unique index audit_by_seq on audit (organisation_id, seq);
create index audit_unchained on audit (organisation_id, at, id) where seq is null;

-- The end of each organisation's chain. Its row is locked while an entry is added.
create table audit_heads (
  organisation_id bigint primary key references organisations (id),
  entries bigint not null,
  hash text not null
);
