SELECT order_id, product_id, quantity, request_fingerprint, status, idempotency_key
FROM orders
WHERE idempotency_key = $2
ORDER BY order_id
LIMIT 1
