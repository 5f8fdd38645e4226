-- Products that send feedback, which is recorded as signals. settings: JSON with JSONPaths and values on top of the adapter's. sealed_secret:
-- authenticates requests; null until it is set. received, recorded and rejected count events. last_rejection: why the last one was rejected.
-- read_until: how far a source that is polled has been read. poll_at: when it is due, or how long a process polls it; null for others.
create table sources (
  id integer primary key autoincrement,
  organisation_id integer not null,
  public_id text not null,
  name text not null,
  adapter text not null,
  settings text not null,
  sealed_secret text,
  created_at integer not null,
  received integer not null default 0,
  recorded integer not null default 0,
  rejected integer not null default 0,
  last_received_at integer,
  last_recorded_at integer,
  last_rejected_at integer,
  last_rejection text,
  read_until integer,
  poll_at integer
) strict;

create index sources_by_organisation on sources (organisation_id, id);
create index due_sources on sources (poll_at) where poll_at is not null;
create unique index sources_by_public_id on sources (public_id);
