SELECT order_id, product_id, quantity, request_fingerprint, status, idempotency_key
FROM orders
WHERE order_id = $1 AND user_id = $2
