-- What to read. On PostgreSQL, these also have what single processes have added.
create view hour_sums as select organisation_id, prompt_id, hour, positive, negative from signal_hours;
create view version_sums as select organisation_id, prompt_id, version, hour, positive, negative from version_hours;
create view month_usage as select organisation_id, month, used, month_limit from signal_usage;
