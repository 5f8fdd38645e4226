-- Whether an issue is opened on the forge for a change that made prompts worse. Their numbers are in pull_comments.
alter table repositories add column opens_issues bigint not null default 0;
