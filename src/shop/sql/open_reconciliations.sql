SELECT reconciliation.user_id, reconciliation.idempotency_key, reason,
       to_char(noted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), min(order_id)
FROM reconciliation
LEFT JOIN orders USING (user_id, idempotency_key)
WHERE resolved_at IS NULL
GROUP BY reconciliation.user_id, reconciliation.idempotency_key, reason, noted_at
ORDER BY noted_at
LIMIT 1000
