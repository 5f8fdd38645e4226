-- The keys of the metadata whose values are segments: a JSON array of texts. Null in organisations for none, and in prompts for
-- those of the organisation.
alter table organisations add column segment_keys text;
alter table prompts add column segment_keys text;
