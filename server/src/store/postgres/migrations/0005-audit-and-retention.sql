-- key_id and key_name: null for the operator, who uses the CLI. details: JSON.
create table audit (
  id bigint generated always as identity,
  organisation_id bigint not null references organisations (id),
  at bigint not null,
  key_id bigint,
  key_name text,
  action text not null,
  subject_id text not null,
  subject_name text not null,
  details text,
  primary key (organisation_id, id)
);

create index audit_by_time on audit (organisation_id, at, id);

-- One row. kept_since: earlier signals are removed or about to be, and not shown. Their hourly sums stay.
create table signal_retention (
  id integer primary key check (id = 1),
  kept_since bigint not null
);

insert into signal_retention (id, kept_since) values (1, 0);
