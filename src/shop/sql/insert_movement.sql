INSERT INTO stock_movements (order_id, product_id, delta) VALUES ($1, $2, $3)
