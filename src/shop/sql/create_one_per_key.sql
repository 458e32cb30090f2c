CREATE UNIQUE INDEX orders_one_per_key ON orders (user_id, idempotency_key)
