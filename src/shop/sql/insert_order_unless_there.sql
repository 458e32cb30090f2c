INSERT INTO orders (user_id, idempotency_key, product_id, quantity, request_fingerprint, status)
VALUES ($1, $2, $3, $4, $5, 'CREATED')
ON CONFLICT DO NOTHING
RETURNING order_id
