-- Finds keys whose signals retention has removed.
create index idempotency_keys_by_time on idempotency_keys (created_at);
