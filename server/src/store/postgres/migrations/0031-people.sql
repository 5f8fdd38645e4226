-- A person in an organisation; in several organisations, they have several rows. key_id: a key without a known secret. It has their
-- role, is revoked while they are disabled, and their sessions use it. role_from: what decided the role. subject: the provider's ID of
-- the account that they sign in with.
create table people (
  id bigint primary key generated always as identity,
  organisation_id bigint not null,
  email text not null,
  name text not null,
  subject text,
  key_id bigint not null,
  role_from text not null,
  created_at bigint not null,
  signed_in_at bigint
);

create unique index people_by_email on people (organisation_id, email);
create index people_by_address on people (email);
create index people_by_subject on people (subject) where subject is not null;

-- The person that the key belongs to, and ends with.
alter table api_keys add column person_id bigint;

create index api_keys_by_person on api_keys (person_id) where person_id is not null;

-- What the browser calls itself.
alter table sessions add column client text;

create index sessions_by_key on sessions (key_id);

-- Links that let one person join. token_hash: SHA-256 of the token in the link. email: the only address that may use it; null for any.
create table invitations (
  id bigint primary key generated always as identity,
  organisation_id bigint not null,
  role text not null,
  email text,
  token_hash text not null unique,
  hint text not null,
  key_id bigint,
  created_at bigint not null,
  expires_at bigint not null,
  accepted_at bigint,
  revoked_at bigint
);

create index invitations_by_organisation on invitations (organisation_id, id);
