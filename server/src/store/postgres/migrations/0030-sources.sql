-- Products that send feedback, which is recorded as signals. settings: JSON with JSONPaths and values on top of the adapter's. sealed_secret:
-- authenticates requests; null until it is set. received, recorded and rejected count events. last_rejection: why the last one was rejected.
-- read_until: how far a source that is polled has been read. poll_at: when it is due, or how long a process polls it; null for others.
create table sources (
  id bigint primary key generated always as identity,
  organisation_id bigint not null,
  public_id text not null,
  name text not null,
  adapter text not null,
  settings text not null,
  sealed_secret text,
  created_at bigint not null,
  received bigint not null default 0,
  recorded bigint not null default 0,
  rejected bigint not null default 0,
  last_received_at bigint,
  last_recorded_at bigint,
  last_rejected_at bigint,
  last_rejection text,
  read_until bigint,
  poll_at bigint
);

create index sources_by_organisation on sources (organisation_id, id);
create index due_sources on sources (poll_at) where poll_at is not null;
create unique index sources_by_public_id on sources (public_id);
