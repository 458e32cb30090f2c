SELECT order_id, product_id, quantity, request_fingerprint, status, idempotency_key
FROM orders
WHERE user_id = $1 AND product_id = $2
  AND window_start = date_bin(make_interval(secs => $3), clock_timestamp(), timestamptz 'epoch')
ORDER BY order_id
LIMIT 1
