-- unread_pulls_below: pull requests with lower numbers have not been compared with the default branch yet. Null if all have been.
alter table repositories add column unread_pulls_below bigint;
