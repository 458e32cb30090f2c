UPDATE orders SET status = 'CREATED', paying_at = NULL
WHERE order_id = $1 AND user_id = $2 AND status = 'PAYING'
RETURNING order_id, product_id, quantity, request_fingerprint, status, idempotency_key
