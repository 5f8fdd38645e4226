-- Keys that sign tokens for votes from browsers. signing_id: what tokens name the key by. sealed_secret: the key, encrypted, because
-- it has to be known to verify them. Both are null for other keys.
alter table api_keys add column signing_id text;
alter table api_keys add column sealed_secret text;

create unique index api_keys_by_signing_id on api_keys (signing_id) where signing_id is not null;
