UPDATE orders SET status = 'CLOSED', closed_at = clock_timestamp()
WHERE order_id = $1 AND user_id = $2 AND status = 'CREATED'
RETURNING order_id, product_id, quantity, request_fingerprint, status, idempotency_key
