SELECT order_id, product_id, quantity, request_fingerprint, status, idempotency_key
FROM orders
WHERE user_id = $1 AND product_id = $2 AND window_start IS NOT NULL
  AND created_at > clock_timestamp() - make_interval(secs => $3)
ORDER BY order_id
LIMIT 1
