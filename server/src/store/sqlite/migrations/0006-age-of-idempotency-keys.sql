-- To find those whose signals are not kept any more.
create index idempotency_keys_by_time on idempotency_keys (created_at);
