-- ssh_public_key and ssh_host_key are `type base64`; sealed_ssh_key is encrypted like sealed_token.
-- connected_by_operator: connected with the CLI, so it may be at a private address and use the machine's ssh keys.
alter table repositories add column sealed_ssh_key text;
alter table repositories add column ssh_public_key text;
alter table repositories add column ssh_host_key text;
alter table repositories add column connected_by_operator bigint not null default 0;

-- The audit log knows who connected each repository last: the operator has no key.
update repositories set connected_by_operator = 1 where id in (
  select r.id from repositories r join audit a on a.organisation_id = r.organisation_id
    and a.action = 'repository.connected' and a.subject_id = cast(r.id as text)
  where a.key_id is null and not exists (
    select 1 from audit later where later.organisation_id = a.organisation_id
      and later.action = a.action and later.subject_id = a.subject_id and later.id > a.id));
