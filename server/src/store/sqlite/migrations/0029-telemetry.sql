-- How evaluations are read, as JSON.
alter table organisations add column evaluation_rules text;

-- Calls of models with a prompt: what is kept of spans, for some days. at: when the span started.
create table trace_links (
  organisation_id integer not null,
  trace_id text not null,
  span_id text not null,
  prompt_id integer not null,
  version text,
  model text,
  response_id text,
  at integer not null,
  primary key (organisation_id, trace_id, span_id)
) strict, without rowid;

create index trace_links_by_response on trace_links (organisation_id, response_id) where response_id is not null;
create index trace_links_by_time on trace_links (organisation_id, at);

-- How often each version of a prompt was called with each model. version, model: empty if a span does not say it.
create table exposure_hours (
  organisation_id integer not null,
  prompt_id integer not null,
  hour integer not null,
  version text not null,
  model text not null,
  calls integer not null,
  primary key (organisation_id, prompt_id, hour, version, model)
) strict, without rowid;

-- Scores of judges. They are in no other sum but signal_usage.
create table evaluation_hours (
  organisation_id integer not null,
  prompt_id integer not null,
  hour integer not null,
  name text not null,
  version text not null,
  positive integer not null,
  negative integer not null,
  primary key (organisation_id, prompt_id, hour, name, version)
) strict, without rowid;

-- Scores that were counted lately, so that none is counted twice. at: when it was given.
create table evaluation_events (
  organisation_id integer not null,
  event_id text not null,
  at integer not null,
  primary key (organisation_id, event_id)
) strict, without rowid;

create index evaluation_events_by_time on evaluation_events (organisation_id, at);

-- Evaluations that arrived before the span that says which prompt they are about. document: as JSON.
create table waiting_evaluations (
  organisation_id integer not null,
  event_id text not null,
  trace_id text not null,
  response_id text,
  document text not null,
  received_at integer not null,
  primary key (organisation_id, event_id)
) strict, without rowid;

create index waiting_evaluations_by_trace on waiting_evaluations (organisation_id, trace_id);
create index waiting_evaluations_by_response on waiting_evaluations (organisation_id, response_id) where response_id is not null;

-- What became of the records that arrived lately. detail: what they are about; empty unless they were rejected.
create table telemetry_outcomes (
  organisation_id integer not null,
  kind text not null,
  outcome text not null,
  detail text not null,
  records integer not null,
  first_at integer not null,
  last_at integer not null,
  primary key (organisation_id, kind, outcome, detail)
) strict, without rowid;
