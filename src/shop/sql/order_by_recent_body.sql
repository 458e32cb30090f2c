SELECT order_id, product_id, quantity, request_fingerprint, status, idempotency_key
FROM orders
WHERE user_id = $1 AND request_fingerprint = $2
  AND created_at > clock_timestamp() - interval '1 minute'
ORDER BY order_id
LIMIT 1
