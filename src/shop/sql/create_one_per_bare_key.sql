CREATE UNIQUE INDEX orders_one_per_bare_key ON orders (idempotency_key)
