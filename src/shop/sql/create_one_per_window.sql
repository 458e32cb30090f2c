CREATE UNIQUE INDEX orders_one_per_window ON orders (user_id, product_id, window_start)
