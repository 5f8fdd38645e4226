-- How each prompt stands, as the judge last saw it, which lists of prompts are sorted by. verdict and difference (in millionths):
-- the effect of the last change, null while there is too little data. positive_share (in millionths): of the last 30 days, null
-- with too few signals to compare.
create table prompt_standings (
  organisation_id integer not null,
  prompt_id integer not null,
  verdict text,
  difference integer,
  positive_share integer,
  judged_at integer not null,
  primary key (organisation_id, prompt_id)
) strict, without rowid;
