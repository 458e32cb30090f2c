UPDATE reconciliation SET resolved_at = clock_timestamp()
WHERE user_id = $1 AND idempotency_key = $2 AND resolved_at IS NULL
