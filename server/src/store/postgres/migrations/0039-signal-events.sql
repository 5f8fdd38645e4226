-- Whether an alert of the channel `cloudevents` also gets signals, at most one of each organisation. signals_attempts: how many requests
-- in a row have failed. signals_due_at: when the next one may be sent, and while one is, when the lease of its sender ends.
alter table alerts add column signals bigint not null default 0;
alter table alerts add column signals_attempts bigint not null default 0;
alter table alerts add column signals_due_at bigint not null default 0;
alter table alerts add column signals_lease text;

create unique index alerts_with_signals on alerts (organisation_id) where signals = 1;

-- Signals that have changed since they were sent. kind: the last change. occurred_at: created_at of the signal, if it still exists.
-- event_id: new with each change, so that an acknowledged request removes only what it contained.
create table signal_events (
  organisation_id bigint not null,
  signal_id bigint not null,
  prompt_id bigint not null,
  occurred_at bigint not null,
  kind text not null,
  event_id text not null,
  changed_at bigint not null,
  primary key (organisation_id, signal_id)
);
