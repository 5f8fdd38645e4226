-- How each prompt stands, as the judge last saw it, which lists of prompts are sorted by. verdict and difference (in millionths):
-- the effect of the last change, null while there is too little data. positive_share (in millionths): of the last 30 days, null
-- with too few signals to compare.
create table prompt_standings (
  organisation_id bigint not null,
  prompt_id bigint not null,
  verdict text,
  difference bigint,
  positive_share bigint,
  judged_at bigint not null,
  primary key (organisation_id, prompt_id)
) with (fillfactor = 80);
