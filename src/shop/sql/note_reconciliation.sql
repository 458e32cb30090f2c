INSERT INTO reconciliation (user_id, idempotency_key, request_fingerprint, reason)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, idempotency_key) DO NOTHING
