INSERT INTO orders (user_id, idempotency_key, product_id, quantity, request_fingerprint, status)
VALUES ($1, $2, $3, $4, $5, 'CREATED')
RETURNING order_id
