-- candidates: the changes that may have caused the shift, as JSON, if the votes do not tell which one did. Then entry_id is the nearest.
-- found_at: when the judge found the shift. Those that are known already are no news.
alter table shifts add column candidates text;
alter table shifts add column found_at integer not null default 0;
update shifts set found_at = at;
