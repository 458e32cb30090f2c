CREATE UNIQUE INDEX orders_one_per_user ON orders (user_id)
