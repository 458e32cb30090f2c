CREATE UNIQUE INDEX orders_one_per_living_key ON orders (user_id, idempotency_key)
WHERE status <> 'CLOSED'
