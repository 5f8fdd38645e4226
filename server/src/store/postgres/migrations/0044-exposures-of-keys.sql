-- The key that reported the units, because a trial compares what the keys report. Null for what was stored before.
alter table trial_exposures add column key_id bigint;
