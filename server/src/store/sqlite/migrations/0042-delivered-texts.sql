-- The texts that applications get, live ones and those of candidates: each once for an organisation, however many prompts have it.
-- Removed together with what refers to it last. size: in bytes of UTF-8.
create table delivered_texts (
  organisation_id integer not null,
  blob text not null,
  size integer not null,
  text text not null,
  primary key (organisation_id, blob)
) strict;

create index delivered_texts_by_size on delivered_texts (organisation_id, size);

insert into delivered_texts (organisation_id, blob, size, text)
  select organisation_id, blob, octet_length(text), text from live_texts where true on conflict do nothing;
insert into delivered_texts (organisation_id, blob, size, text)
  select organisation_id, blob, octet_length(text), text from trial_prompts where active = 1 on conflict do nothing;

-- A row without a text in delivered_texts is of a version that was read and cannot be delivered: it is too large, or no text.
alter table live_texts drop column text;
alter table live_texts drop column size;
create index live_texts_by_blob on live_texts (organisation_id, blob);

alter table trial_prompts drop column text;
create index trial_prompts_by_blob on trial_prompts (organisation_id, blob) where active = 1;

-- Why some of its live texts are not delivered.
alter table repositories add column delivery_error text;
